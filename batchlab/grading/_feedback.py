"""What a student reads about a grade: one page without a script, made from the record alone.

    Grade  ->  graded/feedback/02_padding/ada.html

No output, no source and no markup of the notebook is copied; every text is escaped, and the page
forbids itself to load anything.
"""

from html import escape
from pathlib import Path

from batchlab.grading import _names as names
from batchlab.grading._points import Grade, number
from batchlab.grading._record import whole
from batchlab.grading._verdict import NOTES, VERDICTS

__all__ = ["page", "place", "text", "write"]

LONGEST = 4000  # letters of one message
STYLE = """\
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f4f4; padding: .75rem }
h2 { font-size: 1.1rem; margin-bottom: .25rem }
small { color: #555 }
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<p><strong>{score}</strong></p>
{questions}
<p><small>{record}</small></p>
</body>
</html>
"""


def place(graded: Path, lesson: str, student: str) -> Path:
    """Where the page of one student and lesson lies."""
    return graded / "feedback" / lesson / f"{names.folder(student)}.html"


def write(graded: Path, grade: Grade) -> Path:
    """Write the page of one grade, where it differs from what lies there."""
    path = place(graded, grade.record.lesson, grade.record.student)
    content = page(grade).encode("utf-8", "replace")
    if not path.is_file() or path.read_bytes() != content:
        whole(path, content)
    return path


def page(grade: Grade) -> str:
    """One page of HTML: points, then each question with its verdict and what the check said."""
    title, score, told = _frame(grade)
    return PAGE.format(
        title=_text(title),
        style=STYLE,
        score=_text(score),
        questions="\n".join(_question(grade, n) for n in range(len(grade.record.questions))),
        record=_text(told),
    )


def text(grade: Grade) -> str:
    """The same as plain text, for where no page can be handed back."""
    title, score, told = _frame(grade)
    blocks = [title, score]
    for one in grade.record.questions:
        points, reason = grade.given.get(one.question, (one.points, ""))
        lines = [f"{one.question}: {number(points)} of {number(one.of)}"]
        lines += [f"Given by hand: {reason}"] if one.question in grade.given else []
        lines += [f"{one.verdict}: {VERDICTS[one.verdict]}."] if one.verdict != "PASS" else []
        lines += [one.message] if one.message else []
        lines += [NOTES[note] for note in one.notes]
        blocks.append("\n".join(lines))
    return _kept("\n\n".join([*blocks, told]), LONGEST * len(blocks))


def _frame(grade: Grade) -> tuple[str, str, str]:
    """Title, score and origin of a page."""
    one = grade.record
    if grade.score is None:
        score = "No score yet. Your teacher is told."
    else:
        score = f"{number(grade.score)} of {number(one.of)} points"
    graded = f"Graded {one.graded} from {one.file}"
    received = f", received {one.received}" if one.received else ""
    told = f"{graded}{received}. Record {one.key[:12]}, isolation {one.level}."
    return f"{one.lesson}: {one.name or one.student}", score, told


def _question(grade: Grade, index: int) -> str:
    one = grade.record.questions[index]
    points, reason = grade.given.get(one.question, (one.points, ""))
    lines = [f"<h2>{_text(one.question)}: {number(points)} of {number(one.of)}</h2>"]
    if one.question in grade.given:
        lines.append(f"<p>Given by hand: {_text(reason)}</p>")
    if one.verdict != "PASS":
        lines.append(f"<p>{_text(one.verdict)}: {_text(VERDICTS[one.verdict])}.</p>")
    if one.message:
        lines.append(f"<pre>{_text(one.message)}</pre>")
    lines += [f"<p><small>{_text(NOTES[note])}</small></p>" for note in one.notes]
    return "\n".join(lines)


def _text(text: str) -> str:
    """Text for a page: escaped, without characters that control anything."""
    return escape(_kept(text, LONGEST), quote=True)


def _kept(text: str, most: int) -> str:
    kept = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
    return kept if len(kept) <= most else kept[:most] + " ..."
