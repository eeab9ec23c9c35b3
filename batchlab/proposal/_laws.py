"""Published laws of the batch, the rate and the decay, each refused outside what was measured.

    tokens of the run, parameters  ->  tokens of a step, rate, decay; or a refusal of one line

All were found with AdamW and one pass over the data. Where two of them hold they differ by less
than `APART`, which is told as the error of either: none prints one of its own for the batch.

Words
    tokens      of the whole run
    parameters  without the embedding tables, where a law says so
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from batchlab import noise
from batchlab.units import real

__all__ = [
    "APART",
    "LARGEST",
    "LAWS",
    "Law",
    "compute_law",
    "critical",
    "decay",
    "rate_law",
    "short",
    "small",
]

APART = 2.0
SEQUENCE = 2048  # tokens of a sequence of Bergsma et al.
SHORT = 512  # and of Zhang et al.


@dataclass(frozen=True)
class Law:
    """coefficient x tokens ** by_tokens x parameters ** by_parameters, and where it was shown.

    >>> [round(LAWS[name](1e11), -3) for name in ("bergsma batch", "step batch")]
    [1023000.0, 1108000.0]
    """

    name: str
    source: str  # key of the bibliography
    coefficient: float
    by_tokens: float
    by_parameters: float
    tokens: tuple[float, float]
    parameters: tuple[float, float] | None  # None: the size does not come in
    error: str

    def __call__(self, tokens: float, parameters: float = 1.0) -> float:
        """Return what the law says; outside its range it is refused."""
        tokens = real(tokens, "tokens", above=0)
        parameters = real(parameters, "parameters", above=0)
        for what, value, shown in (
            ("tokens", tokens, self.tokens), ("parameters", parameters, self.parameters)
        ):  # fmt: skip
            if shown and not shown[0] <= value <= shown[1]:
                raise ValueError(
                    f"{self.name}: {short(value)} {what}; shown for {short(shown[0])} to "
                    f"{short(shown[1])}"
                )
        return float(self.coefficient * tokens**self.by_tokens * parameters**self.by_parameters)


def short(value: float) -> str:
    """A count as people say it.

    >>> short(1e11), short(8.03e9), short(1_048_576), short(1024), short(17.54)
    ('100 B', '8.03 B', '1.05 M', '1,024', '17.5')
    """
    for unit, name in ((1e12, " T"), (1e9, " B"), (1e6, " M"), (1e4, " k")):
        if value >= 0.9995 * unit:
            return f"{value / (1e3 if name == ' k' else unit):.3g}{name}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def small(rate: float) -> str:
    """A rate as people write it.

    >>> small(3e-4), small(1.13e-4)
    ('3e-4', '1.1e-4')
    """
    return f"{rate:.1e}".replace("e-0", "e-").replace(".0e", "e")


LAWS: Mapping[str, Law] = {
    "bergsma batch": Law(
        "Bergsma 2025", "bergsma2025power", 0.0306 * SEQUENCE, 0.383, 0.0,
        (20 * 111e6, 1280 * 111e6), None,
        "R2 0.98, to 3.3 B",
    ),
    "step batch": Law(
        "Step Law 2025", "li2025predictable", 0.58, 0.571, 0.0, (2e9, 100e9), None,
        "loss within 0.1 %, to 1.07 B",
    ),
    "step rate": Law(
        "Step Law 2025", "li2025predictable", 1.79, 0.307, -0.713, (2e9, 100e9), (59e6, 1.07e9),
        "loss within 0.1 %",
    ),
}  # fmt: skip
LARGEST = 3.3e9  # parameters of the largest model that a law of tokens was shown for: Bergsma
TIMESCALE = (1.084, -0.527)  # times tokens a parameter to this power: Bergsma et al., R2 0.98
PER_PARAMETER = (20.0, 1280.0)  # tokens
COMPUTE = (1e17, 1e20)  # FLOPs of DeepSeek LLM: fitted to 2e19, tried at 1e20
BALANCED = (19.0, 70.0)  # tokens a parameter of its two grids: 177 M and 2.94 B FLOPs a token
CRITICAL = (20 * 85e6, 20 * 1.2e9)  # tokens of Zhang et al., 20 a parameter


def compute_law(tokens: float, flops_per_token: float) -> tuple[float, float]:
    """Tokens of a step and rate by FLOPs of the run, embedding tables left out (DeepSeek LLM).

    Found with a rate that falls in two steps, near to WSD, at 19 to 69 tokens a parameter.
    Settings within 0.25 % of the least loss counted as good: a broad band.

    >>> batch, rate = compute_law(34e9, 2.94e9)
    >>> round(batch, -4), round(rate, 5)
    (1020000.0, 0.00099)
    """
    tokens = real(tokens, "tokens", above=0)
    flops = tokens * real(flops_per_token, "flops_per_token", above=0)
    each = tokens / (flops_per_token / 6)
    for value, shown, of in ((flops, COMPUTE, "FLOPs"), (each, BALANCED, "tokens a parameter")):
        if not shown[0] <= value <= shown[1]:
            raise ValueError(
                f"DeepSeek LLM 2024: {value:.2g} {of}; shown for {shown[0]:.2g} to {shown[1]:.2g}"
            )
    return 0.2920 * flops**0.3271, 0.3118 * flops**-0.1250


def rate_law(tokens: float, parameters: float) -> tuple[float, float]:
    """The rate of the Step Law, and the tokens of a step that it belongs to.

    >>> rate, batch = rate_law(20e9, 1e9)
    >>> round(rate, 5), round(batch, -3)
    (0.001, 442000.0)
    """
    return LAWS["step rate"](tokens, parameters), LAWS["step batch"](tokens)


def critical(tokens: float) -> float:
    """Tokens of a step that cost 20 % more steps than perfect scaling (Zhang et al. 2025).

    The law is fitted here to the published steps of five models, 20 tokens a parameter.

    >>> round(critical(6.04e9), -3)
    692000.0
    """
    tokens = real(tokens, "tokens", above=0)
    if not CRITICAL[0] <= tokens <= CRITICAL[1]:
        raise ValueError(
            f"Zhang 2025: {short(tokens)} tokens; shown for {short(CRITICAL[0])} to "
            f"{short(CRITICAL[1])}"
        )
    return float(SHORT * _critical_line()(tokens))


@cache
def _critical_line() -> noise.PowerLaw:
    """Sequences of `SHORT` tokens by the tokens of the run."""
    return noise.fit_power(
        {
            20e6 * size: noise.more_steps(noise.fit_steps(steps))
            for size, steps in noise.zhang2025().items()
        }
    )


def decay(rate: float, batch: float, tokens: float, parameters: float) -> float:
    """AdamW's decay that has the best timescale batch / (rate x decay x tokens).

    >>> round(decay(1e-3, 442e3, 20e9, 1e9), 3)
    0.099
    """
    tokens = real(tokens, "tokens", above=0)
    each = tokens / real(parameters, "parameters", above=0)
    if not PER_PARAMETER[0] <= each <= PER_PARAMETER[1]:
        raise ValueError(
            f"decay by timescale (Bergsma 2025): {each:.3g} tokens a parameter; shown for "
            f"{PER_PARAMETER[0]:g} to {PER_PARAMETER[1]:,g}"
        )
    timescale = TIMESCALE[0] * each ** TIMESCALE[1]
    return float(real(batch, "batch", above=0) / (real(rate, "rate", above=0) * timescale * tokens))
