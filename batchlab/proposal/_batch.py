"""Reasons for a batch: laws of tokens, public runs, a measured noise scale, the devices.

Wish  ->  reasons, and one line for each source that refuses
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from batchlab import cluster, noise, records, units
from batchlab.proposal import _laws as laws
from batchlab.proposal._laws import APART, short
from batchlab.proposal._recipes import LIKE, Recipe, like
from batchlab.proposal._wish import Reason, Wish
from batchlab.roofline import flops_per_token

__all__ = ["reasons"]

LINK = "400 Gb/s"
ONE_RATE = 32  # LoRA's public references have one rate up to this batch
NEAR = 10.0  # times the tokens: as near a run must be for its batch to be an aim


def reasons(wish: Wish) -> tuple[list[Reason], list[str]]:
    """What each source says, and why the others say nothing."""
    sources: dict[str, Callable[[Wish], Iterator[Reason | str]]] = {
        "pretraining": _pretraining, "lora": _lora, "grpo": _grpo
    }  # fmt: skip
    said = [*sources[wish.stage](wish), *_noise(wish), *_devices(wish)]
    return (
        [one for one in said if isinstance(one, Reason)],
        [one for one in said if isinstance(one, str)],
    )


def _pretraining(wish: Wish) -> Iterator[Reason | str]:
    if wish.optimizer == "sgd":
        yield "laws of tokens: found with AdamW, not with sgd"
    else:
        yield from (_tried(_of_law, wish, name) for name in ("bergsma batch", "step batch"))
        yield _tried(_of_compute, wish)
        yield _tried(_critical, wish)
    yield from _runs(wish)
    yield from _recipes(wish)


def _tried(make: Callable[..., Reason], *asked: Any) -> Reason | str:
    try:
        return make(*asked)
    except ValueError as error:
        return str(error)


def _of_law(wish: Wish, name: str) -> Reason:
    law = laws.LAWS[name]
    return _aimed(law.name, law(wish.tokens), law.error, law.source)


def _of_compute(wish: Wish) -> Reason:
    batch, _ = laws.compute_law(wish.tokens, wish.flops_without_tables)
    return _aimed("DeepSeek LLM 2024", batch, "loss within 0.25 %", "deepseek2024llm")


def _aimed(name: str, batch: float, error: str, source: str) -> Reason:
    return Reason(
        "law of tokens", "aim", batch / APART, batch * APART,
        f"{name}: least loss at {short(batch)}", error, (source,),
    )  # fmt: skip


def _critical(wish: Wish) -> Reason:
    batch = laws.critical(wish.tokens)
    open_end = wish.optimizer == "muon"
    return Reason(
        "critical batch", "beside" if open_end else "most", batch, batch,
        "Zhang 2025: AdamW's; Muon's lies beyond" if open_end
        else "Zhang 2025: 20 % above perfect scaling",
        "5 models to 1.2 B, near to WSD",
        ("zhang2025critical", *(("shah2025muon",) if open_end else ())),
    )  # fmt: skip


def _runs(wish: Wish) -> Iterator[Reason]:
    """Public runs of a benchmark whose model is of like size, to its target."""
    mine, benchmarks = flops_per_token(wish.shape, wish.length), records.public_runs().benchmarks
    for name in ("llama31_8b", "llama31_405b"):
        one = benchmarks[name]
        if one.length is None or one.teraflops is None:
            continue
        if not 1 / LIKE <= 1e12 * one.teraflops / one.length / mine <= LIKE:
            continue
        tokens, seeds = _tokens_to_target(name)
        least, most = min(tokens), max(tokens)
        yield Reason(
            "public runs", "beside", least * one.length, most * one.length,
            f"{one.model} to a loss of {one.target:g}: {_span(tokens[least], tokens[most])} tokens",
            f"{seeds} seeds, short runs",
            apart=f"Public runs of {one.model} end after {_span(tokens[least], tokens[most])} "
            "tokens, and the best batch grows with the tokens.",
        )  # fmt: skip


@cache
def _tokens_to_target(benchmark: str) -> tuple[dict[int, float], int]:
    """The mean tokens that a public benchmark took with each batch, and its seeds."""
    length = records.public_runs().benchmarks[benchmark].length or 0
    seeds = records.public_runs(benchmark=benchmark, round="5.1").seeds()
    tokens = {
        batch: length * sum(most for _, most in each) / len(each) for batch, each in seeds.items()
    }
    return tokens, sum(map(len, seeds.values()))


def _recipes(wish: Wish) -> Iterator[Reason]:
    found = like("pretraining", wish.shape.parameters)
    if not found:
        return
    beyond = wish.optimizer != "sgd" and wish.tokens > laws.LAWS["bergsma batch"].tokens[1]
    near = [one for one in found if one.tokens and 1 / NEAR <= one.tokens / wish.tokens <= NEAR]
    aim = bool(near) and beyond
    found = near if aim else found
    batches = sorted(one.batch for one in found)
    times = [(one.tokens or wish.tokens) / wish.tokens for one in found]
    yield Reason(
        "recipes", "aim" if aim else "beside", batches[0], batches[-1],
        f"{len(found)} models of like size, {_span(min(times), max(times))} times your tokens",
        "chosen, not compared",
        tuple(dict.fromkeys(one.source for one in found)),
        apart=f"Recipes of like size ran {_span(min(times), max(times))} times your tokens, and "
        f"the best batch grows with the tokens: {', '.join(_shown(one) for one in found)}.",
    )  # fmt: skip


def _span(least: float, most: float) -> str:
    return " to ".join(dict.fromkeys((short(least), short(most))))


def _shown(one: Recipe) -> str:
    return f"{one.name} {short(one.batch)}"


@cache
def _lora_fit() -> tuple[noise.CriticalFit, int, dict[int, float]]:
    """The fit of LoRA's public seeds at one rate, how many, and samples at each batch."""
    seeds = {
        batch: each
        for batch, each in records.public_runs(benchmark="llama2_70b_lora").seeds().items()
        if batch <= ONE_RATE
    }
    samples = {batch: sum(most for _, most in each) / len(each) for batch, each in seeds.items()}
    return noise.fit_critical(seeds), sum(map(len, seeds.values())), samples


