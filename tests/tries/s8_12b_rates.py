# ruff: noqa
import runpy
m = runpy.run_path(str(__import__("pathlib").Path(__file__).with_name("s8_12_rates.py")))
ts, nr, ar, hl = m['ts'], m['nr'], m['ar'], m['hl']
g = m
WRONG = {"token-schedule": {
 "warm-up times the cosine": m['WRONG']["token-schedule"]["warm-up times the cosine"],
 "caller's whole dictionary, updated by the loop: base is the parameter group itself": ts((m['INITB'], "self.base = told"), (m['RULE'], "self.base = adam_rule(self.base, self.batch, batch)\n        self.batch = batch")),
 "curve ends at warmup + total": ts((m['END'], ""), (m['DONE'], "done = min(1, (t - self.warmup) / self.total)")),
 "change only if a step was taken": ts((m['RULE'], "if self.seen == 0:\n            self.batch = batch\n            return\n        " + m['RULE'])),
 "change after total does nothing": ts((m['RULE'], "if self.seen >= self.total:\n            return\n        " + m['RULE'])),
 "int tokens only: int()": ts((m['STEP'], "self.seen += int(tokens)")),
},
"adam-rule": {
 "new beta clamped to 0.99": ar(m['K'] + m['REF'] + m['out'](b2="min(0.99, 1 - k * (1 - told['betas'][1]))")),
 "border in floats: k (1 - beta) of 10 x 0.1 slips through (left open)": m['RIGHT']["adam-rule"]["plain"],
},
"new-rate": {"refuses fractions of a batch": nr(m['NAME'] + m['BIG'] + "if before != int(before):\n    raise ValueError(str(before))\n" + m['RET'])},
}
RIGHT = {}
