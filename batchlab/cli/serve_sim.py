"""Simulate serving: static, continuous and chunked batching at growing rates of requests.

Seconds come from a data sheet: a pass takes as long as reading the weights and the caches, or as
multiplying. Requests come from the embedded documents (prompt and answer), or from `--trace`.
"""

import argparse
import math
from typing import Any

import numpy as np

from batchlab import report, serving, units
from batchlab.cli import options
from batchlab.cli._answer import Answer
from batchlab.cli._kinds import card
from batchlab.cli._shapes import shape_of

__all__ = ["arguments", "run"]

SHARES = (0.25, 0.5, 0.75, 0.9, 1.2)  # of what continuous batching can serve
KEPT_FREE = 0.05  # of a device's memory: what a runtime holds beside weights and caches
TURNS = 100  # requests a row serves to find the most: the last ones, half empty, are 1 % of them
COLUMNS = ["requests/s", "policy", "first token p50", "p99", "latency p50", "p99", "tokens/s",
           "rows wasted", ""]  # fmt: skip


def arguments(parser: argparse.ArgumentParser) -> None:
    """Offer the requests, the model, the device and the rows."""
    shown = {"arrivals": "a quarter to 1.2 of what continuous batching can serve",
             "model": "Llama 3 8B, 16 bit"}  # fmt: skip
    options.offer(
        parser, "trace", "requests", "arrivals", "model", "card", "rows", "figure",
        several=["arrivals"], shown=shown, requests=1000, rows=32, card="H100 SXM",
    )  # fmt: skip


def run(args: argparse.Namespace) -> Answer:
    """Serve the same requests at each rate under each policy."""
    name, trace = _trace(args)
    device = card(args.card) if isinstance(args.card, str) else args.card
    model, shape = shape_of(args.model)
    cost = serving.roofline(shape, device)
    cache = cost.most_requests(1, device.memory_bytes * (1 - KEPT_FREE))
    most = {policy: _most(trace, cost, policy, args, cache) for policy in serving.POLICIES}
    rates = args.arrivals or [share * most["continuous"] for share in SHARES]
    if args.trace and not args.arrivals:
        rates = [trace.rate]
    found = [
        _row(rate, policy, _served(_at(trace, rate), cost, policy, args, cache), most[policy])
        for rate in rates
        for policy in serving.POLICIES
    ]
    data = {
        "requests": name,
        "model": model,
        "device": device.name,
        "rows": args.rows,
        "cache_tokens": cache,
        "most_requests_per_second": most,
        "served": found,
    }
    return Answer(data, _text(data), lambda: _figure(found))


def _trace(args: argparse.Namespace) -> tuple[str, serving.Trace]:
    if args.trace:
        return str(args.trace), serving.read(args.trace)
    from batchlab import data

    corpus = data.embedded()
    answers = corpus.lengths - corpus.prompts
    drawn = serving.poisson(1.0, corpus.prompts, answers, requests=args.requests)
    return f"{args.requests} of the embedded documents", drawn


def _at(trace: serving.Trace, rate: float) -> serving.Trace:
    """The same requests, with their arrivals stretched or pressed together to this rate."""
    times = trace.arrivals - trace.arrivals[0]
    scale = trace.rate / rate if trace.rate != float("inf") else 0.0
    return serving.trace(times * scale, trace.prompts, trace.outputs)


def _served(
    trace: serving.Trace, cost: serving.Cost, policy: str, args: argparse.Namespace, cache: int
) -> serving.Served:
    chunk = max(512, 2 * args.rows)
    return serving.simulate(trace, cost, policy=policy, rows=args.rows, cache=cache, chunk=chunk)


def _most(
    trace: serving.Trace, cost: serving.Cost, policy: str, args: argparse.Namespace, cache: int
) -> float:
    """Requests per second while there are always some that wait; the emptying at the end is short.

    The same requests come again and again, all at once, until each row has served a hundred.
    """
    count = max(len(trace), TURNS * args.rows)
    many = serving.at_once(np.resize(trace.prompts, count), np.resize(trace.outputs, count))
    return _served(many, cost, policy, args, cache).requests_per_second


def _row(rate: float, policy: str, served: serving.Served, most: float) -> dict[str, Any]:
    return {
        "rate": rate if math.isfinite(rate) else None,  # all came at once
        "policy": policy,
        "first_token_p50_seconds": served.percentile(0.5, "first_token"),
        "first_token_p99_seconds": served.percentile(0.99, "first_token"),
        "latency_p50_seconds": served.percentile(0.5),
        "latency_p99_seconds": served.percentile(0.99),
        "tokens_per_second": served.tokens_per_second,
        "requests_per_second": served.requests_per_second,
        "rows_wasted": served.wasted,
        "overloaded": rate > most,
    }


def _text(data: dict[str, Any]) -> str:
    lines = [
        [
            "all at once" if one["rate"] is None else f"{one['rate']:.3g}",
            one["policy"],
            units.duration(one["first_token_p50_seconds"]),
            units.duration(one["first_token_p99_seconds"]),
            units.duration(one["latency_p50_seconds"]),
            units.duration(one["latency_p99_seconds"]),
            units.count(one["tokens_per_second"]),
            units.share(one["rows_wasted"]),
            "queue grows" if one["overloaded"] else "",
        ]
        for one in data["served"]
    ]
    most = ", ".join(f"{p} {r:.3g}" for p, r in data["most_requests_per_second"].items())
    return "\n".join(
        [
            f"{data['requests']}, {data['model']} on {data['device']} by data sheet, "
            f"{data['rows']} rows, {data['cache_tokens']:,} tokens of cache",
            f"Requests per second that can be served at most: {most}",
            "",
            report.table(COLUMNS, lines),
            "",
            "Above the most, the queue grows for as long as requests come: its latencies are those",
            "of these requests only, and longer with more of them.",
        ]
    )


def _figure(found: list[dict[str, Any]]) -> Any:
    from batchlab import plots

    return plots.served(found)