def _lora(wish: Wish) -> Iterator[Reason]:
    fit, seeds, samples = _lora_fit()
    least, most = min(samples), max(samples)
    yield Reason(
        "public runs", "aim", least, fit.critical_batch,
        f"Llama 2 70B: critical at {fit.critical_batch:.3g} ({fit.low:.0f} to {fit.high:.0f}); "
        f"{most} takes {samples[most] / samples[least]:.2g} x the samples of {least}",
        f"{seeds} seeds, one rate, one task",
    )  # fmt: skip
    batches = sorted(one.batch for one in like("lora", wish.shape.parameters))
    yield Reason(
        "recipes", "aim", batches[0], batches[-1], "QLoRA, 7 to 65 B",
        "chosen, not compared", ("dettmers2023qlora",),
    )  # fmt: skip


def _grpo(wish: Wish) -> Iterator[Reason]:
    assert wish.generations
    found = like("grpo", wish.shape.parameters)
    yield Reason(
        "recipes", "aim", min(one.batch for one in found), max(one.batch for one in found),
        ", ".join(
            f"{one.name} {one.batch / (one.generations or 1):.0f} x {one.generations}"
            for one in found
        ),
        "chosen, not compared",
        tuple(one.source for one in found),
    )  # fmt: skip
    runs = records.public_runs(benchmark="qwen35_397b_grpo").references
    batches = sorted({one.batch for one in runs})
    yield Reason(
        "public runs", "beside", batches[0], batches[-1],
        "Qwen 397B reaches its target with each",
        f"{len(runs)} seeds, upper bounds",
    )  # fmt: skip
    alike = [share**wish.generations + (1 - share) ** wish.generations for share in (0.5, 0.9)]
    yield Reason(
        "groups", "least", wish.generations, wish.generations,
        f"all alike, so idle: {units.share(alike[0])} of groups where half is right, "
        f"{units.share(alike[1])} where 90 % is",
        "arithmetic",
    )  # fmt: skip


def _noise(wish: Wish) -> Iterator[Reason | str]:
    if wish.noise_scale is None:
        if wish.optimizer == "sgd":
            yield "noise scale: not given; `batchlab noise` measures it"
        return
    scale = wish.noise_scale * (wish.length if wish.unit == "tokens" else 1)
    if wish.optimizer == "sgd":
        yield Reason(
            "noise scale", "aim", scale / APART, scale,
            "SGD: at its end twice the fewest examples and steps", "as measured; it grows",
            ("mccandlish2018empirical",),
        )  # fmt: skip
        return
    yield Reason(
        "noise scale", "beside", 0.0, scale, "SGD's end; no limit under Adam", "a warning only",
        ("merrill2025critical",),
        apart="The batch is above the noise scale. Under Adam that is no limit, and no promise: "
        "compare at equal tokens.",
    )  # fmt: skip


def _devices(wish: Wish) -> Iterator[Reason]:
    """A step that keeps the devices busy: gradients travel while the next tokens are computed."""
    a_row = wish.length if wish.unit == "tokens" else 1
    if wish.devices == 1:
        yield Reason(
            "devices", "least", a_row, a_row, "one row; nothing travels", "arithmetic",
        )  # fmt: skip
        return
    one = wish.devices * a_row
    if wish.stage != "pretraining":
        yield Reason("devices", "least", one, one, "one row a device", "arithmetic")
        return
    link = cluster.LINKS[LINK]
    hidden = cluster.tokens_to_hide(wish.device, link, wish.devices)
    least = max(one, wish.devices * hidden)
    yield Reason(
        "devices", "least", least, least,
        f"{hidden:,} a device hide its gradients on {LINK}; a row is {wish.length:,}",
        "16 bit, 40 % utilisation",

    )  # fmt: skip
