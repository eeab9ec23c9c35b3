"""What is known of an exercise: reference, cases, mistakes, other right ways.

versions and edits, as an author adds them  ->  text and function of each
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from batchlab.exercises._text import built, changed, source_of

__all__ = ["By", "Known", "Mistake", "parts_of"]

T = TypeVar("T")


class By:
    """A case whose last arguments are handed over by name."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments, self.options = arguments, options


def parts_of(case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (case.arguments, case.options) if isinstance(case, By) else (tuple(case), {})


@dataclass
class Mistake:
    """A wrong version: the thought behind it, its text, and words that its refusal must hold."""

    thought: str
    says: str
    name: str  # of its function; empty for an edit
    make: Callable[[], str]
    names: dict[str, Any]
    answer: str  # name of the exercise's function

    @cached_property
    def text(self) -> str:
        """The version as an answer cell."""
        return self.make()

    @cached_property
    def version(self) -> Callable[..., Any]:
        """The version as a function or a class."""
        made: Callable[..., Any] = built(self.text, self.answer, self.names)
        return made


@dataclass
class Known:
    """The fields of an exercise; see the guide of `batchlab.exercises`."""

    right: Callable[..., Any]
    points: int = 1
    hints: tuple[str, ...] = ()
    shown: list[Any] = field(default_factory=list)
    drawn: Callable[[np.random.Generator], Iterable[Any]] = lambda rng: ()
    asked: Callable[..., str] | None = None  # a case in the words of its message
    explain: Callable[..., str] | None = None  # explain(got, *case): why a value is wrong
    endless: Callable[..., str] | None = None  # endless(*case): why an answer may never return
    seconds: float = 20.0  # CPU seconds that a call may take
    scene: Callable[..., Any] | None = None  # scene(answer, *case): plain data of live objects
    meets: Callable[..., tuple[Any, ...]] | None = None  # what a scene gets in place of the case
    beheld: Callable[..., Any] | None = None  # beheld(report, *met): with what was seen over here
    fault: Callable[..., str] | None = None  # fault(got, *case): empty for each right result
    mentions: Callable[..., tuple[Any, ...]] | None = None  # what the text of an error must name
    misnamed: Callable[..., str] | None = None  # misnamed(text, *case): what it must not say
    given: tuple[str, ...] = ()  # names that cells above define, which an answer may use
    tests: "tuple[Any, tuple[str, ...], tuple[str, ...]] | None" = None  # of which, bugs, styles
    asserts: bool = False  # a test that returns False has refused nothing
    share: str = ""  # thought of one minus a share from 0 to 1; adds per cent and rounding, too
    twice: bool = True  # a second call with the same case must give the same
    rel: float | None = None
    abs: float = 2e-7
    whole: bool = True  # an int is judged as a count: 3.0 is refused
    secret: bool = False
    parts: tuple[str, ...] = ()
    order: bool = True
    ints: bool = False  # a list of ints: 3.0 is none
    diverges: bool = False  # nan and inf say the same: a training that diverged shows
    groups: bool = False
    passed: str = "Right."
    mistakes: list[Mistake] = field(default_factory=list)
    styles: dict[str, Callable[[], str]] = field(default_factory=dict)
    foreseen: dict[str, list[Any]] = field(default_factory=dict)  # by the state of what draws them
    _before: dict[tuple[str, int, int, str], Any] = field(default_factory=dict)  # see `_once`

    def __post_init__(self) -> None:
        if self.share:
            self._dressed("in per cent: a share lies between 0 and 1", "100 * (")
            self._dressed(self.share, "1 - (")
            self._dressed("rounded: give all digits", "round(", ", 2)")
            self._dressed("rounded to six digits: give all", "round(", ", 6)")

    @property
    def name(self) -> str:
        """What the student's function or class is called."""
        return self.right.__name__

    @property
    def text(self) -> str:
        """The reference as an answer cell."""
        return source_of(self.right, self.name)

    def of(self, text: str) -> Any:
        """What the text of an answer cell defines, among the names of the exercise's file."""
        return built(text, self.name, self._names)

    def met(self, case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a call for a case is given beside the answer, in order and by name."""
        arguments, options = parts_of(case)
        return (self.meets(*arguments, **options), {}) if self.meets else (arguments, options)

    def fresh(self, rng: np.random.Generator, *, keep: bool = False) -> Iterable[Any]:
        """The cases that a generator draws; of a state whose cases were kept, those very ones."""
        state = str(rng.bit_generator.state)
        if keep:
            self.foreseen[state] = [*self.drawn(rng)]
        return self.foreseen.get(state) or self.drawn(rng)

    @property
    def _names(self) -> dict[str, Any]:
        home: dict[str, Any] = vars(inspect.getmodule(self.right))
        return home

    @property
    def above(self) -> dict[str, Any]:
        """What the cells above an answer define for it, by name."""
        return {one: self._names[one] for one in self.given}

    def mistake(self, version: Any = None, *, says: str = "") -> Any:
        """Add a wrong version whose docstring is the thought; `says`: words of its refusal."""
        if version is None:
            return lambda one: self.mistake(one, says=says)
        thought = " ".join((inspect.getdoc(version) or "").split())
        self._add(thought, says, lambda: source_of(version, self.name), version.__name__)
        return version

    def edit(self, thought: str, changes: list[tuple[str, str]], *, says: str = "") -> None:
        """Add a mistake as the reference with parts replaced; each stands there exactly once."""
        self._add(thought, says, lambda: changed(self.text, changes, f"{self.name}, {thought!r}"))

    def style(self, version: T) -> T:
        """Add another right way; its docstring says which."""
        said = " ".join((inspect.getdoc(version) or version.__name__).split())  # type: ignore[attr-defined]
        self.styles[said] = lambda: source_of(version, self.name)
        return version

    def _dressed(self, thought: str, before: str, after: str = ")") -> None:
        """Add a generic mistake: the last line's value in other clothes."""

        def text() -> str:
            head, _, value = self.text.rstrip().rpartition("    return ")
            return f"{head}    return {before}{value}{after}\n"

        self._add(thought, "", text)

    def _add(self, thought: str, says: str, make: Callable[[], str], name: str = "") -> None:
        one = Mistake(thought, says or thought, name, make, self._names, self.name)
        self.mistakes.append(one)
