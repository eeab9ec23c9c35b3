"""Try everything that is known of the exercises of a lesson: what breaks, one line each.

    topic  ->  styles that are refused, mistakes that pass or are named wrongly, idle cases

The laws
    a style        passes, on the shown cases and on fresh ones of many seeds
    a mistake      is refused on shown cases alone, and its refusal says its own thought
    a shown case   is the first to tell some mistake
    a refusal      has at most 300 letters
    an answer      uses np and what it imports itself: it also runs in a page

`python -m batchlab.authoring.laws padding --seeds 100` prints them for a topic or an exercise.
"""

import argparse
import builtins
import json
import symtable
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from batchlab import exercises
from batchlab.exercises import MOST_LETTERS, refusal

__all__ = ["alone", "answers", "broken", "main", "unknown", "with_answer"]


def main(arguments: list[str] | None = None) -> int:
    """Print what breaks, and a line for each exercise; fails if anything does."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.laws")
    parser.add_argument("names", nargs="*", help="padding, or padding/waste; none means all")
    parser.add_argument("--seeds", type=int, default=3, help="fresh seeds for each right way")
    options = parser.parse_args(arguments)
    bad = 0
    for name in options.names or exercises.folders():
        for one in [name] if "/" in name else exercises.ordered(name):
            began, found = time.process_time(), list(broken(one, options.seeds))
            for line in found:
                print(f"{one}: {line}")
            it = exercises.found(one)
            counts = f"{len(it.mistakes)} mistakes, {len(it.styles)} styles, {len(it.shown)} shown"
            print(f"{one}: {counts}, {time.process_time() - began:.1f} s")
            bad += len(found)
    return int(bad > 0)


def answers(topic: str) -> Iterator[tuple[str, str, str, str, str]]:
    """Every known answer: wrong or right, its exercise, its thought, its text, its words."""
    for name in exercises.ordered(topic):
        exercise, one = exercises.found(name), name.partition("/")[2]
        for mistake in exercise.mistakes:
            yield "wrong", one, mistake.thought, mistake.text, mistake.says
        for way, make in exercise.styles.items():
            yield "right", one, way, make(), ""


def alone(name: str, text: str) -> str:
    """An answer as a cell that brings what its exercise's file has beside it."""
    home = f"batchlab.exercises.{name.replace('-', '_').replace('/', '.')}"
    own = exercises.found(name).name  # imports its file
    beside = unknown(text) & set(vars(sys.modules[home])) - {own, "np"}
    return "\n".join([*(f"from {home} import {one}" for one in sorted(beside)), text])


def with_answer(book: bytes, name: str, text: str) -> bytes:
    """A notebook with another text in one of its answer cells."""
    notebook = json.loads(book)
    (cell,) = (cell for cell in notebook["cells"] if cell.get("id") == name)
    cell["source"] = text
    return json.dumps(notebook).encode()


def broken(name: str, seeds: int) -> Iterator[str]:
    """One line for each law that an exercise breaks."""
    exercise = exercises.found(name)
    ways = {"the reference": exercise.text} | {way: make() for way, make in exercise.styles.items()}
    for way, text in ways.items():
        if said := refusal(name, text):
            yield f"right, and refused: {way}: {_line(said)}"
        for seed in range(0 if exercise.tests else seeds):
            if said := refusal(name, text, shown=[], fresh=np.random.default_rng(seed)):
                yield f"right, and refused on seed {seed}: {way}: {_line(said)}"
                break
    if names := unknown(exercise.text) - {exercise.name, "np", *exercise.given}:
        yield f"the answer cell does not know {sorted(names)}: import it inside"
    first: set[int] = set()
    for one in exercise.mistakes:
        seen: list[Any] = []
        said = refusal(name, one.text, shown=_noted(exercise.shown, seen))
        if not said:
            yield f"a mistake that passes: {one.thought}"
        elif one.says not in said:
            yield f"its refusal does not say {one.says!r}: {_line(said)}"
        elif " - or: " in said and one.says == one.thought:
            yield f"two causes are named: {_line(said)}"
        if len(said) > MOST_LETTERS:
            yield f"{len(said)} letters, at most {MOST_LETTERS}: {_line(said)}"
        first |= {len(seen) - 1} if said else set()
    if not exercise.tests and len(exercise.shown) > 1:
        for number in set(range(len(exercise.shown))) - first:
            idle = str(exercise.shown[number])[:80]
            yield f"shown case {number} is the first to tell no mistake: {idle}"
    for hint in exercise.hints:
        if "{" in hint:
            yield f"an expression in braces: {hint}"


def _noted(cases: list[Any], seen: list[Any]) -> Iterator[Any]:
    """The cases; those that were asked for stand in `seen`, the last one is where a check ended."""
    for case in cases:
        seen.append(case)
        yield case


def unknown(text: str) -> set[str]:
    """Global names that a text uses and neither binds nor finds among the built-in ones.

    >>> sorted(unknown("half = lambda x: comb(x, 2) / len(y)"))
    ['comb', 'y']
    """
    tables, used = [symtable.symtable(text, "answer", "exec")], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        used |= {
            one.get_name()
            for one in table.get_symbols()
            if one.is_global() and not one.is_assigned()
        }
    return used - set(dir(builtins))


def _line(said: str) -> str:
    return " / ".join(said.splitlines())


if __name__ == "__main__":
    sys.exit(main())
