"""What is known of one exercise, and how an answer to it is judged.

reference, cases, mistakes, styles  ->  a refusal that names the thought, or nothing

A thought is named only if its version is right in all earlier cases: the others would have been
refused there.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from batchlab.classroom import check, plain, verdict
from batchlab.classroom.afar import beside
from batchlab.classroom.behaviour import quietly
from batchlab.classroom.copies import copied
from batchlab.classroom.showing import worded
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._compare import How, alike, compare
from batchlab.exercises._limit import limited
from batchlab.exercises._text import built, changed, source_of
from batchlab.exercises._words import lines_of, restated

__all__ = ["By", "Exercise", "Mistake"]

T = TypeVar("T")
_tries: Counter[str] = Counter()  # failed checks in this process, by exercise


class By:
    """A case whose last arguments are handed over by name."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments, self.options = arguments, options


def _parts(case: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
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
class Exercise:
    """One exercise; see the guide of `batchlab.exercises`."""

    right: Callable[..., Any]
    points: int = 1
    hints: tuple[str, ...] = ()
    shown: list[Any] = field(default_factory=list)
    drawn: Callable[[np.random.Generator], Iterable[Any]] = lambda rng: ()
    asked: Callable[..., str] | None = None  # a case in the words of its message
    explain: Callable[..., str] | None = None  # explain(got, *case): why a value is wrong
    scene: Callable[..., Any] | None = None  # scene(answer, *case): plain data of live objects
    fault: Callable[..., str] | None = None  # fault(got, *case): empty for each right result
    mentions: Callable[..., tuple[Any, ...]] | None = None  # what the text of an error must name
    misnamed: Callable[..., str] | None = None  # misnamed(text, *case): what it must not say
    given: tuple[str, ...] = ()  # names that cells above define, which an answer may use
    tests: "tuple[Exercise, tuple[str, ...], tuple[str, ...]] | None" = None  # mistakes, styles
    share: str = ""  # thought of one minus a share from 0 to 1; adds per cent and rounding, too
    twice: bool = True  # a second call with the same case must give the same
    rel: float | None = None
    abs: float = 2e-7
    whole: bool = True  # an int is judged as a count: 3.0 is refused
    secret: bool = False
    parts: tuple[str, ...] = ()
    order: bool = True
    ints: bool = False  # a list of ints: 3.0 is none
    groups: bool = False
    passed: str = "Right."
    mistakes: list[Mistake] = field(default_factory=list)
    styles: dict[str, Callable[[], str]] = field(default_factory=dict)
    _before: dict[tuple[str, int, int], Any] = field(default_factory=dict)  # see `_once`

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

    def forget(self) -> None:
        """Begin with the first hint again."""
        _tries.pop(self.name, None)

    @property
    def _names(self) -> dict[str, Any]:
        home: dict[str, Any] = vars(inspect.getmodule(self.right))
        return home

    # ---- what an author adds -------------------------------------------------------------------

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

    # ---- judging -------------------------------------------------------------------------------

    def check(self, answer: Any, *, shown: Iterable[Any] | None = None, fresh: Any = None) -> None:
        """Refuse a wrong answer; `fresh` is a generator for cases that no page shows."""
        try:
            if self.tests:
                return self._catches(answer)
            earlier: list[Any] = []
            for case in [
                *(self.shown if shown is None else shown),
                *(self.drawn(fresh) if fresh else ()),
            ]:
                self._one(answer, case, earlier)
                earlier.append(case)
        except CheckFailed as refused:
            raise self._with_hint(refused) from None

    def _one(self, answer: Any, case: Any, earlier: list[Any]) -> None:
        arguments, options = _parts(case)
        asked = self._asked(case)
        want, error = self._outcome(self.right, case)
        seen = answer if self.scene is None else beside(self.scene, answer)
        given = arguments if self.scene is None else (answer, *arguments)
        try:
            with limited(answer, asked):
                got = check.call(
                    seen,
                    *given,
                    asked=asked,
                    twice=self.twice,
                    none=want is None and not error,
                    **options,
                )
        except CheckFailed as refused:
            if refused.kind != "raised" or refused.error is None:
                raise
            if error is not None and self._same_error(refused, error, earlier, case, asked):
                return
            came = refused.error
            likely = self._thoughts(
                earlier, case, lambda _, raised: _is(came, raised) and f"{came}" == f"{raised}"
            ) or self._thoughts(earlier, case, lambda _, raised: _is(came, raised))
            raise restated(refused, likely=likely) from None
        if error is not None:
            self._not_refused(got, error, asked, earlier, case)
        if self.fault is not None:
            return self._without_fault(got, asked, earlier, case)

        def known() -> list[tuple[Any, str]]:
            return [
                (value, one.thought)
                for one, value, raised in self._others(earlier, case)
                if raised is None
            ]

        compare(got, want, asked, self._how, known, self._because(got, case))

    @property
    def _how(self) -> How:
        return How(**{one.name: getattr(self, one.name) for one in fields(How)})

    def _once(self, what: str, version: Any, case: Any, make: Callable[[Any, Any], T]) -> T:
        """What `make` gives for a version of ours; of a shown case it is made once."""
        if not any(case is one for one in self.shown):
            return make(version, case)
        key = what, id(version), id(case)
        if key not in self._before:
            self._before[key] = make(version, case)
        found: T = self._before[key]
        return found

    def _outcome(self, version: Any, case: Any) -> tuple[Any, Exception | None]:
        """What a version of ours gives for a case, or the exception that it raises."""
        return self._once("outcome", version, case, self._ran)

    def _ran(self, version: Any, case: Any) -> tuple[Any, Exception | None]:
        arguments, options = copied(_parts(case))
        try:
            with quietly():
                if self.scene is not None:
                    return self.scene(version, *arguments, **options), None
                return version(*arguments, **options), None
        except Exception as error:
            return None, error

    def _others(
        self, earlier: list[Any], case: Any
    ) -> Iterable[tuple[Mistake, Any, Exception | None]]:
        """What the mistakes that are right in all earlier cases give for this one."""
        for one in self.mistakes:
            if all(self._agrees(one.version, before) for before in earlier):
                yield one, *self._outcome(one.version, case)

    def _agrees(self, version: Any, case: Any) -> bool:
        """Whether a version would pass a case: its value is right and its arguments stay."""
        return self._once("agrees", version, case, self._passes)

    def _passes(self, version: Any, case: Any) -> bool:
        arguments, options = _parts(case)
        (value, raised), (want, error) = (
            self._outcome(version, case),
            self._outcome(self.right, case),
        )
        try:
            if error is not None or raised is not None:
                if error is None or raised is None or not _is(raised, error):
                    return False
                self._named(raised, error, case, "")
                return True
            if self.scene is None:
                check.call(version, *arguments, asked="", twice=False, none=want is None, **options)
            if self.fault is not None:
                return not self._fault(value, case)
            compare(value, want, "", self._how, list)
        except (CheckFailed, Exception):
            return False
        return True

    def _thoughts(self, earlier: list[Any], case: Any, fits: Callable[[Any, Any], bool]) -> str:
        found = [
            one.thought for one, value, raised in self._others(earlier, case) if fits(value, raised)
        ]
        return " - or: ".join(list(dict.fromkeys(found))[:2])

    def _same_error(
        self, refused: CheckFailed, error: Exception, earlier: list[Any], case: Any, asked: str
    ) -> bool:
        """Whether the answer refuses as the reference does; its text must name what it must."""
        came = refused.error
        if not isinstance(came, Exception) or not _is(came, error):
            return False
        own = _numbers(came)
        try:
            self._named(came, error, case, asked)
        except CheckFailed as wrong:

            def fits(_: Any, raised: Any) -> bool:
                return _is(raised, error) and bool(own) and _numbers(raised) == own

            raise restated(wrong, likely=self._thoughts(earlier, case, fits)) from None
        return True

    def _named(self, came: Exception, error: Exception, case: Any, asked: str) -> None:
        """Refuse an error whose text lacks what it must name, or says what it must not."""
        arguments, options = _parts(case)
        wished = self.mentions(*arguments, **options) if self.mentions else ()

        def again() -> None:
            raise came

        check.raises(again, asked=asked, kind=type(error), contains=wished)
        wrong = self.misnamed(worded(came), *arguments, **options) if self.misnamed else ""
        if wrong:
            verdict.refuse(asked, f"the message {worded(came)[:120]!r}", wrong)

    def _not_refused(
        self, got: Any, error: Exception, asked: str, earlier: list[Any], case: Any
    ) -> None:
        """Refuse a value where an exception is right."""

        def fits(value: Any, raised: Any) -> bool:
            return raised is None and alike(got, value, self._how)

        likely = self._thoughts(earlier, case, fits) or f"refuse, never round: {worded(error)}"
        came = plain.shown(got) if self.scene is None else "no refusal"
        verdict.refuse(asked, f"{came}; a {type(error).__name__} is needed", likely)

    def _without_fault(self, got: Any, asked: str, earlier: list[Any], case: Any) -> None:
        said = self._fault(got, case)
        if not said:
            return

        def whole(value: Any, raised: Any) -> bool:
            return raised is None and alike(got, value, self._how)

        def words(value: Any, raised: Any) -> bool:
            return raised is None and self._fault(value, case) == said

        def both(value: Any, raised: Any) -> bool:
            return whole(value, raised) and words(value, raised)

        fitting = (self._thoughts(earlier, case, one) for one in (both, whole, words))
        likely = next(filter(None, fitting), "") or self._because(got, case)
        verdict.refuse(asked, said, likely)

    def _fault(self, got: Any, case: Any) -> str:
        """What is wrong with a result, in words; the same words mean the same mistake."""
        arguments, options = _parts(case)
        try:
            return self.fault(got, *arguments, **options) if self.fault else ""
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            return f"{plain.shown(got)}, which is not as asked: {worded(error)}"

    def _because(self, got: Any, case: Any) -> str:
        arguments, options = _parts(case)
        try:
            return self.explain(got, *arguments, **options) if self.explain else ""
        except Exception:  # of a value that it does not know
            return ""

    def _catches(self, test: Any) -> None:
        """Judge a student's test by the wrong and the right versions of another exercise."""
        of, names, styles = self.tests or (self, (), ())
        wrong = {
            one.thought.partition(":")[0]: one.version
            for one in of.mistakes
            if {one.name, one.thought} & {*names}
        }
        right = [of.right, *(built(of.styles[one](), of.name, of._names) for one in styles)]
        asked = f"your test of {of.name}"
        assert len(wrong) == len(names), (
            f"{self.name}: {len(names)} bugs are named, {len(wrong)} found"
        )
        with limited(test, asked):
            check.finds_bugs(test, right=right, wrong=wrong, asked=asked)

    def _asked(self, case: Any) -> str:
        arguments, options = _parts(case)
        if self.asked:
            return self.asked(*arguments, **options)
        said = [plain.shown(one) for one in arguments]
        said += [f"{name}={plain.shown(one)}" for name, one in options.items()]
        return f"{self.name}({', '.join(said)})"

    def _with_hint(self, refused: CheckFailed) -> CheckFailed:
        """The refusal with one hint more at each try; a blank uses up none."""
        hint = ""
        if self.hints and refused.kind != "blank" and "try" not in lines_of(refused):
            hint = self.hints[min(_tries[self.name], len(self.hints) - 1)]
            _tries[self.name] += 1
        return restated(refused, hint=hint)


def _is(error: BaseException | None, kind: BaseException | None) -> bool:
    """Whether an error is of the kind of another; by name, since it may come from afar."""
    names = {base.__name__ for base in type(error).__mro__}
    return error is not None and kind is not None and type(kind).__name__ in names


def _numbers(error: BaseException | None) -> list[str]:
    """The numbers in the text of an error: two texts in other words may name the same."""
    return re.findall(r"\d+", worded(error).replace(",", "")) if error else []
