"""Grade a class: every submission that has no grade yet, and nothing twice.

    course, submissions  ->  records on disk  ->  Run: the class, and who needs a look

A run may be killed at any moment: the next one goes on from the records. What a record's key
stands for is not graded again, unless `again` asks; a grade that failed by our own fault is.

Words
    crew    the processes that grade one lesson
    strays  submissions of which nobody can say whose lesson they are
"""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from batchlab.grading import _record as record
from batchlab.grading._course import ISOLATIONS, Course, Lesson, fingerprint
from batchlab.grading._crew import Crew, Worker
from batchlab.grading._inbox import Submission
from batchlab.grading._items import Unreadable
from batchlab.grading._record import Record
from batchlab.grading._verdict import Judged

__all__ = ["Run", "grade"]

Report = Callable[[int, int, str], None]
TRIES = 2  # a worker may die of a machine's whim once
LOST = 5  # workers that end with nothing in hand, before the run is given up
STUCK_SECONDS = 3600.0  # the engine has its own limits; this one is for the engine itself


@dataclass
class Run:
    """What a run did; the grades themselves stand in the records."""

    graded: int = 0
    kept: int = 0  # an equal key: nothing to do
    seconds: float = 0.0
    levels: dict[str, str] = field(default_factory=dict)  # by lesson
    lacking: tuple[str, ...] = ()  # why no better level stands
    strays: tuple[Submission, ...] = ()
    touched: set[tuple[str, str]] = field(default_factory=set)  # lesson and student


@dataclass
class _Task:
    submission: Submission
    digest: str
    notebook: bytes
    tries: int = 1


def grade(
    course: Course,
    submissions: list[Submission],
    *,
    seed: str | None,
    workers: int = 1,
    again: bool = False,
    isolation: str = "",
    report: Report = lambda done, of, text: None,
    engine: str = "",
    limits: Mapping[str, float] | None = None,
) -> Run:
    """Grade what has no grade yet, lesson by lesson; one run at a time in a folder.

    isolation  the least level that is accepted; that of the course without a word
    again      grade anew what has a grade, and keep both records
    """
    run, begun = Run(), time.perf_counter()
    placed = [one for one in submissions if one.lesson]
    run.strays = tuple(one for one in submissions if not one.lesson)
    with record.locked(course.graded):
        for name in sorted({one.lesson for one in placed}):
            mine = [one for one in placed if one.lesson == name]
            lesson = course.lesson(name)
            with Crew(lesson, seed=seed, engine=engine, limits=limits) as crew:
                desk = _Desk(course, lesson, crew, run, again, fingerprint(seed), len(placed))
                desk.report = report
                if not desk.has_all(mine, isolation or course.isolation):
                    desk.greet(isolation or course.isolation)
                    desk.work(mine, workers)
    run.seconds = time.perf_counter() - begun
    return run


