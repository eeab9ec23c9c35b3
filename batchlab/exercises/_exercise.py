"""Judge an answer to an exercise.

an answer, cases  ->  a refusal that names the thought, or nothing

A thought is named only if its version is right in all earlier cases: the others would have been
refused there.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from itertools import chain
from typing import Any, TypeVar

from batchlab.classroom import check, plain, term, verdict
from batchlab.classroom.afar import beside
from batchlab.classroom.behaviour import quietly
from batchlab.classroom.copies import copied
from batchlab.classroom.showing import worded
from batchlab.classroom.verdict import CheckFailed
from batchlab.exercises._compare import How, alike, compare
from batchlab.exercises._hints import forget, hinted
from batchlab.exercises._known import By, Known, Mistake, parts_of
from batchlab.exercises._limit import limited
from batchlab.exercises._words import lines_of, restated

__all__ = ["By", "Exercise", "Mistake"]

T = TypeVar("T")


class Exercise(Known):
    """One exercise, and its judge; see the guide of `batchlab.exercises`."""

    def forget(self) -> None:
        """Begin with the first hint again."""
        forget(self.name)

    def check(self, answer: Any, *, shown: Iterable[Any] | None = None, fresh: Any = None) -> None:
        """Refuse a wrong answer.

        fresh  a generator for cases that no page shows, or what makes one when they are needed
        """
        try:
            if self.tests:
                return self._catches(answer)
            earlier: list[Any] = []
            for case in self.shown if shown is None else shown:
                self._one(answer, case, earlier)
                earlier.append(case)
            with self._hidden():
                for case in self.fresh(fresh() if callable(fresh) else fresh) if fresh else ():
                    self._one(answer, case, earlier)
                    earlier.append(case)
        except CheckFailed as refused:
            raise hinted(self.name, self.hints, refused) from None

    @contextmanager
    def _hidden(self) -> Iterator[None]:
        """Mark a refusal in a case that no page shows: its words tell the case."""
        try:
            yield
        except CheckFailed as refused:
            likely = lines_of(refused).get("likely", "")
            known = {one.thought for one in self.mistakes}
            refused.fresh = likely if {*likely.split(" - or: ")} <= known else ""
            raise
        except Exception as error:
            error.fresh = ""  # type: ignore[attr-defined]
            raise

    def _one(self, answer: Any, case: Any, earlier: list[Any]) -> None:
        arguments, options = self.met(case)
        asked = self.words(case)
        want, error = self._outcome(self.right, case)
        seen = answer if self.scene is None else beside(self.scene, answer)
        given = arguments if self.scene is None else (answer, *arguments)
        try:
            with limited(answer, asked, self.seconds):
                got = check.call(
                    seen,
                    *given,
                    asked=asked,
                    twice=self.twice,
                    none=want is None,
                    **options,
                )
        except CheckFailed as refused:
            if (
                refused.kind == "slow"
                and self.endless
                and (why := self.endless(*parts_of(case)[0]))
            ):
                raise restated(refused, likely=why) from None
            if refused.kind != "raised" or refused.error is None:
                raise
            if error is not None and self._same_error(refused, error, earlier, case, asked):
                return
            came = refused.error
            likely = self._thoughts(
                earlier, case, lambda _, raised: _is(came, raised) and f"{came}" == f"{raised}"
            )
            if not likely and not (_is(came, KeyError()) or _is(came, RuntimeError())):
                # another key, or other words of torch, are another mistake
                likely = self._thoughts(earlier, case, lambda _, raised: _is(came, raised))
            if not likely and error is not None:
                likely = f"this case must be refused by a {type(error).__name__}"
            raise restated(refused, likely=likely) from None
        got = self.beheld(got, *arguments) if self.beheld else got
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

        compare(got, want, asked, self._how, known, lambda: self._because(got, case))

    @property
    def _how(self) -> How:
        return How(**{one.name: getattr(self, one.name) for one in fields(How)})

    def _once(self, what: str, version: Any, case: Any, make: Callable[[Any, Any], T]) -> T:
        """What `make` gives for a version of ours; of a known case it is made once a term."""
        if not any(case is one for one in chain(self.shown, *self.foreseen.values())):
            return make(version, case)
        key = what, id(version), id(case), term.seed()  # what `meets` makes may be drawn from it
        if key not in self._before:
            self._before[key] = make(version, case)
        found: T = self._before[key]
        return found

    def _outcome(self, version: Any, case: Any) -> tuple[Any, Exception | None]:
        """What a version of ours gives for a case, or the exception that it raises."""
        return self._once("outcome", version, case, self._ran)

    def _ran(self, version: Any, case: Any) -> tuple[Any, Exception | None]:
        arguments, options = copied(self.met(case))
        try:
            with quietly():
                if self.scene is not None:
                    report = self.scene(version, *arguments, **options)
                    return self.beheld(report, *arguments) if self.beheld else report, None
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
        arguments, options = parts_of(case)
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
        except Exception:
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

            likely = self._thoughts(earlier, case, fits) or self._misnamed(came, case)
            raise restated(wrong, likely=likely) from None
        return True

    def _named(self, came: Exception, error: Exception, case: Any, asked: str) -> None:
        """Refuse an error whose text lacks what it must name, or says what it must not."""
        arguments, options = parts_of(case)
        wished = self.mentions(*arguments, **options) if self.mentions else ()

        def again() -> None:
            raise came

        check.raises(again, asked=asked, kind=type(error), contains=wished)
        if wrong := self._misnamed(came, case):
            verdict.refuse(asked, f"the message {worded(came)[:120]!r}", wrong)

    def _misnamed(self, came: Exception, case: Any) -> str:
        """What else is wrong with the text of a refusal; it is the cause of what the text lacks."""
        arguments, options = parts_of(case)
        return self.misnamed(worded(came), *arguments, **options) if self.misnamed else ""

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
            return bool(words_of(value, raised)) and alike(got, value, self._how)

        def words_of(value: Any, raised: Any) -> str:
            return "" if raised else self._fault(value, case)

        def words(value: Any, raised: Any) -> bool:
            return words_of(value, raised) == said

        def both(value: Any, raised: Any) -> bool:
            return whole(value, raised) and words(value, raised)

        fitting = (self._thoughts(earlier, case, one) for one in (both, whole, words))
        likely = next(filter(None, fitting), "") or self._because(got, case)
        verdict.refuse(asked, said, likely)

    def _fault(self, got: Any, case: Any) -> str:
        """What is wrong with a result, in words; the same words mean the same mistake."""
        arguments, options = parts_of(case)
        try:
            return self.fault(got, *arguments, **options) if self.fault else ""
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
            return f"{plain.shown(got)}, which is not as asked: {worded(error)}"

    def _because(self, got: Any, case: Any) -> str:
        arguments, options = parts_of(case)
        try:
            return self.explain(got, *arguments, **options) if self.explain else ""
        except Exception:  # of a value that it does not know
            return ""

    def _catches(self, test: Any) -> None:
        """Judge a student's test by the wrong and the right versions of another exercise."""
        of, names, styles = self.tests or (self, (), ())
        wrong = {
            one.thought.partition(":")[0]: of.of(one.text)  # in fresh state
            for one in of.mistakes
            if {one.name, one.thought} & {*names}
        }
        right = [of.right, *(of.of(of.styles[one]()) for one in styles)]
        asked = f"your test of {of.name}"
        assert len(wrong) == len(names), (
            f"{self.name}: {len(names)} bugs are named, {len(wrong)} found"
        )
        try:
            with limited(test, asked):
                check.finds_bugs(test, right=right, wrong=wrong, asked=asked, asserts=self.asserts)
        except CheckFailed as refused:
            likely = self._because(lines_of(refused).get("got", ""), ())
            raise restated(refused, likely=likely) from None

    def words(self, case: Any) -> str:
        """A case in the words of its message."""
        arguments, options = parts_of(case)
        if self.asked:
            return self.asked(*arguments, **options)
        said = [plain.shown(one) for one in arguments]
        said += [f"{name}={plain.shown(one)}" for name, one in options.items()]
        return f"{self.name}({', '.join(said)})"


def _is(error: BaseException | None, kind: BaseException | None) -> bool:
    """Whether an error is of the kind of another; by name, since it may come from afar."""
    names = {base.__name__ for base in type(error).__mro__}
    return error is not None and kind is not None and type(kind).__name__ in names


def _numbers(error: BaseException | None) -> list[str]:
    """The numbers in the text of an error: two texts in other words may name the same."""
    return re.findall(r"\d+", worded(error).replace(",", "")) if error else []
