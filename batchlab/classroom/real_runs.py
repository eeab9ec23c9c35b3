"""Five things to predict about real GPU runs, and what they were: truth and table from one place.

    name of a question  ->  Asked: what is known before, the truth, the rows that show it

Pages and lessons ask with `predict`; every number is counted from `records.public_runs`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from batchlab import records, report, units

__all__ = ["QUESTIONS", "Asked", "asked"]

FLORIDA = "University-of-Florida"


@dataclass(frozen=True)
class Asked:
    """One question: `known` is told before the guess, the rest after it.

    Shown in a page it is its table and what follows from it, so both can be covered together.
    """

    key: str
    unit: str
    known: float
    truth: float
    table: report.PublicTable
    said: str

    def __str__(self) -> str:
        return f"{self.table}\n\n{self.said}"

    def _repr_html_(self) -> str:
        return f"{self.table._repr_html_()}<p>{self.said}</p>"


def asked(name: str) -> Asked:
    """Return one of `QUESTIONS`.

    >>> one = asked("405b")
    >>> round(one.known, 1), round(one.truth, 1), one.unit
    (60.2, 60.4, 'minutes')
    """
    if name not in QUESTIONS:
        raise ValueError(f"no question {name!r:.40}; there are {', '.join(QUESTIONS)}")
    return QUESTIONS[name]()


def _more_devices() -> Asked:
    """8B: 128 B200 at batch 64, then 256 at batch 128."""
    found = records.public_runs(benchmark="llama31_8b", device="B200")
    some = [one for one in found.submissions if one.submitter == FLORIDA]
    some.sort(key=lambda one: one.devices)
    lines = [
        (one, [one.batch, _minutes(one), f"{one.device_hours or 0:.1f}", _samples(found, one)])
        for one in some
    ]
    table = report.public_table(found, lines, ["batch", "minutes", "device-hours", "samples"])
    said = (
        "Twice the devices save 1.4 minutes and cost 18 device-hours more. Twice the batch asks"
        " for half as many samples again, and a device with half a sequence in each step "
        "computes less well. From 8 to 64 devices, the minutes fall to a fifth and the bill "
        "grows by half."
    )
    return Asked("real-8b", "minutes", _of(some, 128), _of(some, 256), table, said)


def _same_batch() -> Asked:
    """LoRA of 70B: 8 GB200, then 64 at the same batch, then 512 at eight times the batch."""
    found = records.public_runs(benchmark="llama2_70b_lora", device="GB200", round="5.0")
    wanted = [("NVIDIA", 8), ("Dell", 64), ("NVIDIA", 512)]
    some = [
        next(one for one in found.submissions if (one.submitter, one.devices) == each)
        for each in wanted
    ]
    lines = [(one, [one.batch, _minutes(one), _samples(found, one)]) for one in some]
    table = report.public_table(found, lines, ["batch", "minutes", "samples"])
    said = (
        "Six times faster, without further samples. That more devices need a bigger batch is no"
        " law: a sequence of 8,192 tokens can be cut, too. The batch grew only from there on, "
        "and 512 devices at batch 64 pay 2.4 times the samples."
    )
    return Asked("real-lora", "minutes", _of(some, 8), _of(some, 64), table, said)


def _ruler() -> Asked:
    """405B: 2,048 H100, then 2,432, then 2,560."""
    found = records.public_runs(benchmark="llama31_405b", device="H100", round="5.0")
    some = [one for one in found.submissions if one.devices in (2048, 2432, 2560)]
    some.sort(key=lambda one: one.devices)
    lines = []
    for one in some:
        runs = _runs(found, one)
        evaluations = sorted((run.samples or 0) // (run.eval_every or 1) for run in runs)
        said = ", ".join(map(str, evaluations))
        lines.append((one, [f"{one.batch:,}", _minutes(one), said, f"{one.eval_every:,}"]))
    heads = ["batch", "minutes", "evaluations of its runs", "sequences between two"]
    table = report.public_table(found, lines, heads)
    said = (
        "19 % more devices, and nothing gained. At its sixth evaluation such a run stood at "
        "5.605; the target is 5.6, and the next evaluation comes 46,208 sequences later. Who "
        "measures rarely, measures steps. One of the three runs on 2,048 devices missed it as "
        "well, but the middle one counts."
    )
    return Asked("real-405b", "minutes", _of(some, 2048), _of(some, 2432), table, said)


def _rate() -> Asked:
    """LoRA of 70B at batch 64: the samples at several rates."""
    found = records.public_runs(benchmark="llama2_70b_lora", batch=64)
    some = sorted(found.submissions, key=lambda one: one.rate)
    lines = [
        (one, [f"{one.rate:g}", _samples(found, one), one.framework.partition(";")[0]])
        for one in some
    ]
    table = report.public_table(found, lines, ["rate", "samples", "framework"])
    low, high = (
        _crossed(run for one in some if one.rate == rate for run in _runs(found, one))
        for rate in (3e-4, 6e-4)
    )
    said = (
        "Nearly half of the samples were the price of a rate. Frameworks and devices differ as "
        "well, so not all of it is the rate. But samples fall in order, from 3e-4 over 3.5e-4 "
        "to 5e-4, and hardly further at 6e-4."
    )
    return Asked("real-rate", "samples", low, high, table, said)


def _bits() -> Asked:
    """8B at batch 16 on 8 B200: FP8, then FP4."""
    found = records.public_runs(benchmark="llama31_8b", device="B200", batch=16)
    some = [one for one in found.submissions if one.devices == 8]
    some.sort(key=lambda one: (one.precision != "FP8", one.minutes or 0))
    lines = [
        (
            one,
            [
                f"{one.precision} ({one.precision_source})",
                f"{one.samples_per_second or 0:.1f}",
                _samples(found, one),
                _minutes(one),
            ],
        )
        for one in some
    ]
    heads = ["matrix products", "sequences a second", "samples", "minutes"]
    eight, four = (
        mean(one.minutes or 0 for one in some if one.precision == bits) for bits in ("FP8", "FP4")
    )
    table = report.public_table(found, lines, heads)
    said = (
        "20 % more sequences a second, 9 % more of them needed: 8 % of the minutes are saved. "
        "Throughput is not time to the target. That the first row computes in FP8 was told from"
        " its throughput, since its configuration fits both."
    )
    return Asked("real-bits", "minutes", eight, four, table, said)


QUESTIONS: dict[str, Callable[[], Asked]] = {
    "8b": _more_devices,
    "lora": _same_batch,
    "405b": _ruler,
    "rate": _rate,
    "bits": _bits,
}


def _of(some: Sequence[records.Submission], devices: int) -> float:
    return next(one.minutes for one in some if one.devices == devices and one.minutes is not None)


def _minutes(one: records.Submission) -> str:
    return f"{one.minutes or 0:#.3g}"


def _runs(found: records.PublicRuns, one: records.Submission) -> list[records.PublicRun]:
    return [run for run in found.runs if run.submission == one.submission]


def _samples(found: records.PublicRuns, one: records.Submission) -> str:
    return units.count(round(_crossed(_runs(found, one))))


def _crossed(runs: Iterable[records.PublicRun]) -> float:
    """The mean of where the target was crossed, between two evaluations."""
    return mean(run.crossing for run in runs if run.crossing is not None)
