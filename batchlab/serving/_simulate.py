"""Play a trace through a scheduler: who waited how long, and what the device did meanwhile.

    trace, policy, cost of a pass  ->  Served: latencies, throughput, passes, row-steps

Words
    first token  seconds from arrival to the first token of the output
    latency      seconds from arrival to the last
    row-steps   rows that decoding passes computed; those of finished requests are wasted
    in flight    requests that have arrived and are not finished
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from batchlab.serving._cost import Cost
from batchlab.serving._policy import Scheduler, Step
from batchlab.serving._requests import Trace
from batchlab.units import real

__all__ = ["Served", "play", "simulate"]

UNLIMITED = 2**40  # tokens of cache, where nobody limits it
FIRST, MOST = 64, 2**16  # passes that are priced at once; more where nobody comes or goes


@dataclass(frozen=True, eq=False)
class Served:
    """What became of a trace; arrays hold one number a request, in its order."""

    policy: str
    rows: int
    trace: Trace
    first_token: np.ndarray  # seconds from arrival
    latency: np.ndarray
    seconds: float  # from the first arrival to the last token
    busy_seconds: float  # in which a pass ran
    prefill_passes: int
    decode_passes: int
    row_steps: int  # rows of decoding passes
    useful_row_steps: int

    @property
    def passes(self) -> int:
        """Forward passes; one under chunked batching may do both."""
        return self.prefill_passes + self.decode_passes

    @property
    def tokens_per_second(self) -> float:
        """Output tokens per second, first arrival to last token."""
        return float(self.trace.outputs.sum()) / self.seconds

    @property
    def requests_per_second(self) -> float:
        return len(self.trace) / self.seconds

    @property
    def wasted(self) -> float:
        """Share of the row-steps that computed nothing that anybody wanted."""
        return 1 - self.useful_row_steps / self.row_steps if self.row_steps else 0.0

    @property
    def in_flight(self) -> float:
        """Requests in flight on average over time: Little's law makes it rate x mean latency."""
        return float(self.latency.sum()) / self.seconds

    def percentile(self, share: float, of: str = "latency") -> float:
        """Seconds within which `share` (0.99: the 99th percentile) of the requests were served.

        `of` is latency or first_token. The mean says little: latencies have long tails.
        """
        if of not in ("latency", "first_token"):
            raise ValueError(f"there are latency and first_token, got {of!r}")
        share = real(share, "share", least=0, most=1)
        return float(np.quantile(getattr(self, of), share, method="inverted_cdf"))


def simulate(
    trace: Trace,
    cost: Cost,
    *,
    policy: str = "continuous",
    rows: int = 8,
    cache: int = UNLIMITED,
    chunk: int = 512,
) -> Served:
    """Serve a trace in simulated time.

    policy  static, continuous or chunked
    rows    requests that run at the same time
    cache   tokens that all key-value caches hold together
    chunk   tokens of a pass under chunked batching

    >>> from batchlab import serving
    >>> one = serving.at_once([1, 1, 1, 1], [32, 64, 128, 512])
    >>> flat = serving.Affine(1.0, 0.0, 0.0)
    >>> served = serving.simulate(one, flat, policy="static", rows=4)
    >>> served.decode_passes, round(1 - served.wasted, 3)
    (511, 0.358)
    """

    def seconds(step: Step) -> float:
        return cost.seconds(step.tokens, step.contexts)

    return play(trace, Scheduler(policy, rows, cache, chunk), seconds, _stretch(cost))


def _stretch(cost: Cost) -> Callable[[Step, int], np.ndarray] | None:
    """What prices many passes at once, where the cost knows how."""
    known: Callable[..., np.ndarray] | None = getattr(cost, "stretch", None)
    if known is None:
        return None

    def stretch(step: Step, passes: int) -> np.ndarray:
        growing = [one.read + one.made for one in step.decoding]
        return known(growing, [one.read + one.made for one in step.idle], passes)

    return stretch


def play(
    trace: Trace,
    scheduler: Scheduler,
    execute: Callable[[Step], float],
    stretch: Callable[[Step, int], np.ndarray] | None = None,
) -> Served:
    """Serve a trace with passes that `execute` runs, or prices, in seconds each.

    `stretch` prices passes in a row between which nobody comes or goes: the same, all at once.
    """
    first, last = np.full(len(trace), np.nan), np.full(len(trace), np.nan)
    now = start = float(trace.arrivals[0])
    came = prefills = decodes = computed = useful = 0
    busy, at_once = 0.0, FIRST
    while True:
        while came < len(trace) and trace.arrivals[came] <= now:
            scheduler.arrive(came, int(trace.prompts[came]), int(trace.outputs[came]))
            came += 1
        step = scheduler.next()
        if step is None:
            if came == len(trace):
                break
            now = float(trace.arrivals[came])
            continue
        passes = 1
        if stretch is None or step.chunks:
            took = execute(step)
            now, busy = now + took, busy + took
        else:
            least = min([one.output - one.made for one in step.decoding])
            each = stretch(step, min(least, at_once))
            times = np.cumsum(np.concatenate(([now], each)))  # each one's begin, and the last end
            next_arrival = trace.arrivals[came] if came < len(trace) else np.inf
            passes = max(1, int(times[:-1].searchsorted(next_arrival)))
            whole = passes == len(each) < least  # nobody came or went: look further the next time
            at_once = min(2 * at_once, MOST) if whole else FIRST
            each[0] += busy
            now, busy = float(times[passes]), float(each[:passes].cumsum()[-1])
        prefills += not step.rows
        decodes += passes * bool(step.rows)
        computed, useful = computed + passes * step.rows, useful + passes * len(step.decoding)
        for chunk in step.chunks:
            if chunk.stop == chunk.running.prompt:
                first[chunk.running.request] = now
        for ended in scheduler.done(step, passes):
            last[ended.request] = now
    return Served(
        scheduler.policy, scheduler.rows, trace, first - trace.arrivals, last - trace.arrivals,
        now - start, busy, prefills, decodes, computed, useful,
    )  # fmt: skip
