"""Controllers that change the tokens of a step, because they were asked to: ramps, noise, goodput.

    tokens seen, noise scale, throughput  ->  accumulation and rate

All of them move accumulation only, so memory stays as it is, and couple the rate by the rule that
they were given (`rates.square_root`, say).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from batchlab.adapt._decide import Controller, Couple, Decision, Signals, grown, unchanged
from batchlab.noise import NoiseScale
from batchlab.rates import Ramp
from batchlab.units import real, whole

__all__ = ["Goodput", "NoiseGuided", "NormTest", "Ramped", "goodput"]


@dataclass
class Ramped(Controller):
    """Follow a ramp in tokens: the largest step that fits under it and divides over the ranks.

    A ramp is a promise and no reading, so nothing waits.
    """

    ramp: Ramp = field(kw_only=True)
    couple: Couple = field(default=unchanged, kw_only=True)

    def wish(self, signals: Signals) -> Decision | None:
        plan = signals.plan
        one = plan.rows * plan.data_parallel
        slots = self.ramp.at(signals.tokens)
        steps = slots // (one * plan.length)
        if steps < 1:
            raise ValueError(
                f"the ramp asks for {slots:,} tokens at {signals.tokens:,}, less than one "
                f"micro-batch of every device ({one * plan.length:,}): take fewer rows"
            )
        why = f"the ramp is at {slots:,} tokens per step"
        return grown(signals, steps * one, self.couple, why)

    def at_once(self, signals: Signals) -> bool:
        return True


@dataclass
class NoiseGuided(Controller):
    """Double the step while the whole interval of the noise scale lies above `share` of it.

    readings  fewest behind an estimate that may move anything
    most      sequences per step that are never exceeded
    share     of the noise scale that a step may reach; smaller is more careful
    """

    most: int = field(kw_only=True)
    readings: int = field(default=20, kw_only=True)
    share: float = field(default=1.0, kw_only=True)
    couple: Couple = field(default=unchanged, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.most, self.readings = whole(self.most, "most"), whole(self.readings, "readings", 2)
        self.share = real(self.share, "share", above=0)

    def wish(self, signals: Signals) -> Decision | None:
        found, twice = signals.noise, 2 * signals.plan.sequences_per_step
        if found is None or found.readings < self.readings or twice > self.most:
            return None
        if self._floor(found) < twice:
            return None
        return grown(signals, twice, self.couple, self._why(signals))

    def _floor(self, found: NoiseScale) -> float:
        """Sequences that a step may surely reach."""
        return self.share * found.low

    def _why(self, signals: Signals) -> str:
        assert signals.noise is not None
        return f"the noise scale is at least {signals.noise.low:,.4g} sequences"


@dataclass
class NormTest(NoiseGuided):
    """Double the step while its own variance fails the norm test with certainty.

    The test is variance of the step <= (theta x gradient)^2, that is sequences >= noise scale /
    theta^2; AdAdaGrad (Lau et al. 2024) in its exact-variance form. So `theta` says what `share`
    is, and no other can be given.
    """

    share: float = field(init=False)
    theta: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self.theta = real(self.theta, "theta", above=0)
        self.share = 1 / self.theta**2
        super().__post_init__()

    def wish(self, signals: Signals) -> Decision | None:
        found, now = signals.noise, signals.plan.sequences_per_step
        if found is None or found.readings < self.readings or 2 * now > self.most:
            return None
        if self._floor(found) <= now:
            return None
        return grown(signals, 2 * now, self.couple, self._why(signals))

    def _why(self, signals: Signals) -> str:
        assert signals.noise is not None
        needed = self.share * signals.noise.low
        return f"the norm test with theta {self.theta:g} needs at least {needed:,.4g} sequences"


def goodput(
    tokens_per_second: float, sequences: float, *, noise_scale: float, base: float
) -> float:
    """Return throughput x statistical efficiency (noise + base) / (noise + sequences).

    Source: Qiao et al. 2021 (Pollux).

    >>> round(goodput(6.0, 1024, noise_scale=1000, base=128), 3)
    3.344
    """
    noise_scale = real(noise_scale, "noise_scale", least=0)
    return tokens_per_second * (noise_scale + base) / (noise_scale + sequences)


@dataclass
class Goodput(Controller):
    """Take the accumulation with the most goodput, from throughputs that were measured.

    tokens_per_second  {sequences per step: throughput}, of this machine and these rows
    base               sequences of the step that efficiency is counted from
    margin             how much better another step must be before it is taken
    """

    tokens_per_second: Mapping[int, float] = field(kw_only=True)
    base: int = field(kw_only=True)
    margin: float = field(default=0.05, kw_only=True)
    couple: Couple = field(default=unchanged, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.tokens_per_second = {
            whole(size, "sequences per step"): real(rate, "tokens_per_second", above=0)
            for size, rate in self.tokens_per_second.items()
        }
        self.base = whole(self.base, "base")
        self.margin = real(self.margin, "margin", least=0)

    def wish(self, signals: Signals) -> Decision | None:
        found, now = signals.noise, signals.plan.sequences_per_step
        if found is None or not found.enough or found.scale <= 0:
            return None
        measured = {**self.tokens_per_second}
        if signals.tokens_per_second is not None:
            measured[now] = signals.tokens_per_second
        if now not in measured:
            return None
        good = {
            size: goodput(rate, size, noise_scale=found.scale, base=self.base)
            for size, rate in measured.items()
        }
        best = max(good, key=lambda size: good[size])
        if good[best] < (1 + self.margin) * good[now]:
            return None
        why = f"goodput {good[best] / good[now]:.2f} x at a noise scale of {found.scale:,.4g}"
        return grown(signals, best, self.couple, why)
