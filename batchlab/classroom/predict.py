"""Commit to a number before the run, then see both, and how far off guesses usually are.

    guess  ->  kept until the run  ->  guess, truth, and a list that grows through the course

The distance is a factor: 2 too high and 2 too low are equally far. The list stands in one small
file of the user's cache folder, or in memory where that cannot be written. Nothing here fails:
a lesson runs from top to bottom with no guess at all.

In the pages of the book (BATCHLAB_BOOK=1) no kernel runs: there a guess is a box that commits, kept
by the browser, and what it is about stays covered until then (`batchlab/web/predict.js`).
"""

import json
import math
import os
import sys
from datetime import date
from pathlib import Path
from typing import Any

from batchlab.classroom import plain
from batchlab.classroom.opening import grading
from batchlab.classroom.showing import figures
from batchlab.widgets import Scripted

__all__ = ["calibration", "forget", "number", "reveal"]

SHOWN = 6  # guesses of the list that a reveal prints
LARGEST = 1e150  # products and quotients of such numbers are still floats
_memory: dict[str, dict[str, Any]] = {}
_units: dict[str, str] = {}  # of the predictions of a page


def number(
    key: str,
    guess: float | None = None,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
) -> None:
    """Keep a guess for `reveal`; the last one before the run counts, None is no guess yet."""
    if _on_a_page():
        _units[key] = unit
        _display(Prediction(key, unit=unit, low=low, high=high))
        return
    if guess is None:
        _keep(key, {"guess": None, "unit": unit})
        print("No guess yet: write a number in place of None. A wrong one teaches more than none.")
        return
    try:
        value = plain.number(guess)
    except plain.NotPlain as problem:
        print(f"A guess is one number; this is {problem.got.split(';')[0]}.")
        return
    below, above = low is not None and value < low, high is not None and value > high
    if _usable(value) is None or below or above:
        between = f"it lies between {_bound(low)} and {_bound(high)}"
        print(f"{figures(value)} cannot be: {between}. Guess again.")
        return
    _keep(key, {"guess": value, "unit": unit})
    print(f"Your guess: {_said(value, unit)}. Now run on.")


def reveal(key: str, truth: float) -> None:
    """Print guess and truth, and the guesses so far with the factor between the two."""
    try:
        found = plain.number(truth)
    except plain.NotPlain as problem:
        print(f"There is no number to compare with: {problem.got}.")
        return
    if (value := _usable(found)) is None:
        print(f"It is {figures(found)}: no guess compares with that.")
        return
    entry = _all().get(key, {})
    if _on_a_page():
        _display(Prediction(key, unit=_units.get(key, ""), truth=value))
        return
    guess, unit = _usable(entry.get("guess")), str(entry.get("unit", ""))
    if guess is None:
        print(f"It is {_said(value, unit)}. You made no guess: next time, commit to one first.")
        return
    print(f"You guessed {guess:.4g}, it is {_said(value, unit)}: {_distance(guess, value)}.")
    _keep(key, {**entry, "truth": value, "day": date.today().isoformat()})
    known = calibration()
    if len(known) < 2:
        return
    print("Your guesses so far:")
    for name, said, was, _ in known[-SHOWN:]:
        print(f"  {name:<24} guess {said:>10.4g}   truth {was:>10.4g}   {_distance(said, was)}")
    factors = sorted(abs(math.log(factor)) for *_, factor in known if factor > 0)
    if factors:
        typical = math.exp(factors[len(factors) // 2])
        print(f"Half of your guesses lie within a factor of {typical:.2g}.")


def calibration() -> list[tuple[str, float, float, float]]:
    """Key, guess, truth and guess / truth of every revealed guess, oldest first.

    The factor is 0 where it says nothing: a guess or a truth of zero or of another sign.
    """
    found = []
    for key, entry in _all().items():
        guess, truth = _usable(entry.get("guess")), _usable(entry.get("truth"))
        if guess is not None and truth is not None:
            found.append((key, guess, truth, guess / truth if guess * truth > 0 else 0.0))
    return found


def forget(key: str | None = None) -> None:
    """Drop one guess, or all of them."""
    entries = {} if key is None else {k: v for k, v in _all().items() if k != key}
    _memory.clear()
    _memory.update(entries)
    _write(entries)


class Prediction(Scripted):
    """One half of a prediction on a page: the box for a guess, or with a truth what it was."""

    script = "predict.js"
    kept = ("guess",)

    def __init__(
        self,
        key: str,
        *,
        unit: str,
        low: float | None = None,
        high: float | None = None,
        truth: float | None = None,
    ) -> None:
        self.key, self.unit, self.bounds, self.truth = key, unit, (low, high), truth

    def __repr__(self) -> str:
        if self.truth is not None:
            return f"It is {_said(self.truth, self.unit)}."
        return f"Your guess {self.unit}".strip() + "?"

    def kept_as(self) -> str:
        return self.key if self.truth is None else ""

    def traits(self) -> dict[str, Any]:
        low, high = self.bounds
        given = {"key": self.key, "unit": self.unit, "low": low, "high": high}
        return given | {"truth": self.truth, "guess": None}


def _on_a_page() -> bool:
    """Whether the book is being made: what is shown must work without a kernel."""
    return bool(os.environ.get("BATCHLAB_BOOK"))


def _display(shown: Prediction) -> None:
    from IPython.display import display

    display(shown)  # type: ignore[no-untyped-call]


def _usable(value: object) -> float | None:
    """A number as a float, if it is one that can be multiplied, divided and written."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    size = abs(value)
    return float(value) if size == 0 or 1 / LARGEST < size < LARGEST else None


def _distance(guess: float, truth: float) -> str:
    if math.isclose(guess, truth, rel_tol=0.02):
        return "as good as exact"
    if guess * truth <= 0:
        return f"off by {abs(guess - truth):.3g}"
    factor = guess / truth
    return f"{factor:.3g} times too high" if factor > 1 else f"{1 / factor:.3g} times too low"


def _said(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".strip()


def _bound(value: float | None) -> str:
    return "any number" if value is None else f"{value:g}"


def _path() -> Path:
    """The file of guesses; BATCHLAB_CACHE names another folder."""
    if chosen := os.environ.get("BATCHLAB_CACHE"):
        return Path(chosen) / "guesses.json"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or "~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = Path("~/Library/Caches")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return base.expanduser() / "batchlab" / "guesses.json"


def _all() -> dict[str, dict[str, Any]]:
    stored: Any = {}
    if not grading():
        try:
            stored = json.loads(_path().read_text(encoding="utf-8"))
        except (OSError, ValueError, RuntimeError):  # missing, unreadable, damaged, no home
            stored = {}
    entries = stored if isinstance(stored, dict) else {}
    return {k: v for k, v in {**entries, **_memory}.items() if isinstance(v, dict)}


def _keep(key: str, entry: dict[str, Any]) -> None:
    entries = _all()
    for kept in (entries, _memory):
        kept.pop(key, None)  # what was guessed last stands last
        kept[key] = entry
    _write(entries)


def _write(entries: dict[str, dict[str, Any]]) -> None:
    if grading():
        return
    try:
        path = _path()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(entries, indent=1), encoding="utf-8")
        draft.replace(path)
    except (OSError, ValueError, RuntimeError):
        return  # what was guessed stays in memory
