"""Batches that grow along a run: ramps of your own and published ones, and Seesaw's trade.

    tokens seen  ->  tokens of the next step

A published ramp is data: what its source prints, with the key of the bibliography. One that was
read in another text than its own says so (`second_hand`).

Words
    stage  tokens per step from some token on
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from batchlab.units import real, whole

__all__ = ["PUBLISHED", "Ramp", "Stage", "Trade", "doubling", "linear_ramp", "seesaw"]

MOST_STEPS = 10**8  # a run of more never ends in practice: 3 years of 1-second steps


@dataclass(frozen=True)
class Stage:
    """So many tokens a step, from this many tokens on."""

    from_tokens: int
    tokens_per_step: int


@dataclass(frozen=True)
class Ramp:
    """Tokens per step along a run: stages, or straight lines between them.

    >>> ramp = Ramp((Stage(0, 100), Stage(1000, 200)))
    >>> ramp.at(999), ramp.at(1000), ramp.steps(2000)
    (100, 200, 15)
    """

    stages: tuple[Stage, ...]
    straight: bool = False  # else a stage holds until the next
    source: str = ""
    second_hand: bool = False
    note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.stages or self.stages[0].from_tokens != 0:
            raise ValueError("a ramp begins with a stage from 0 tokens on")
        before = -1
        for stage in self.stages:
            whole(stage.tokens_per_step, "tokens_per_step")
            if whole(stage.from_tokens, "from_tokens", 0) <= before:
                raise ValueError(
                    f"the stages of a ramp come in order; {stage.from_tokens:,} tokens stand after "
                    f"{before:,}"
                )
            before = stage.from_tokens

    @property
    def last(self) -> Stage:
        return self.stages[-1]

    def at(self, tokens: int) -> int:
        """Return the tokens of the step that follows `tokens` seen."""
        tokens = whole(tokens, "tokens", 0)
        number = sum(stage.from_tokens <= tokens for stage in self.stages) - 1
        here = self.stages[number]
        if not self.straight or here is self.last:
            return here.tokens_per_step
        there = self.stages[number + 1]
        done = tokens - here.from_tokens
        rise = there.tokens_per_step - here.tokens_per_step
        return here.tokens_per_step + rise * done // (there.from_tokens - here.from_tokens)

    def steps(self, total_tokens: int) -> int:
        """Return the steps until at least `total_tokens` are seen."""
        total_tokens = whole(total_tokens, "total_tokens")
        fewest = min(stage.tokens_per_step for stage in self.stages)
        if total_tokens // fewest > MOST_STEPS:
            raise ValueError(
                f"{total_tokens:,} tokens in steps of {fewest:,} never end: more than "
                f"{MOST_STEPS:,} steps"
            )
        seen = steps = 0
        while seen < total_tokens:
            here = self.at(seen)
            ahead = [s.from_tokens for s in self.stages if s.from_tokens > seen] or [total_tokens]
            end = min(ahead[0], total_tokens)
            level = not self.straight or seen >= self.last.from_tokens
            taken = -(-(end - seen) // here) if level else 1
            steps, seen = steps + taken, seen + taken * here
        return steps

    def saved(self, total_tokens: int) -> float:
        """Return the share of steps saved against the first stage held for the whole run."""
        alone = Ramp(self.stages[:1]).steps(total_tokens)
        return 1 - self.steps(total_tokens) / alone


def doubling(first: int, at_tokens: Sequence[int]) -> Ramp:
    """Return a ramp that doubles at each of these tokens.

    >>> doubling(1024, [10_000, 30_000]).at(30_000)
    4096
    """
    first = whole(first, "first")
    later = (Stage(at, first * 2**n) for n, at in enumerate(at_tokens, start=1))
    return Ramp((Stage(0, first), *later))


def linear_ramp(first: int, last: int, *, increment: int, over_tokens: int) -> Ramp:
    """Return equal increments over `over_tokens`, as Megatron's `--rampup-batch-size` had them.

    >>> linear_ramp(16, 1024, increment=8, over_tokens=300_000).at(150_000)
    520
    """
    first, last, increment = (
        whole(value, name)
        for value, name in ((first, "first"), (last, "last"), (increment, "increment"))
    )
    over_tokens = whole(over_tokens, "over_tokens")
    count, left = divmod(last - first, increment)
    if left or count < 1:
        raise ValueError(
            f"from {first:,} to {last:,} is no whole number of increments of {increment:,}"
        )
    return Ramp(
        tuple(Stage(-(-n * over_tokens // count), first + n * increment) for n in range(count + 1))
    )


@dataclass(frozen=True)
class Trade:
    """A ramp, and the rate in each of its stages."""

    ramp: Ramp
    rates: tuple[float, ...]


def seesaw(
    rate: float,
    tokens_per_step: int,
    cuts: Sequence[int],
    *,
    factor: int = 2,
    optimizer: str = "adamw",
) -> Trade:
    """Return the run that grows its batch where another would divide its rate by `factor`.

    At each of the tokens `cuts` the batch grows by `factor`; Adam's rate falls by its root
    (Meterez et al. 2025), that of SGD stays (Smith et al. 2018). Equal tokens, fewer steps.

    >>> trade = seesaw(1e-3, 1000, [50_000])
    >>> trade.ramp.at(50_000), round(trade.rates[1] / trade.rates[0], 4), trade.ramp.steps(100_000)
    (2000, 0.7071, 75)
    """
    falls = {"adam": math.sqrt(factor), "adamw": math.sqrt(factor), "sgd": 1.0}
    if optimizer not in falls:
        raise ValueError(f"the trade was shown for {', '.join(falls)}, not for {optimizer}")
    rate, factor = real(rate, "rate", above=0), whole(factor, "factor", 2)
    first = whole(tokens_per_step, "tokens_per_step")
    later = (Stage(at, first * factor**n) for n, at in enumerate(cuts, start=1))
    ramp = Ramp((Stage(0, first), *later))
    return Trade(ramp, tuple(rate / falls[optimizer] ** n for n in range(len(ramp.stages))))


def _sequences(ramp: Ramp, length: int, source: str, note: str) -> Ramp:
    """A ramp that counts sequences, in tokens."""
    stages = (Stage(s.from_tokens * length, s.tokens_per_step * length) for s in ramp.stages)
    return Ramp(tuple(stages), ramp.straight, source, note=note)


PUBLISHED: Mapping[str, Ramp] = {
    "gpt-3": Ramp(
        (Stage(0, 32_000), Stage(12 * 10**9, 3_200_000)), True, "brown2020language", True,
        "linear over the first 4 to 12 billion tokens, by model; here 12",
    ),
    "palm-540b": Ramp(
        (Stage(0, 512 * 2048), Stage(50_000 * 512 * 2048, 1024 * 2048),
         Stage(50_000 * 512 * 2048 + 65_000 * 1024 * 2048, 2048 * 2048)),
        source="chowdhery2022palm", note="512 sequences to step 50,000, 1,024 to 115,000, 2,048",
    ),
    "bloom-176b": _sequences(
        linear_ramp(192, 2048, increment=16, over_tokens=9_765_625), 2048, "bigscience_tr11",
        "--rampup-batch-size 192 16 9_765_625: the whole ramp takes 9,765,625 sequences",
    ),
    "llama-3-405b": Ramp(
        (Stage(0, 4 * 10**6), Stage(252 * 10**6, 8 * 10**6),
         Stage(2_870 * 10**9, 16 * 10**6)),
        source="grattafiori2024llama3", note="4 M, 8 M, 16 M tokens as printed; M read as 10**6",
    ),
    "deepseek-v3": Ramp(
        (Stage(0, 3072 * 4096), Stage(469 * 10**9, 15_360 * 4096)), True, "deepseek2024v3", True,
        "3,072 to 15,360 sequences of 4,096 tokens over 469 billion tokens; read as linear",
    ),
    "minimax-01": Ramp(
        (Stage(0, 16 * 10**6), Stage(69 * 10**9, 32 * 10**6),
         Stage(790 * 10**9, 64 * 10**6), Stage(4_700 * 10**9, 128 * 10**6)),
        source="minimax2025", second_hand=True, note="along a fitted critical batch",
    ),
}  # fmt: skip
