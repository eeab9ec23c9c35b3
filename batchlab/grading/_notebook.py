"""The bytes of a stranger as a notebook: any encoding, any export, cut off or not.

    bytes  ->  a dict with cells, and whether the end of the file is missing; or the reason why not

Outputs, attachments and the state of widgets are left out before anything is measured or built, so
that what a cell printed costs nothing. Each step reads the text once, from its start to its end.
"""

import ast
import json
import re
from typing import Any

__all__ = ["LARGEST", "LETTERS", "Refused", "parsed"]

LARGEST = 128 << 20  # bytes of a file
LETTERS = 50 << 20  # of the notebook without its outputs
TOKENS, KEPT, DEEPEST = 10_000_000, 3_000_000, 60
DROPPED = {'"outputs"', '"attachments"', '"widgets"'}
MARKS = (  # how a file begins in each encoding
    (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip
TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
VALUE = re.compile(r"\s*+:\s*+(?=[\[{])")
CELL = re.compile(r"^# ?%%(.*)$|^# In\[[ \d]*\]:?()$", re.MULTILINE)
CLOSES = {"{": "}", "[": "]"}
LISTS = (["}", "]"], ["}", "]", "}", "]"])  # where the cells of formats 4 and 3 stand


class Refused(ValueError):
    """The file is no notebook; the message is what a student can do about it."""


def parsed(raw: bytes) -> tuple[dict[str, Any], bool]:
    """A notebook, and whether its file ends early: then it has the cells that are whole."""
    if len(raw) > LARGEST:
        raise Refused(f"the file has {len(raw):,} bytes; at most {LARGEST:,} are read")
    text = _decoded(raw).strip("\ufeff\0 \t\r\n")
    if not text:
        raise Refused("the file is empty")
    if text[0] not in "{[" and (cells := _of_script(text)):
        return {"cells": [{"cell_type": "code", "source": one} for one in cells]}, False
    slim, cut = _slim(text)
    if len(slim) > LETTERS:
        raise Refused(f"the notebook has {len(slim):,} letters; at most {LETTERS:,} are read")
    try:
        found, _ = json.JSONDecoder(strict=False).raw_decode(slim)
    except (ValueError, RecursionError):
        raise Refused("the file is no notebook: it is not JSON") from None
    if not isinstance(found, dict):
        raise Refused("the file is no notebook: a notebook is a JSON object")
    return found, cut


def _decoded(raw: bytes) -> str:
    """The text of a file; no byte of it is refused."""
    for mark, name in MARKS:
        if raw.startswith(mark):
            return raw[len(mark) :].decode(name, "replace")
    if b"\0" in raw[:2]:
        return raw.decode("utf-16-be" if raw[:1] == b"\0" else "utf-16-le", "replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _slim(text: str) -> tuple[str, bool]:
    """JSON without what no grade needs; one that ends early is closed behind its last whole cell.

    Looked at before it is built: how deep it nests and how much is in it.
    """
    kept: list[str] = []
    opened: list[str] = []
    start = left = 0  # where the part begins that is kept next; how many tokens are kept
    dropping = -1  # the depth at which a value is left out
    whole: tuple[int, int, int, list[str]] | None = None
    for number, token in enumerate(TOKEN.finditer(text)):
        sign = token[0]
        if number > TOKENS or left > KEPT:
            raise Refused("the file holds more than any notebook")
        left += dropping < 0
        if sign in CLOSES:
            opened.append(CLOSES[sign])
            if dropping < 0 and len(opened) > DEEPEST:
                raise Refused("the file is nested deeper than any notebook")
        elif sign in ("]", "}"):
            if not opened or opened.pop() != sign:
                break
            if dropping == len(opened):
                kept.append("null")
                start, dropping = token.end(), -1
            elif dropping < 0 and sign == "}" and opened in LISTS:
                whole = len(kept), start, token.end(), opened[::-1]
            if not opened:
                return "".join([*kept, text[start : token.end()]]), False
        elif dropping < 0 and sign in DROPPED and (found := VALUE.match(text, token.end())):
            kept.append(text[start : found.end()])
            dropping = len(opened)
    if whole is None:
        raise Refused("the file is no notebook: it is not JSON")
    count, start, end, closed = whole
    return "".join([*kept[:count], text[start:end], *closed]), True


def _of_script(text: str) -> list[str]:
    """The cells of a notebook that was saved as Python; none where it is no such thing."""
    parts = CELL.split(text)
    if len(parts) > 1:
        kinds = [parts[at] or "" for at in range(1, len(parts), 3)]
        cells = zip(["", *kinds], [parts[0], *parts[3::3]], strict=True)
        return [cell.strip() for kind, cell in cells if "[m" not in kind and cell.strip()]
    try:
        body = ast.parse(text).body if len(text) < LETTERS // 25 else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    if not any(isinstance(one, ast.FunctionDef | ast.ClassDef) for one in body):
        return []
    lines = text.splitlines(keepends=True)
    return ["".join(lines[_first(one) - 1 : one.end_lineno]) for one in body]


def _first(node: ast.stmt) -> int:
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min(node.lineno, *(one.lineno for one in marks)) if marks else node.lineno
