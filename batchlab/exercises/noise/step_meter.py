"""Build: a meter that hears the noise scale of an ordinary run."""

from math import inf

from batchlab.exercises import By, Exercise
from batchlab.exercises.noise import two_norms


class StepMeter:
    """Hears the gradients of a training; keeps a reading of each step in self.readings."""

    def __init__(self):
        self.pieces = 0.0  # of this step: the squared norms of its pieces, added up
        self.sums = {}  # of this step: parameter -> squared norm of the sum of its pieces
        self.readings = []

    def made(self, gradient):
        """Hook: a backward pass has made this gradient of one parameter."""
        self.pieces += float(gradient.square().sum())

    def added(self, parameter):
        """Hook: parameter.grad is the sum of the pieces so far."""
        self.sums[parameter] = float(parameter.grad.square().sum())

    def stepped(self, count, rows):
        """A step of `count` micro-batches of `rows` sequences is over; begin the next one."""
        small, big = count * self.pieces, sum(self.sums.values())
        self.readings.append(two_norms(small, big, rows, count * rows))
        self.pieces, self.sums = 0.0, {}


def scene(answer, windows, **options):
    """What a meter reads of windows of rows, given as their target tokens, and what it changes."""
    from batchlab.exercises.noise import bench

    return bench.seen(answer, windows, **options)


def asked(windows, max_norm=inf):
    shape = f"{len(windows[0])} micro-batches of {len(windows[0][0])}"
    steps = "a step" if len(windows) == 1 else f"{len(windows)} steps, the first"
    said = f"a meter beside {steps} of {shape} sequences"
    return said + (f", clipped to {max_norm:g}" if max_norm < inf else "")


def drawn(rng):
    for norm in (inf, 0.02, 1.0, 100.0):
        windows = []
        for _ in range(rng.integers(1, 6)):
            rows, count = int(rng.integers(1, 5)), int(rng.integers(2, 6))
            windows.append([rng.integers(1, 13, rows).tolist() for _ in range(count)])
        yield By(windows, max_norm=norm)


FOUR = [[[3, 8], [5, 2], [6, 4], [1, 7]]]
STEPS = [[[3, 8, 5], [5, 2, 2]], [[6, 4], [1, 7], [9, 2]], [[4], [9], [2], [3]], [[2, 8], [5, 6]]]
SELDOM = [[[3, 8], [5, 2]], [[10, 2], [11, 3]], [[6, 4], [1, 7]]]  # the second skips the bias

