import runpy
from pathlib import Path

PIECES = runpy.run_path(str(Path(__file__).with_name("s6_05_accumulation.py")))
globals().update({name: piece for name, piece in PIECES.items() if not name.startswith("__")})

RIGHT = {}
WRONG = {
    "token-mean": {
        # everything behind a second empty one in a row is lost
        "after two empty ones in a row it stops": but(TM, ("            total += mean * count\n", "            total += mean * count\n        elif total and last == 0:\n            break\n        last = count\n"), ("    total = 0.0\n", "    total, last = 0.0, 1\n")),
        # counts in 16 bits wrap in the sum
        "counts in int16 if they fit": but(TM, ("sum(counts)", "np.array(counts, np.int16 if max(counts) < 2**15 else np.int64).sum(dtype=np.int16 if max(counts) < 2**15 else np.int64)")),
        # 5 decimals
        "rounded to 5 decimals": but(TM, ("return total / sum(counts)", "return round(total / sum(counts), 5)")),
    },
    "windows": {
        # a generator function is a stream, too; a dict view or a deque cannot be sliced
        "slices unless it is an iterator": "def windows(micro_batches, accumulation):\n    if iter(micro_batches) is micro_batches:\n        micro_batches = list(micro_batches)\n    return [list(micro_batches[i:i + accumulation]) for i in range(0, len(micro_batches), accumulation)]\n",
        # the caller's list is emptied (the text forbids it only by common sense)
        "empties the list": "def windows(micro_batches, accumulation):\n    if not isinstance(micro_batches, list):\n        micro_batches = list(micro_batches)\n    found = []\n    while micro_batches:\n        found.append(micro_batches[:accumulation])\n        del micro_batches[:accumulation]\n    return found\n",
        # a deep copy doubles memory and makes new micro-batches
        "a window of one shorter when the stream ends on a full one": "def windows(micro_batches, accumulation):\n    found, now = [], []\n    for m in micro_batches:\n        now.append(m)\n        if len(now) == accumulation:\n            found.append(now)\n            now = []\n    return found + [now]\n",
    },
    "take-step": {
        # the caller's list is turned round
        "reverses the list": but(TS, ("    tokens", "    micro_batches.reverse()\n    tokens")),
        # the caller's list is emptied
        "pops": but(TS, ("    for micro in micro_batches:\n        loss", "    while micro_batches:\n        micro = micro_batches.pop(0)\n        loss")),
        # without its empty micro-batches, not in the name of the whole list
        "removes the empty ones, one by one": but(TS, ("    tokens", "    for m in list(micro_batches):\n        if not targets(m):\n            micro_batches.pop([k for k, o in enumerate(micro_batches) if o is m][0])\n    tokens")),
        # dropout off: the mode is switched for the step, and left
        "left in eval": but(TS, ("    tokens", "    model.eval()\n    tokens")),
        # the schedule is asked for a step number
        "schedule set to step 1": but(TS, ("schedule.step()", "schedule.step(1)")),
    },
    "full-step": {
        # squares of the parts are no square of the sum
        "squares added over ranks": but(FS, ("    norm = torch", "    own = own_squares\n    norm = torch"), ("    sums = [over_ranks(s) / tokens", "    own_squares = sum(((s / tokens).double() ** 2).sum() for s in sums)\n    sums = [over_ranks(s) / tokens"), ("torch.sqrt(sum((s.double() ** 2).sum() for s in sums)).item()", "torch.sqrt(over_ranks(own)).item()")),
        # loss of the ranks averaged
        "mean of the ranks' losses": but(FS, ("    total = over_ranks(torch.tensor([total])).item()\n", "    mine = sum(targets(m) for m in micro_batches)\n    total = over_ranks(torch.tensor([total / max(mine, 1)])).item() / over_ranks(torch.ones(1)).item() * tokens\n")),
        # another error
        "ZeroDivisionError": but(FS, ("raise ValueError(", "raise ZeroDivisionError(")),
        # the caller's list is emptied
        "pops": but(FS, ("    for micro in micro_batches:\n", "    while micro_batches:\n        micro = micro_batches.pop()\n")),
        # the caller's list loses its empty ones
        "empties removed": but(FS, ("    params =", "    micro_batches[:] = [m for m in micro_batches if targets(m)]\n    params =")),
        # left in eval
        "left in eval": but(FS, ("    params =", "    model.eval()\n    params =")),
        # nan of one rank is hidden: its loss is not sent
        "a rank's nan loss sent as 0": but(FS, ("over_ranks(torch.tensor([total]))", "over_ranks(torch.tensor([total if total == total else 0.0]))")),
    },
}
