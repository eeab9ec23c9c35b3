"""The four lines of a refusal, at most 300 letters in all.

a refusal, a cause, a hint  ->  the same refusal with them; `asked` and `got` give way first
"""

from batchlab.classroom.verdict import CheckFailed

__all__ = ["MOST_LETTERS", "lines_of", "restated"]

MOST_LETTERS = 300
WORDS = ("asked", "got", "likely", "try")


def lines_of(refused: CheckFailed) -> dict[str, str]:
    """The lines of a refusal by their word."""
    found: dict[str, str] = {}
    for line in str(refused).splitlines():
        word = line[:7].strip()
        if word in WORDS and line[7:8] == " ":
            found[word] = line[8:]
    return found


def restated(refused: CheckFailed, *, likely: str = "", hint: str = "") -> CheckFailed:
    """A refusal with a cause and a hint; a hint waits where the cause needs its place."""
    lines = lines_of(refused)
    if not lines:
        return refused
    lines |= {word: text for word, text in (("likely", likely), ("try", hint)) if text}
    if _letters(lines) > MOST_LETTERS and "likely" in lines:
        lines.pop("try", None)
    fixed = _letters({word: lines[word] for word in ("likely", "try") if word in lines})
    room = max(40, (MOST_LETTERS - fixed - 18) // 2)
    if _letters(lines) > MOST_LETTERS:
        lines |= {word: _cut(lines[word], room) for word in ("asked", "got") if word in lines}
    said = "\n".join(f"{word:<7} {lines[word]}" for word in WORDS if word in lines)
    new = CheckFailed(_cut(said, MOST_LETTERS))
    new.kind, new.error, new.fresh = refused.kind, refused.error, refused.fresh
    return new


def _letters(lines: dict[str, str]) -> int:
    return sum(8 + len(text) for text in lines.values()) + len(lines)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most * 2 // 3 - 2]} … {text[1 - most // 3 :]}"
