"""Lesson 17 on a real model: static against continuous batching, simulated and measured.

policy, rows  ->  passes and seconds of one set of requests, predicted from another set
"""

import time
from statistics import median
from typing import Any

import numpy as np

from batchlab import model, serving
from batchlab.classroom import opening
from batchlab.serving import generate

__all__ = ["live"]

VOCABULARY, REQUESTS, LONGEST = 512, 20, 64


def _requests(seed: int) -> tuple[list[list[int]], list[int]]:
    """Prompts of random tokens, and outputs whose lengths have a long tail."""
    random = np.random.default_rng(seed)
    outputs = np.clip(random.lognormal(2.7, 1.0, REQUESTS).astype(int) + 1, 1, LONGEST)
    sizes = random.integers(4, 33, REQUESTS)
    prompts = [random.integers(0, VOCABULARY, int(size)).tolist() for size in sizes]
    return prompts, [int(one) for one in outputs]


def live(rows: int = 8, rounds: int = 2) -> dict[str, dict[str, Any]]:
    """{policy: passes and seconds, simulated and measured} of a small model, here and now.

    The prices come from other requests, in the same rounds, so that a busy machine is met by both.
    """
    import torch

    gpu = opening.gpu()
    torch.set_num_threads(1)
    network = model.small(VOCABULARY, layers=4, hidden=256)
    network = network.to("cuda") if gpu else network
    clock = time.perf_counter if gpu else time.thread_time
    policies, sets = ("static", "continuous"), [_requests(seed) for seed in (1, 2)]
    ran: dict[tuple[str, int], list[generate.Generated]] = {}
    for number in range(rounds):
        for policy in policies[:: -1 if number % 2 else 1]:
            for which, (prompts, outputs) in enumerate(sets):
                one = generate.run(network, prompts, outputs, policy=policy, rows=rows, clock=clock)
                ran.setdefault((policy, which), []).append(one)
    trace = serving.at_once([len(prompt) for prompt in sets[1][0]], sets[1][1])
    found = {}
    for policy in policies:
        seen = ran[policy, 1]
        cost = serving.calibrate(one for run in ran[policy, 0] for one in run.passes)
        played = serving.simulate(trace, cost, policy=policy, rows=rows)
        found[policy] = {
            "passes": (played.passes, seen[0].served.passes),
            "row_steps": (played.row_steps, seen[0].served.row_steps),
            "seconds": (played.seconds, median(one.served.seconds for one in seen)),
            "each": [one.served.seconds for one in seen],
            "tokens": seen[0].tokens,
        }
    return found