class _Desk:
    """One lesson on its way: what waits, who works, what is written."""

    def __init__(
        self,
        course: Course,
        lesson: Lesson,
        crew: Crew,
        run: Run,
        again: bool,
        seed: str,
        of: int,
    ) -> None:
        self.course, self.lesson, self.crew, self.run = course, lesson, crew, run
        self.again, self.seed, self.of = again, seed, of
        self.greeting: dict[str, Any] = {}
        self.report: Report = lambda done, of, text: None
        self.lost = 0
        self.lacking: tuple[str, ...] = ()

    def has_all(self, submissions: list[Submission], isolation: str) -> bool:
        """Whether every grade stands already, each at a level that is accepted: nothing to start.

        Where anything is to be graded, what was graded at another level than now is, too.
        """
        foreseen = None if self.again else self.crew.foreseen()
        levels = set()
        for one in submissions if foreseen else ():
            content, fault = _content(one)
            digest = hashlib.sha256(content).hexdigest() if not fault else ""
            level = self._level_of(one, digest, foreseen or {})
            if level not in ISOLATIONS[: ISOLATIONS.index(isolation) + 1]:
                return False
            levels.add(level)
        if foreseen is None:
            return False
        self.run.kept += len(submissions)
        self.run.touched |= {(one.lesson, one.student) for one in submissions}
        self.run.levels[self.lesson.name] = max(levels, key=ISOLATIONS.index)
        self.report(self.run.graded + self.run.kept, self.of, f"{self.lesson.name}: graded already")
        return True

    def _level_of(self, one: Submission, digest: str, foreseen: dict[str, Any]) -> str:
        """The level of the grade that stands; empty where none does."""
        last = self._last(one, digest)
        if last is None or last.is_ours:
            return ""
        key = self._key(one, digest, foreseen | {"level": last.level})
        return last.level if last.key == key else ""

    def greet(self, isolation: str) -> None:
        """Start the first worker and take its word for level and checks; refuse a level too low."""
        self.report(self.run.graded + self.run.kept, self.of, f"{self.lesson.name}: opening")
        self.crew.start()
        while not self.greeting:
            told = self.crew.heard(STUCK_SECONDS)
            if told is None or told.message is None:
                raise ValueError(
                    f"{self.lesson.name}: the engine ended before it began; "
                    "BATCHLAB_GRADING_LOG=1 shows what it said"
                )
            self._welcome(told.worker, told.message)
        level = self.greeting["level"]
        self.run.levels[self.lesson.name] = level
        self.run.lacking = self.lacking
        if ISOLATIONS.index(level) > ISOLATIONS.index(isolation):
            raise ValueError(
                f"{self.lesson.name}: isolation {level} stands here, and this class wants "
                f"{isolation} ({'; '.join(self.lacking)}); --isolation {level} accepts it"
            )

    def _welcome(self, worker: Worker, message: dict[str, Any]) -> None:
        if "failed" in message:
            raise ValueError(f"{self.lesson.name}: the engine does not start: {message['failed']}")
        known = {name: message[name] for name in ("level", "checks", "environment")}
        if self.greeting and known != self.greeting:
            raise ValueError(f"{self.lesson.name}: two workers of one run differ: {known}")
        self.greeting, worker.ready = known, True
        self.lacking = tuple(message["lacking"])

    def work(self, submissions: list[Submission], workers: int) -> None:
        """Hand out what needs a grade until nothing waits and nobody works."""
        waiting: deque[Submission | _Task] = deque(submissions)
        while True:
            task = self._next(waiting)
            idle = next((one for one in self.crew.workers if one.idle), None)
            if task and idle:
                idle.send(task.notebook, task)
                continue
            if task:
                waiting.appendleft(task)
                if len(self.crew.workers) < workers:
                    self.crew.start()
            elif all(one.task is None for one in self.crew.workers):
                return
            self._hear(waiting)

    def _next(self, waiting: deque[Submission | _Task]) -> _Task | None:
        """The next that needs a grade; what is known already, or never was readable, is done."""
        while waiting:
            one = waiting.popleft()
            if isinstance(one, _Task):
                return one
            self.report(self.run.graded + self.run.kept, self.of, f"{one.lesson} {one.student}")
            self.run.touched.add((one.lesson, one.student))
            content, fault = _content(one)
            digest = hashlib.sha256(content).hexdigest() if not fault else ""
            if not self.again and self._known(one, digest):
                self.run.kept += 1
            elif fault:
                self._write(one, "", self._all("MISSING" if one.missing else "REJECTED", fault))
            else:
                record.keep(self.course.graded, content, digest)
                return _Task(one, digest, content)
        return None

    def _known(self, one: Submission, digest: str) -> bool:
        """Whether the last record of this very submission has the key that it would get now."""
        last = self._last(one, digest)
        return last is not None and last.key == self._key(one, digest) and not last.is_ours

    def _last(self, one: Submission, digest: str) -> Record | None:
        records = record.history(self.course.graded, one.lesson, one.student)
        return next((old for old in reversed(records) if old.submission == digest), None)

    def _key(self, one: Submission, digest: str, greeting: dict[str, Any] | None = None) -> str:
        known = greeting or self.greeting
        return record.key(
            submission=digest or one.fault, lesson=one.lesson, seed=self.seed, **known
        )

    def _all(self, verdict: str, message: str) -> tuple[Judged, ...]:
        asked = self.lesson.questions
        return tuple(Judged(name, verdict, 0.0, of, message, 0.0) for name, of in asked)

    def _hear(self, waiting: deque[Submission | _Task]) -> None:
        """Wait until one worker says something, and act on it."""
        told = self.crew.heard(60.0)
        if told is None:
            for worker in self.crew.workers:
                if worker.task is not None and time.monotonic() - worker.since > STUCK_SECONDS:
                    worker.process.kill()  # its end is told by the queue
            return
        worker, message = told.worker, told.message
        if worker not in self.crew.workers:
            return  # it was removed; this is its last word
        if message and not worker.ready:
            self._welcome(worker, message)
            return
        task, worker.task = worker.task, None
        if task is None:  # it ended before a notebook, or between two
            self.crew.remove(worker)
            self.lost += 1
            if self.lost > LOST:
                raise ValueError(f"{self.lesson.name}: {self.lost} workers ended before they began")
            return
        infra = "its worker was ended from outside"
        if message is not None:
            infra = message.get("infra", "")
            judged = [] if infra else _judged(message["questions"])
            if not infra and tuple((one.question, one.of) for one in judged) == tuple(
                self.lesson.questions
            ):
                self._write(task.submission, task.digest, tuple(judged))
                return
            infra = infra or "the engine answered other questions than were asked"
        self.crew.remove(worker)
        if task.tries < TRIES:
            waiting.append(replace(task, tries=task.tries + 1))
        else:
            self._write(task.submission, task.digest, self._all("INFRA", infra))

    def _write(self, one: Submission, digest: str, judged: tuple[Judged, ...]) -> None:
        look = one.look
        if self.course.roster and one.student not in self.course.roster:
            look = (*look, "not in the roster")
        record.write(
            self.course.graded,
            Record(
                lesson=one.lesson, student=one.student, name=one.name, file=one.file,
                received=one.received, submission=digest, key=self._key(one, digest),
                seed=self.seed, graded=datetime.now(UTC).isoformat(timespec="seconds"),
                questions=judged, look=look, **self.greeting,
            ),
        )  # fmt: skip
        self.run.graded += 1
        self.report(self.run.graded + self.run.kept, self.of, f"{one.lesson} {one.student}")


def _content(one: Submission) -> tuple[bytes, str]:
    """What was handed in, or the reason why it cannot be read."""
    if one.fault:
        return b"", one.fault
    try:
        return one.read(), ""
    except Unreadable as error:
        return b"", str(error)


def _judged(questions: list[dict[str, Any]]) -> list[Judged]:
    """Grades as a worker sent them; none where they are no grades."""
    try:
        return [Judged(**{**one, "notes": tuple(one["notes"])}) for one in questions]
    except (TypeError, KeyError, ValueError):
        return []
