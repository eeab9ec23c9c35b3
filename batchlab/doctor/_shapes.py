"""What a step of another size takes, whatever shape the seconds have.

    Steps, a step as it is and cured  ->  Shape: how plausible it is, and what the cure leaves

The prices of `_solve` are a line. Four shapes are tried on the same steps: the line, a line that
bends smoothly (its deviation is a random function of the size, as in kriging: sizes near a measured
one deviate alike), two lines that meet, and a floor with a line above it (that ends below the cured
step, or not). Each has its evidence, the probability of the steps under it, and its own answer.
What is plausible counts; how plausible the line is, is the test for lack of fit.

Words
    left    seconds of the cured step over those of the step as it is
    luck    of one visit, shared by its steps
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from batchlab.doctor import _solve
from batchlab.doctor._forms import Data, Form, forms, relative, spread_of
from batchlab.doctor._solve import Estimate
from batchlab.doctor._steps import Floats
from batchlab.doctor.prices import DRAWS, LEAST_SIZES, Draws
from batchlab.records import Cell

__all__ = ["PLAUSIBLE", "Shape", "shapes"]

PLAUSIBLE = 0.05  # a shape of less probability does not count
PRIOR = {"line": 0.2, "curve": 0.2, "kink": 0.3, "low floor": 0.15, "floor": 0.15}
LUCK = (0.0, 1.0, 3.0)  # of a visit, over that of a step
BEND = (1.0, 3.0, 8.0)  # of the smooth deviation, over the luck of a step
USUAL_BEND = 0.1  # of a step: a larger deviation is less probable
REACH = 2.0  # in the logarithm of the size: so far sizes deviate alike
LEAST_LEFT = 0.02


@dataclass(frozen=True)
class Shape:
    """One shape that the seconds may have."""

    name: str
    probability: float
    left: Floats  # draws, ascending; empty for a line, whose draws are the prices


@dataclass(frozen=True)
class _Fit:
    """One form at one luck and one bend."""

    name: str
    form: Form
    evidence: float  # logarithm
    bend: float
    factor: Floats  # Cholesky factor of the covariance, over the variance
    columns: Floats  # whitened and scaled
    target: Floats  # whitened
    scale: Floats
    variance: float


def shapes(cell: Cell, drawn: Draws) -> tuple[Shape, ...]:
    """The shapes that are plausible, and what each leaves of a step of `cell` without its padding.

    Their probabilities add up to at most one. Empty where nothing is left to tell: too few sizes,
    no padding, or slots and pairs that grow together, of which any split explains the steps.
    """
    steps, found = drawn.steps, drawn.found
    if steps is None or found is None or drawn.sizes < LEAST_SIZES or cell.waste <= 0:
        return ()
    if len(found.corners) > 1 or not cell.real_tokens:
        return ()
    rng, data = np.random.default_rng(0), relative(steps, found)
    before = np.array([cell.micro_batches, cell.slots, cell.slot_pairs]) / cell.steps
    after = np.array([cell.micro_batches, cell.real_tokens, cell.real_pairs]) / cell.steps
    targets, spread = np.stack([before, after]), np.zeros((2, 2))
    if (targets @ found.prices <= 0).any():
        return ()
    spread[0] = [spread_of(each, before[0]) for each in (cell.step_slots, cell.step_slot_pairs)]
    fits = list(_fits(data, found, forms(data, targets)))
    logs = np.array([fit.evidence for fit in fits])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    every = []
    for name in PRIOR:
        inside = [at for at, fit in enumerate(fits) if fit.name == name]
        probability = float(chances[inside].sum())
        if probability < PLAUSIBLE:
            continue
        left = np.zeros(0)
        if name != "line":
            counts = rng.multinomial(DRAWS, chances[inside] / probability)
            lists = [
                _left(data, fits[at], found, targets, spread, int(count), rng)
                for at, count in zip(inside, counts, strict=True)
                if count
            ]
            left = np.sort(np.concatenate(lists))
        every.append(Shape(name, probability, left))
    return tuple(every)


def _fits(data: Data, found: Estimate, forms: Sequence[Form]) -> Iterator[_Fit]:
    """Every form at every luck and bend, with its evidence; the variance is integrated out."""
    n, near = len(data.seconds), _near(data.logs, data.logs)
    columns = [form.columns(data.size, data.spread) / data.weight[:, None] for form in forms]
    means = [one.mean(axis=0) for one in columns]
    scales = [np.where(one > 0, one, 1.0) for one in means]
    ends = np.cumsum([one.shape[1] for one in columns])
    whole = np.concatenate([one / scale for one, scale in zip(columns, scales, strict=True)], 1)
    error = data.seconds - (data.size / data.weight[:, None]) @ found.prices
    width = 1 / max(float(np.mean(error**2)), 1e-12)  # a price explains from none to all of a step
    alike = {name: sum(form.name == name for form in forms) for name in PRIOR}
    for luck, bend in itertools.product(LUCK, (0.0, *BEND)):
        covariance = np.eye(n) + luck**2 * data.visit + bend**2 * near
        factor = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        white = np.linalg.solve(factor, np.column_stack([whole, data.seconds]))
        parts = np.split(white[:, :-1], ends[:-1], axis=1)
        for form, scale, part in zip(forms, scales, parts, strict=True):
            name = "curve" if form.name == "line" and bend else form.name
            squares, active = _squares(part, white[:, -1], width)
            gram = np.eye(int(active.sum())) + width * part[:, active].T @ part[:, active]
            evidence = -float(np.log(np.diag(factor)).sum()) - np.linalg.slogdet(gram)[1] / 2
            evidence -= n / 2 * math.log(squares)
            evidence -= bend * math.sqrt(squares / n) / USUAL_BEND + math.log1p(luck**2) / 2
            evidence += math.log(PRIOR[name] / max(alike[name], 1))
            variance = squares / n
            yield _Fit(
                name, form, evidence, bend, factor, part, white[:, -1], scale, variance
            )  # fmt: skip


def _near(one: Floats, other: Floats) -> Floats:
    """How alike two sizes deviate from the line: 1 for the same, less the farther apart."""
    return np.asarray(np.exp(-np.abs(one[:, None] - other[None, :]) / REACH))


def _squares(columns: Floats, target: Floats, width: float) -> tuple[float, Floats]:
    """The sum of squares that prices of no negative sign leave, and which of them are above 0."""
    active = np.ones(columns.shape[1], dtype=bool)
    prices: Floats = np.zeros(columns.shape[1])
    while active.any():
        inside = columns[:, active]
        gram = inside.T @ inside + np.eye(int(active.sum())) / width
        prices = np.asarray(np.linalg.solve(gram, inside.T @ target), dtype=np.float64)
        if (prices >= 0).all():
            break
        active[np.flatnonzero(active)[prices.argmin()]] = False
    error = target - columns[:, active] @ prices[: int(active.sum())]
    return max(float(error @ error + prices @ prices / width), 1e-12), active


def _left(
    data: Data, fit: _Fit, found: Estimate, targets: Floats, spread: Floats, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """Draws of what the cure leaves, at prices and deviations that explain the steps as well."""
    gram, freedom = fit.columns.T @ fit.columns, max(3, data.visits - 3)
    noise = np.sqrt(fit.variance * freedom / rng.chisquare(freedom, draws))
    luck = rng.standard_normal((draws, len(gram))) @ _root(gram).T
    explained, every = _solve.solutions(gram, fit.columns.T @ fit.target + luck * noise[:, None])
    prices = every[explained.argmax(axis=0), np.arange(draws)]
    line = targets @ found.prices
    seconds = prices @ (fit.form.columns(targets, spread) / fit.scale).T
    if fit.bend:
        logs = np.log(targets[:, 1] / targets[:, 0])
        to = fit.bend**2 * _near(logs, data.logs)
        half = np.linalg.solve(fit.factor, to.T)
        rest = fit.bend**2 * _near(logs, logs) - half.T @ half
        free = rng.standard_normal((draws, 2)) @ _root(rest).T
        error = fit.target - prices @ fit.columns.T
        seconds = seconds + line * (error @ half + noise[:, None] * free)
    seconds = np.maximum(seconds, LEAST_LEFT * line)
    return np.asarray(np.minimum(seconds[:, 1] / seconds[:, 0], 1.0))


def _root(covariance: Floats) -> Floats:
    """A factor of the covariance, which may be singular; the same on every machine."""
    slack = 1e-9 * max(float(np.trace(covariance)), 1e-3)
    return np.asarray(np.linalg.cholesky(covariance + slack * np.eye(len(covariance))))