exercise = Exercise(
    StepMeter,
    points=4,
    scene=scene,
    asked=asked,
    drawn=drawn,
    given=("two_norms",),
    rel=1e-4,
    abs=1e-9,
    hints=(
        "made: self.pieces += float(gradient.square().sum())",
        "added: keep the same of parameter.grad under self.sums[parameter]; the last one is of the whole step",
        "stepped: two_norms(count * self.pieces, sum(self.sums.values()), rows, count * rows); then empty both",
    ),
    shown=[(FOUR,), By(FOUR, max_norm=0.3), (STEPS,), (SELDOM,)],
    passed="Right: a noise scale from an ordinary run, at no cost but two norms.",
)
MADE = "        self.pieces += float(gradient.square().sum())"
ADDED = "        self.sums[parameter] = float(parameter.grad.square().sum())"
PAIR = "two_norms(small, big, rows, count * rows)"
KEPT = f"        self.readings.append({PAIR})"
SMALL, BIG = "count * self.pieces", "sum(self.sums.values())"
EMPTY = "        self.pieces, self.sums = 0.0, {}"
SQUARED = "a *squared* norm is asked: the sum of the squares of all numbers in a gradient"
SHAPE = "each step appends one pair (|G|², trace), as two_norms returns it"
ALL = "one call hears one parameter: the squared norms of all of them add up"
for _thought, *_changes in [
    ("pieces are shares of the step: K times their sum is the mean squared norm of micro-batches", (SMALL, "self.pieces")),
    ("a piece is 1/K of its micro-batch's gradient: K times the sum, do not divide by K", (SMALL, "self.pieces / count")),
    ("K² makes the *sum* of the micro-batches' squared norms: K times makes their mean", (SMALL, "count**2 * self.pieces")),
    ("small and big are exchanged: small is of the micro-batches", (PAIR, "two_norms(big, small, rows, count * rows)")),
    ("the small batch has `rows` sequences, the step count * rows: micro-batches were counted", (PAIR, "two_norms(small, big, 1, count)")),
    ("`rows` are the sequences of a micro-batch, not of the step", (PAIR, "two_norms(small, big, rows / count, rows)")),
    ("`count` and `rows` are exchanged: a micro-batch has `rows` sequences", (PAIR, "two_norms(small, big, count, count * rows)")),
    ("the step has count * rows sequences: `count` are its micro-batches", (PAIR, "two_norms(small, big, rows, count)")),
    (SQUARED, (PAIR, "two_norms(small**0.5, big**0.5, rows, count * rows)")),
    (SQUARED, (MADE, MADE.replace("square().sum", "norm")), (ADDED, ADDED.replace("square().sum", "norm"))),
    (SQUARED, (MADE, MADE.replace("square().sum", "norm"))),
    (SQUARED, (ADDED, ADDED.replace("square().sum", "norm"))),
    (SQUARED, (MADE, MADE.replace("square().sum()", "sum()) ** 2")[:-1]), (ADDED, ADDED.replace("square().sum()", "sum()) ** 2")[:-1])),
    ("the sum of the squares, not their mean: parameters have unlike sizes", (MADE, MADE.replace("sum()", "mean()")), (ADDED, ADDED.replace("sum()", "mean()"))),
    (ALL, (MADE, MADE.replace("+=", "="))),
    (ALL, (ADDED, "        self.sums = {0: float(parameter.grad.square().sum())}")),
    ("parameter.grad is the sum *so far*: keep the last norm, do not add them up", (ADDED, "        self.sums[parameter] = self.sums.get(parameter, 0.0) + float(parameter.grad.square().sum())")),
    ("parameter.grad is the sum *so far*: keep the last norm, not the largest", (ADDED, "        self.sums[parameter] = max(self.sums.get(parameter, 0.0), float(parameter.grad.square().sum()))")),
    ("parameter.grad is the sum *so far*: keep the last norm, not the first", (ADDED, "        self.sums.setdefault(parameter, float(parameter.grad.square().sum()))")),
    ("the pieces come to `made`; parameter.grad holds their sum so far", (MADE, "        pass"), (ADDED, ADDED + "\n        self.pieces += self.sums[parameter]")),
    ("the norm of the step was read after clipping: keep it in `added`, before", (ADDED, "        self.sums[parameter] = parameter"), (BIG, "sum(float(p.grad.square().sum()) for p in self.sums)")),
    ("`pieces` of the steps before are still in the sum: set it to 0 behind each reading", (EMPTY, "        self.sums = {}")),
    ("a parameter without a gradient in this step still has its old norm: empty `sums`", (EMPTY, "        self.pieces = 0.0")),
    ("`pieces` of the steps before are still in the sum: set it to 0 behind each reading", (EMPTY, "        pass")),
    ("a gradient was changed on its way: square() and not square_()", (MADE, MADE.replace("square()", "square_()"))),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (SHAPE, "no pairs", (KEPT, "        squared, trace = two_norms(small, big, rows, count * rows)\n        self.readings.append(trace / squared)")),
    (SHAPE, "no pairs", (KEPT, f"        self.readings.extend({PAIR})")),
    ("a reading below 0 is luck, too: keep it", "readings after", (KEPT, f"        reading = {PAIR}\n        if min(reading) > 0:\n            self.readings.append(reading)")),
    ("the readings of all steps are kept: append", "1 readings after", (KEPT, f"        self.readings = [{PAIR}]")),
    ("self.readings keeps a pair of every step: append it, and never empty the list", "0 readings after", (EMPTY, "        self.__init__()")),
    ("a hook returns nothing: what it returns would replace the gradient", "hook returned", (MADE, MADE + "\n        return self.pieces")),
]:  # fmt: skip
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
class Gathered:
    """tensors are kept, and their norms taken at the end"""

    def __init__(self):
        self.pieces, self.sums, self.readings = [], {}, []

    def made(self, gradient):
        self.pieces.append(gradient.detach().norm() ** 2)

    def added(self, parameter):
        self.sums[parameter] = parameter.grad.detach().clone()

    def stepped(self, count, rows):
        big = sum(one.pow(2).sum() for one in self.sums.values())
        self.readings += [two_norms(count * sum(self.pieces), big, rows, count * rows)]
        self.pieces.clear()
        self.sums.clear()


@exercise.style
class ByItem:
    """norms by item, keys by id, readings as lists"""

    def __init__(self):
        self.pieces, self.sums, self.readings = 0.0, {}, []

    def made(self, gradient):
        self.pieces = self.pieces + (gradient.float() ** 2).sum().item()

    def added(self, parameter):
        self.sums.update({id(parameter): parameter.grad.norm().item() ** 2})

    def stepped(self, count, rows):
        total = count * rows
        small = self.pieces / (1 / count)
        self.readings.append([*two_norms(small, sum(self.sums.values()), rows, total)])
        self.pieces = 0
        self.sums = dict()
