"""The report of a service: percentiles from arrival, tokens that somebody asked for."""

import numpy as np

from batchlab.exercises import Exercise
from batchlab.exercises.serving.schedule import ends, schedule


def latency_report(served):
    """{"latency_p99", "first_token_p99", "tokens_per_second"} of served requests."""

    def p99(values):
        return sorted(values)[-(-99 * len(values) // 100) - 1]  # rounded up

    latency = [one["last"] - one["arrival"] for one in served]
    seconds = max(one["last"] for one in served) - min(one["arrival"] for one in served)
    return {
        "latency_p99": p99(latency),
        "first_token_p99": p99([one["first"] - one["arrival"] for one in served]),
        "tokens_per_second": sum(one["output"] for one in served) / seconds,
    }


NAMES = "arrival", "start", "first", "last", "output", "row_steps"


def requests_of(*rows):
    return [dict(zip(NAMES, one)) for one in rows]


def simulated(count, seed, *, busy=4.0):
    """What became of requests that arrive at random."""
    random = np.random.default_rng(seed)
    arrivals = np.sort(random.integers(0, int(busy * count), count)) / 8
    outputs = np.minimum(random.geometric(0.15, count), 40)
    prompts = random.integers(1, 30, count)
    requests = [(float(a), int(p), int(o)) for a, p, o in zip(arrivals, prompts, outputs)]
    found = ends(requests, schedule(requests, 4, 10**6, 0.25, 1 / 64))
    for one in found:  # as if rows computed on for some passes, as those of a static batch do
        one["row_steps"] += int(random.integers(0, 9))
    return [found[n] for n in random.permutation(count)]


def asked(served):
    small = [tuple(one.values()) for one in served]
    return f"the report of {small if len(small) < 5 else f'{len(small)} requests'}"


def drawn(rng):
    for _ in range(6):
        yield (
            simulated(
                int(rng.integers(12, 300)), int(rng.integers(10**6)), busy=float(rng.uniform(3, 20))
            ),
        )
    yield (simulated(100, 2),)
    yield (simulated(101, 3, busy=9.0),)
    yield (requests_of((4.0, 4.5, 5.0, 9.0, 5, 4)),)
    yield (requests_of((7.0, 8.0, 9.0, 30.0, 8, 9), (2.0, 3.0, 4.0, 5.0, 2, 3)),)


exercise = Exercise(
    latency_report,
    points=2,
    hints=(
        "sort the values; of n, number ceil(99 * n / 100) is the p99, and it stands at that place minus 1",
        "latency and first token begin with `arrival`, not with `start`",
        "sum of `output` / (latest `last` - earliest `arrival`)",
    ),
    asked=asked,
    shown=[
        (
            requests_of(
                (2.0, 2.5, 4.5, 9.0, 4, 7),
                (1.0, 3.0, 4.5, 6.0, 2, 7),
                (5.5, 9.5, 10.0, 10.0, 1, 0),
                (1.5, 9.5, 10.0, 12.0, 3, 2),
            ),
        ),
        (simulated(260, 1),),
        (simulated(1000, 4, busy=20.0),),
    ],
    drawn=drawn,
    passed="Right: from arrival, by percentile, in tokens that somebody asked for.",
)
RANK = "sorted(values)[-(-99 * len(values) // 100) - 1]"
LAST, FIRST = (
    '[one["last"] - one["arrival"] for one in served]',
    '[one["first"] - one["arrival"] for one in served]',
)
SECONDS = 'max(one["last"] for one in served) - min(one["arrival"] for one in served)'
RATE = 'sum(one["output"] for one in served) / seconds'
for _thought, _old, _new in [
    ("the mean: it says little of the slowest hundredth", RANK, "sum(values) / len(values)"),
    (
        "the largest: one in a hundred may be slower than the 99th percentile",
        RANK,
        "max(values)",
    ),
    (
        "from the start of service: whoever waits counts from the arrival",
        LAST,
        LAST.replace("arrival", "start"),
    ),
    (
        "from the start of service: whoever waits counts from the arrival",
        FIRST,
        FIRST.replace("arrival", "start"),
    ),
    (
        "the wait for a row: the first token comes after the prompt's pass",
        FIRST,
        FIRST.replace("first", "start"),
    ),
    (
        "interpolated between two requests: take the smallest value that is enough",
        RANK,
        "float(np.quantile(values, 0.99))",
    ),
    (
        "one place too low: of n values number ceil(0.99 * n) is asked",
        RANK,
        "sorted(values)[max(0, -(-99 * len(values) // 100) - 2)]",
    ),
    (
        "one place too high: sorted(...)[k] is number k + 1",
        RANK,
        "sorted(values)[min(len(values) - 1, -(-99 * len(values) // 100))]",
    ),
    (
        "one place too high: sorted(...)[k] is number k + 1",
        RANK,
        "sorted(values)[99 * len(values) // 100]",
    ),
    (
        "one place too low: of n values number ceil(0.99 * n) is asked",
        RANK,
        "sorted(values)[int(0.99 * (len(values) - 1))]",
    ),
    (
        "the place was rounded: it is rounded up, so that the percent do not exceed it",
        RANK,
        "sorted(values)[max(0, round(0.99 * len(values)) - 1)]",
    ),
    (
        "not sorted: the place in the list says nothing",
        RANK,
        RANK.replace("sorted(values)", "values"),
    ),
    (
        "sorted from the longest: the place counts from the shortest",
        RANK,
        RANK.replace("sorted(values)", "sorted(values)[::-1]"),
    ),
    (
        "equal values are several requests: each counts",
        RANK,
        "sorted(set(values))[-(-99 * len(set(values)) // 100) - 1]",
    ),
    ("row-steps of idle rows counted as tokens", RATE, RATE.replace("output", "row_steps")),
    ("requests per second: asked are tokens", RATE, "len(served) / seconds"),
    (
        "since 0: the clock begins at the first arrival",
        SECONDS,
        'max(one["last"] for one in served)',
    ),
    (
        "the sum of all latencies: requests run side by side",
        SECONDS,
        'sum(one["last"] - one["start"] for one in served)',
    ),
    ("the sum of all latencies: requests run side by side", SECONDS, "sum(latency)"),
    (
        "up to the last token of the last in the list: another may end later",
        SECONDS,
        SECONDS.replace('max(one["last"] for one in served)', 'served[-1]["last"]'),
    ),
    (
        "from the arrival of the first in the list: another may have come earlier",
        SECONDS,
        SECONDS.replace('min(one["arrival"] for one in served)', 'served[0]["arrival"]'),
    ),
    (
        "from the first start of service: the clock begins at the first arrival",
        SECONDS,
        SECONDS.replace('one["arrival"]', 'one["start"]'),
    ),
    (
        "from the first token on: the clock begins at the first arrival",
        SECONDS,
        SECONDS.replace('one["arrival"]', 'one["first"]'),
    ),
    *(
        (
            "one beginning for all: each request waits from its own arrival",
            wait,
            wait.replace('one["arrival"]', f'min(two["{name}"] for two in served)'),
        )
        for wait in (LAST, FIRST)
        for name in ("start", "arrival")
    ),
    (
        "milliseconds: asked are seconds",
        LAST,
        LAST.replace('one["last"] - one["arrival"]', '1e3 * (one["last"] - one["arrival"])'),
    ),
]:
    exercise.edit(_thought, [(_old, _new)])
exercise.edit("other keys", [('"latency_p99": p99', '"p99": p99')], says="keys")
exercise.edit(
    "sorts the list itself",
    [("    latency = ", '    served.sort(key=lambda one: one["last"])\n    latency = ')],
    says="place",
)


@exercise.style
def one_loop(served):
    """one loop, by math.ceil"""
    import math

    latency, first, tokens = [], [], 0
    for one in served:
        latency.append(one["last"] - one["arrival"])
        first.append(one["first"] - one["arrival"])
        tokens += one["output"]
    place = math.ceil(0.99 * len(served)) - 1
    begin = min(one["arrival"] for one in served)
    end = max(one["last"] for one in served)
    return dict(
        latency_p99=sorted(latency)[place],
        first_token_p99=sorted(first)[place],
        tokens_per_second=tokens / (end - begin),
    )


@exercise.style
def arrays(served):
    """arrays, by NumPy's inverted_cdf"""
    import numpy as np

    def column(name):
        return np.array([one[name] for one in served], dtype=float)

    def at(values):
        return np.quantile(values, 0.99, method="inverted_cdf")

    seconds = column("last").max() - column("arrival").min()
    return {
        "tokens_per_second": column("output").sum() / seconds,
        "latency_p99": at(column("last") - column("arrival")),
        "first_token_p99": at(column("first") - column("arrival")),
    }
