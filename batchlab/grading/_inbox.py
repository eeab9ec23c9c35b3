"""What a class handed in: one submission for each student and lesson, or the reason why none.

    items of a folder or an archive  ->  who handed in what  ->  Submission, ...

    submitted/ada/02_padding/padding.ipynb               nbgrader, with its timestamp.txt
    doejane_LATE_1234_5678_padding-1.ipynb               Canvas: a number for the student
    Jane Doe_1234_assignsubmission_file/padding.ipynb    Moodle: a number for the student
    ada/padding.ipynb   02_padding/ada.ipynb   ada.ipynb   a folder or a zip of your own

The lesson is that of `--lesson`, else of a folder's name, else of what the notebook itself says.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from batchlab.grading._course import Course, Lesson
from batchlab.grading._items import Item, Unreadable, items

__all__ = ["Submission", "received"]

MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)")
CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?P<file_id>\d+)_(?P<rest>.+)")
STARTS = re.compile(rb"""classroom\.start\(\\?["'](\d\d_\w+)\\?["']""")
IDS = re.compile(rb'"grade_id"\s*:\s*"([a-z0-9-]{1,60})"')
COPY = re.compile(r"(-\d+| ?\(\d+\)|[-_ ]copy)$", re.IGNORECASE)  # what browsers and LMSs add
STAMP = "timestamp.txt"
NOTEBOOK = re.compile(r"\.ipynb(\.(txt|json))?$", re.IGNORECASE)  # browsers add an ending
SCRIPT = ".py"


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one lesson: bytes to grade, or a fault."""

    student: str
    name: str  # as the LMS calls the student; empty where it does not
    lesson: str  # empty where nobody can say
    file: str  # where it lies in what was handed in
    received: str  # ISO time in UTC, empty where nobody knows; no penalty hangs on it
    read: Callable[[], bytes]
    fault: str = ""  # why there is nothing to grade
    missing: bool = False  # nothing was handed in
    look: tuple[str, ...] = ()  # why a person should look


@dataclass(frozen=True)
class _Placed:
    """An item, and what its place says."""

    item: Item
    student: str
    name: str
    lesson: str
    rest: str  # the file's name without what the LMS added
    order: int = 0  # a larger number was handed in later


def received(path: Path, course: Course, lesson: str = "") -> list[Submission]:
    """One submission for each student and lesson below `path`, sorted by lesson and student."""
    if lesson:
        course.lesson(lesson)
    there = items(path)
    stamps = {item.parts[:-1]: _stamp(item) for item in there if item.name == STAMP}
    groups: dict[tuple[str, str], list[_Placed]] = defaultdict(list)
    beside: dict[str, list[_Placed]] = defaultdict(list)
    for item in there:
        placed = _placed(item, path, course)
        if item.name == STAMP:
            beside[placed.student] += []
        elif not NOTEBOOK.search(placed.rest):
            beside[placed.student].append(placed)
        else:
            named = lesson or placed.lesson or _lesson_of(placed, course)
            if stamp := stamps.get(item.parts[:-1]):
                placed = replace(placed, item=replace(item, when=stamp))
            groups[placed.student, named].append(placed)
    for student, some in beside.items():  # nothing but a script: a notebook saved as Python
        if not any(student == who for who, _ in groups):
            scripts = [one for one in some if one.rest.endswith(SCRIPT)]
            for one in scripts:
                if (named := _lesson_of(one, course)) and lesson in ("", named):
                    groups[student, named].append(one)
    for student in _empty_folders(path) - {student for student, _ in groups}:
        beside[student] += []
    found = [_chosen(group, student, named, course) for (student, named), group in groups.items()]
    graded = {one.student for one in found}
    found += [_none(who, some, lesson) for who, some in beside.items() if who not in graded]
    return sorted(found, key=lambda one: (one.lesson, one.student))


def _placed(item: Item, path: Path, course: Course) -> _Placed:
    """Who handed in an item, and for which lesson, by its place alone."""
    top, *inner = item.parts
    names = {one.name: one for one in course.lessons}
    if match := MOODLE.fullmatch(top):
        rest = match["rest"] if not inner else item.name
        return _Placed(item, match["id"], match["name"], _named(inner, names), rest)
    if not inner and (match := CANVAS.fullmatch(top)):
        number = int(match["file_id"][:18])
        return _Placed(item, match["id"], match["name"], "", match["rest"], number)
    if top in names and inner:
        if len(inner) > 1:
            return _Placed(item, inner[0], "", top, item.name)
        own = _stem(item.name) == names[top].topic  # `path` is the folder of one student
        who = path.resolve().name if own else _stem(item.name)
        return _Placed(item, who, "", top, item.name)
    if not inner:
        return _Placed(item, _stem(top), "", "", item.name)
    return _Placed(item, top, "", _named(inner, names), item.name)


def _stem(name: str) -> str:
    return NOTEBOOK.sub("", name) if NOTEBOOK.search(name) else Path(name).stem


def _named(inner: list[str], names: dict[str, Lesson]) -> str:
    return next((part for part in inner[:-1] if part in names), "")


def _lesson_of(placed: _Placed, course: Course) -> str:
    """The lesson that a notebook says it is: its first cell, its ids, at last its name."""
    content = _content(placed.item)
    said = _said(content)
    named = [one.name for one in course.lessons if one.name in said]
    if len(named) == 1:
        return named[0]
    ids = {match.decode() for match in IDS.findall(content)}
    shared = sorted(((len(ids & one.ids), one.name) for one in course.lessons), reverse=True)
    if shared[0][0] and (len(shared) == 1 or shared[0][0] > shared[1][0]):
        return shared[0][1]
    stem = placed.rest.lower()
    return next((one.name for one in course.lessons if one.topic in stem), "")


def _content(item: Item) -> bytes:
    """The bytes of an item; none where it cannot be read."""
    try:
        return b"" if item.fault else item.read()
    except Unreadable:
        return b""


def _said(content: bytes) -> set[str]:
    """The lessons that a notebook starts."""
    return {match.decode() for match in STARTS.findall(content)}


def _chosen(group: list[_Placed], student: str, lesson: str, course: Course) -> Submission:
    """The one notebook of several that counts: the right name, then the newest."""
    topic = course.lesson(lesson).topic if lesson else ""

    def rank(one: _Placed) -> tuple[bool, bool, str, int, str]:
        stem = COPY.sub("", _stem(one.rest))
        return not one.item.fault, stem == topic, one.item.when, one.order, one.rest

    best = max(group, key=rank)
    others = [one for one in group if one is not best and not _same(one.item, best.item)]
    look = []
    if others:
        names = ", ".join(sorted("/".join(one.item.parts) for one in others))
        look.append(f"several notebooks: {'/'.join(best.item.parts)} was graded, not {names}")
    fault, said = best.item.fault, _said(_content(best.item))
    if lesson and said and lesson not in said:
        look.append(f"it was graded as {lesson}, and its first cell says {', '.join(sorted(said))}")
    if not lesson:
        fault = fault or "it is a notebook of no lesson of this course: name it with --lesson"
    return Submission(student, best.name, lesson, "/".join(best.item.parts), best.item.when,
                      best.item.read, fault, look=tuple(look))  # fmt: skip


def _same(one: Item, other: Item) -> bool:
    try:
        return not one.fault and _digest(one) == _digest(other)
    except Unreadable:
        return False


def _digest(item: Item) -> str:
    return hashlib.sha256(item.read()).hexdigest()


def _none(student: str, beside: list[_Placed], lesson: str) -> Submission:
    """A student who handed in no notebook."""
    lessons = {one.lesson for one in beside if one.lesson}
    named = lesson or (lessons.pop() if len(lessons) == 1 else "")
    names = ", ".join(sorted("/".join(one.item.parts) for one in beside))
    faults = "; ".join(sorted({one.item.fault for one in beside if one.item.fault}))
    names += f" ({faults})" if faults else ""
    fault = f"no notebook was handed in, but {names}" if beside else "nothing was handed in"
    name = beside[0].name if beside else ""
    when = max((one.item.when for one in beside), default="")
    return Submission(student, name, named, names, when, lambda: b"", fault, missing=not beside)


def _empty_folders(path: Path) -> set[str]:
    """Folders of students at the top of a folder, also those that hold nothing."""
    if not path.is_dir():
        return set()
    there = [one for one in path.iterdir() if one.is_dir() and not one.is_symlink()]
    names = {one.name for one in there if not re.match(r"\d\d_|\.|__", one.name)}
    names -= {name for name in names if NOTEBOOK.search(name)}  # faults, not students
    moodle = {name: MOODLE.fullmatch(name) for name in names}
    return {match["id"] if match else name for name, match in moodle.items()}


def _stamp(item: Item) -> str:
    """The time that nbgrader wrote beside a submission; empty where it cannot be read."""
    try:
        text = item.read()[:200].decode("utf-8", "replace").strip()
        told = datetime.fromisoformat(re.sub(r"\s+(UTC|GMT|Z)$", "+00:00", text))
    except (Unreadable, ValueError, OverflowError):
        return ""
    try:
        told = told.replace(tzinfo=told.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return told.isoformat(timespec="seconds")
