"""Begin a lesson or an exercise: the file, to be filled in.

    padding waste  ->  batchlab/exercises/padding/waste.py, and its place in ORDER

`python -m batchlab.authoring.new padding waste` writes one exercise; a topic that has no folder yet
gets one, and `solutions/NN_padding/padding.md` where a number stands before it: `19_cost bill`.
"""

import argparse
import re
import sys
from pathlib import Path

__all__ = ["begin", "main"]

EXERCISE = '''"""{title}: what it asks for, in one line."""

from batchlab.exercises import Exercise


def {function}(number):
    """What it returns, in one line."""
    return 2 * number


exercise = Exercise(
    {function},
    points=1,
    hints=("the first step", "the second", "the formula"),
    shown=[(0,), (3,)],
    drawn=lambda rng: [(int(one),) for one in rng.integers(1, 1000, 20)],
    passed="Right: what the reader can now say.",
)


@exercise.mistake
def squared(number):
    """the thought behind this wrong version"""
    return number**2


exercise.edit("a small mistake, as a change of the reference", [("2 * number", "2 + number")])


@exercise.style
def added(number):
    """another right way"""
    return number + number
'''
LESSON = """---
jupytext:
  text_representation: {{extension: .md, format_name: myst}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
measured: what the reader measures
---

# {number}. {title}: what it is about

The question of the lesson, as one sentence?

```{{code-cell}} ipython3
:tags: [setup]

from batchlab import classroom
classroom.start("{number:02d}_{topic}")
```

```{{code-cell}} ipython3
from batchlab.classroom import check
```

(exercise-{name})=
## The first exercise

*`{name}` · 1 point · 5 minutes*

What it asks for, with one example and its result.

{{exercise}} {name}

```{{code-cell}} ipython3
:tags: [keep]

from batchlab.classroom import mine

mine.keep("{number:02d}_{topic}", {function})
```
"""


def main(arguments: list[str] | None = None) -> int:
    """Write the beginnings, and say which files to fill in."""
    parser = argparse.ArgumentParser(prog="python -m batchlab.authoring.new")
    parser.add_argument("topic", help="padding, or 19_cost for a new lesson")
    parser.add_argument("exercise", help="its id on the page, such as tail-waste")
    parser.add_argument("--root", type=Path, default=Path())
    options = parser.parse_args(arguments)
    try:
        made = begin(options.root, options.topic, options.exercise)
    except ValueError as error:
        print(error)
        return 1
    for path in made:
        print(f"wrote: {path}")
    topic = options.topic.partition("_")[2] or options.topic
    print(f"put {{exercise}} {options.exercise} into the lesson; try it: make lesson NAME={topic}")
    return 0


def begin(root: Path, lesson: str, name: str) -> list[Path]:
    """Write what is missing of a lesson and its exercise; ValueError for what is there already."""
    if not re.fullmatch(r"(\d\d_)?[a-z]+", lesson) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"{lesson} {name}: a topic such as padding or 19_cost, an id such as bill")
    number, _, topic = lesson.rpartition("_")
    home = root / "batchlab/exercises" / topic
    words = {"topic": topic, "name": name, "function": name.replace("-", "_")}
    words["title"] = (name if home.is_dir() else topic).replace("-", " ").capitalize()
    path = home / f"{words['function']}.py"
    if path.exists():
        raise ValueError(f"{path} is there already: change it")
    found = [path]
    home.mkdir(parents=True, exist_ok=True)
    path.write_text(EXERCISE.format(**words), encoding="utf-8")
    face = home / "__init__.py"
    if not face.exists():
        face.write_text(f'"""{words["title"]}."""\n\nORDER = ()\n', encoding="utf-8")
    text = face.read_text(encoding="utf-8")
    order = re.search(r"^ORDER = \((.*?)\)$", text, re.MULTILINE | re.DOTALL)
    if order is None:
        raise ValueError(f"{face} has no ORDER = (...)")
    listed = f'{order[1].rstrip().rstrip(",")}, "{name}"'.lstrip(", ")
    comma = "," if listed.count('"') == 2 else ""
    face.write_text(text.replace(order[0], f"ORDER = ({listed}{comma})"), encoding="utf-8")
    if number:
        source = root / "solutions" / lesson / f"{topic}.md"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(LESSON.format(number=int(number), **words), encoding="utf-8")
        found.append(source)
    return [*found, face]


if __name__ == "__main__":
    sys.exit(main())
