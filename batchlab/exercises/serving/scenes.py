"""What the page of lesson 17 shows beside its exercises: requests, static batches, a drawing."""

import time

import numpy as np

from batchlab import data, padding, serving
from batchlab.classroom import script
from batchlab.exercises.serving.live import live
from batchlab.exercises.serving.schedule import ends

__all__ = [
    "SMALL",
    "answers",
    "decoding",
    "drawn",
    "ends",
    "first_token_p99",
    "h100",
    "live",
    "loads",
    "long_tail",
    "measured",
    "real_requests",
    "static",
    "wasted",
]

LATER = [(0.5 + n / 4, 2, 2) for n in range(12)]
SMALL = [(0.0, 6, 2), (0.25, 16, 4), *LATER], 3, 24, 0.5, 0.125  # a long one waits its turn


def h100():
    """What a pass of Llama 3 8B in 16 bit costs on an H100, by data sheet."""
    from batchlab.memory import ModelShape
    from batchlab.roofline import DEVICES

    llama = ModelShape(4096, 32, 32, 8, 128, 14336, 128_256)
    return serving.roofline(llama, DEVICES["H100 SXM"])


def answers(rows, side="left", requests=16, tokens=24):
    """What the script's model generates for some prompts, `rows` at once, and the seconds.

    Prompts of one batch are padded on a side. Nothing is sampled, and no output ends early.
    """
    import torch
    from transformers.utils import logging

    network, before = script.network().eval(), logging.get_verbosity()
    corpus = data.embedded()
    prompts = [corpus[n]["input_ids"][: 8 + 5 * (n % 9)].tolist() for n in range(requests)]
    found, began = [], time.process_time()
    logging.set_verbosity_error()  # transformers says that right-padding was detected
    for at in range(0, requests, rows):
        some = prompts[at : at + rows]
        width = max(map(len, some))
        ids, mask = (
            torch.tensor([_padded(one, width, side) for one in many])
            for many in (some, [[1] * len(one) for one in some])
        )
        with torch.no_grad():
            got = network.generate(
                input_ids=ids, attention_mask=mask, max_new_tokens=tokens, do_sample=False,
                pad_token_id=0, eos_token_id=None,
            )  # fmt: skip
        found += got[:, width:].tolist()
    logging.set_verbosity(before)
    return found, time.process_time() - began


def _padded(one, width, side):
    empty = [0] * (width - len(one))
    return one + empty if side == "right" else empty + one


def long_tail(count, seed):
    """Output lengths with a long tail: lognormal, median 55 tokens."""
    drawn_ = np.random.default_rng(seed).lognormal(4, 1, count)
    return [int(one) + 1 for one in drawn_]


def real_requests(count, rate, seed=3):
    """Prompts and answers of the embedded documents, arriving at random, `rate` a second."""
    corpus = data.embedded().at_most(384)
    answers = corpus.lengths - corpus.prompts
    one = serving.poisson(rate, corpus.prompts, answers, requests=count, seed=seed)
    columns = (one.arrivals.tolist(), one.prompts.tolist(), one.outputs.tolist())
    return list(zip(*columns))


def static(requests, rows, cache, fixed, each):
    """The passes of static batches: a row is computed on until its batch ends."""
    order = sorted(range(len(requests)), key=lambda n: requests[n][0])
    scheduler = serving.Scheduler("static", rows, cache, cache + rows)
    now, came, log = 0.0, 0, []
    while True:
        while came < len(order) and requests[order[came]][0] <= now:
            _, prompt, output = requests[order[came]]
            scheduler.arrive(order[came], prompt, output)
            came += 1
        step = scheduler.next()
        if step is None:
            if came == len(order):
                return log
            now = requests[order[came]][0]
            continue
        end = now + fixed + each * step.tokens
        reads = [chunk.running.request for chunk in step.chunks]
        log.append((now, end, reads, [one.request for one in step.decoding]))
        scheduler.done(step)
        now = end


def drawn(requests, log):
    """One line a request, one column a pass: P its prompt is read, # a token, . it waits."""
    lines = []
    for n, (arrival, prompt, output) in enumerate(requests):
        marks = ""
        last = max((at for at, one in enumerate(log) if n in [*one[2], *one[3]]), default=-1)
        for at, (start, _, reads, decodes) in enumerate(log):
            here = "P" if n in reads else "#" if n in decodes else "."
            marks += here if at <= last and start >= arrival else " "
        lines.append(f"{n:>3}  prompt {prompt:>3}, output {output:>3}  {marks}".rstrip())
    return "\n".join(lines)


def wasted(count):
    """Print and draw computed / useful row-steps of a learner's count, beside lesson 2's law."""
    from batchlab import plots

    rows, found, law = (1, 2, 4, 8, 16, 32), [], []
    outputs = np.array(long_tail(10_240, 9))
    for b in rows:
        pairs = [count(long_tail(2048, seed), b) for seed in range(5)]
        times = [computed / useful for useful, computed in pairs]
        found.append(np.mean(times))
        law.append((padding.expected_longest(outputs, b) - 1) / (outputs.mean() - 1))
        print(f"{b:>2} rows: {found[-1]:.2f} ± {np.std(times, ddof=1) / 5**0.5:.2f}")
    series = {"your count": (rows, found), "E[longest] / E[length]": (rows, law)}
    return plots.lines(series, title="Row-steps computed for each useful one", x="rows", y="times")


def decoding():
    """Tokens a second of Llama 3 8B on an H100, by data sheet, up to the rows that fit."""
    from batchlab import plots

    cost, drawn = h100(), {}
    rows = (1, 8, 32, 64, 128, cost.most_requests(2048, 76e9))
    for context in (0, 256, 2048):
        rates = [b / cost.seconds(b, [context] * b) for b in rows]
        drawn[f"{context:,} tokens a row"] = rows, rates
    return plots.lines(drawn, title="Decoding, by data sheet", x="rows", y="tokens per second")


def loads(needed):
    """Rows that carry a load of requests for 200 tokens, by a learner's function."""
    from batchlab import plots

    cost, rates = h100(), (1, 10, 20, 30, 40, 50, 55)
    fixed = cost.weights_bytes / cost.bytes_per_second
    each = 2048 * cost.kv_bytes / cost.bytes_per_second
    rows = {"rows": (rates, [needed(rate, 200, fixed, each) for rate in rates])}
    return plots.lines(
        rows, title="Rows that carry a load, 2,048 tokens each",
        x="requests per second, 200 tokens each", y="rows",
    )  # fmt: skip


def first_token_p99(schedule, rate):
    """Seconds to the first token of the real requests, by a schedule at planted prices."""
    requests = real_requests(200, rate)
    found = ends(requests, schedule(requests, 16, 20_000, 5e-3, 20e-6))
    waits = [one["first"] - one["arrival"] for one in found]
    return float(np.quantile(waits, 0.99, method="inverted_cdf"))


def measured():
    """Print passes, row-steps and seconds of a model beside the simulated ones; the gain."""
    found = live()
    for policy, one in found.items():
        told = [
            f"{what} {one[what][0]:.4g} simulated, {one[what][1]:.4g} measured"
            for what in ("passes", "row_steps", "seconds")
        ]
        print(f"{policy:<11} {'; '.join(told)}")
    print("the same tokens:", found["static"]["tokens"] == found["continuous"]["tokens"])
    return found["static"]["seconds"][1] / found["continuous"]["seconds"][1]
