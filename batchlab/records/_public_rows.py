"""Rows of the public record of GPU trainings: one of each kind, with where it comes from.

    a line of a packed table  ->  PublicRun, Submission, Reference, Curve, Benchmark

Words
    sample    one sequence of `length` tokens; `batch` counts samples
    samples   what a run had seen at its first evaluation at or below the target: the target was
              crossed in the `eval_every` samples before it
    crossing  interpolated between the last two evaluations, slightly late
    derived   computed from a log by this project, verified by nobody: samples, crossing,
              samples_per_second, device_hours, minutes of a submission
"""

from dataclasses import dataclass

__all__ = ["Benchmark", "Curve", "PublicRun", "Reference", "Source", "Submission"]

DIVISION = "Closed"  # of every run here: model and target are fixed
LOGGING = "mlcommons/logging"
COMMITS = {
    "mlcommons/training_results_v4.0": "6fe954378efe4a1a1bd665550b18ff8f26018def",
    "mlcommons/training_results_v4.1": "b87b9e396f771345d4ef122ba33456304f15228d",
    "mlcommons/training_results_v5.0": "0fdc28f013256aea84fa36fdaf1e0fa46094b18c",
    "mlcommons/training_results_v5.1": "441d65f4445cd59687466533fd9f55399136e7a4",
    LOGGING: "7bbf792686936919201796120b970dd820331099",
    "mlcommons/training": "aa344c7fb900e82ed19fb94aebfed50c63ab2204",
}


@dataclass(frozen=True)
class Source:
    """Where a row was read: a file of a public repository at a commit."""

    repository: str
    commit: str
    path: str

    @property
    def url(self) -> str:
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"


def source(repository: str, path: str) -> Source:
    return Source(repository, COMMITS[repository], path)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What is said of every run and of every submission, which is several runs of one system."""

    round: str
    submitter: str
    system: str
    benchmark: str
    device: str
    devices: int
    batch: int
    accumulation: int
    micro_batch: int | None  # this and the layout: None where no configuration says it
    tensor_parallel: int | None
    pipeline_parallel: int | None
    context_parallel: int | None
    data_parallel: int | None
    precision: str  # FP8 or FP4 of the matrix products; empty where unknown
    precision_source: str
    rate: float
    eval_every: int | None
    minutes: float | None
    samples_per_second: float | None  # over the training blocks, evaluations left out
    path: str

    @property
    def source(self) -> Source:
        return source(f"mlcommons/training_results_v{self.round}", self.path)

    @property
    def submission(self) -> str:
        """The key of the submission."""
        return f"v{self.round}/{self.submitter}/{self.system}/{self.benchmark}"

    @property
    def division(self) -> str:
        return DIVISION

    @property
    def label(self) -> str:
        """Who, what, which version and division, on how many devices: stands with each number."""
        return (
            f"{self.submitter}, {self.system}, {self.benchmark} v{self.round} {DIVISION}, "
            f"{self.devices:,} {self.device}"
        )

    @property
    def device_hours(self) -> float | None:
        """Derived, unverified."""
        return None if self.minutes is None else self.minutes * self.devices / 60


@dataclass(frozen=True, kw_only=True)
class PublicRun(Trained):
    """One run. `minutes` is its whole time, `eval_minutes` the part of its evaluations."""

    run: int
    length: int
    seed: int
    reached: bool
    first_eval: int | None
    samples: int | None
    crossing: float | None
    final_loss: float | None
    eval_minutes: float
    duplicate_of: str

    @property
    def interval(self) -> tuple[float, float] | None:
        """Samples between which the target was crossed; from 0 at the first evaluation."""
        if self.samples is None or self.eval_every is None or not self.reached:
            return None
        first = self.first_eval is not None and self.samples <= self.first_eval
        return (0.0 if first else float(self.samples - self.eval_every)), float(self.samples)


@dataclass(frozen=True, kw_only=True)
class Submission(Trained):
    """Several runs of one system. `minutes`: their mean without the fastest and the slowest."""

    status: str
    device_name: str
    beta2: float | None
    runs: int
    fails: int
    framework: str
    duplicate: bool


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One seed of a reference convergence point: a run of the reference code at one batch."""

    rounds: str
    benchmark: str
    point: str
    batch: int
    length: int | None
    rate: float | None
    precision: str
    platform: str
    seed: int
    samples: int
    eval_every: int | None
    note: str
    path: str

    @property
    def source(self) -> Source:
        return source(LOGGING, self.path)

    @property
    def label(self) -> str:
        return (
            f"reference point {self.point}, v{self.rounds.replace(' ', ', v')}, "
            f"{self.platform or 'platform not named'}"
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Samples between which the target was crossed; from 0 at the first evaluation."""
        first = not self.eval_every or self.note.startswith("at first allowed evaluation")
        return (0.0 if first else float(self.samples - (self.eval_every or 0))), float(self.samples)


@dataclass(frozen=True)
class Curve:
    """The evaluations of one run: samples seen, loss, and seconds since it began."""

    run: PublicRun
    samples: tuple[float, ...]
    losses: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def label(self) -> str:
        return self.run.label

    @property
    def source(self) -> Source:
        return self.run.source


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """What is trained from where to which target; its rules at the time of the data."""

    name: str
    model: str
    start: str
    length: int | None
    target: float
    metric: str
    eval_every: str
    first_eval: str
    optimizer: str
    schedule: str
    rate_rule: str
    teraflops: float | None  # of one sequence, forward and backward; `flops_convention` says which
    flops_convention: str
    path: str
