"""Turn the few MyST words of a lesson into plain Markdown, which every notebook shows.

    {cite:p}`key`, {admonition}, {figure}, (label)=  ->  Markdown, and what could not be turned

The book reads the sources themselves; Colab and JupyterLab read what comes out here.
"""

import re
import unicodedata
from pathlib import Path

__all__ = ["citations", "plain_markdown"]

FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\}[ \t]*(?P<title>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
ACCENTS = {"'": "\u0301", '"': "\u0308", "`": "\u0300", "^": "\u0302", "~": "\u0303"}
CITE = re.compile(r"\{cite(?::(?P<kind>[a-z]+))?\}`(?P<keys>[^`]+)`")
TEXT_ROLE = re.compile(r"\{(?:term|doc|ref)\}`(?P<text>[^`<]+?)\s*(?:<[^`]*>)?`")
LEFT_OVER = re.compile(r"\{[a-z][\w:-]*\}(?=`[^`])|^(?:`{3,}|:{3,})\{[\w:-]+\}", re.MULTILINE)
BOXES = {
    "admonition": "",
    "note": "Note",
    "tip": "Tip",
    "warning": "Warning",
    "important": "Important",
}


def citations(references: Path) -> dict[str, tuple[str, str, str]]:
    """Authors, year and address of every entry of a .bib file; empty without the file."""
    if not references.exists():
        return {}
    known = {}
    entries = re.split(r"^@\w+\{", references.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for entry in entries:
        key = entry.split(",", 1)[0].strip()
        raw = {name.lower(): value.strip() for name, value in FIELD.findall(entry)}
        fields = {name: _letters(value) for name, value in raw.items()}
        who = _authors(raw.get("author", key))
        known[key] = (who, fields.get("year", "undated"), _address(fields))
    return known


def _address(fields: dict[str, str]) -> str:
    arxiv = re.search(r"arXiv:(\d{4}\.\d{4,5})", fields.get("journal", "") + fields.get("note", ""))
    number = fields.get("eprint") or (arxiv and arxiv[1])
    if "url" in fields:
        return fields["url"]
    if number:
        return f"https://arxiv.org/abs/{number}"
    if "doi" in fields:
        return f"https://doi.org/{fields['doi']}"
    page = re.match(r"github\.com/[\w.-]+/[\w.-]+", fields.get("howpublished", ""))
    return f"https://{page[0]}" if page else ""


def _letters(value: str) -> str:
    """TeX's accents as letters: "D{\\'o}sa" -> "Dósa"."""

    def accent(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]])

    value = re.sub(r"""\\(['"`^~])\{?(\w)\}?""", accent, value).replace("\\l", "\u0142")
    return re.sub(r"[{}\\]", "", value).strip()


def plain_markdown(text: str, known: dict[str, tuple[str, str, str]]) -> tuple[str, list[str]]:
    """The text in plain Markdown, and a line for each thing that could not be turned.

    >>> plain_markdown("Read {cite:t}`smith2020`.", {"smith2020": ("Smith", "2020", "")})
    ('Read Smith (2020).', [])
    """
    faults: list[str] = []

    def cite(match: re.Match[str]) -> str:
        keys = [key.strip() for key in match["keys"].split(",")]
        faults.extend(f"no reference {key!r} in the .bib file" for key in keys if key not in known)
        found = [known.get(key, (key, "", "")) for key in keys]
        if match["kind"] == "t":
            return ", ".join(_linked(f"{who} ({year})", link) for who, year, link in found)
        return f"({'; '.join(_linked(f'{who}, {year}', link) for who, year, link in found)})"

    text = re.sub(r"^\(([\w:-]+)\)=\n", r'<a id="\1"></a>\n\n', text, flags=re.MULTILINE)
    text = FENCE.sub(_fence, text)
    text = CITE.sub(cite, text)
    text = TEXT_ROLE.sub(lambda match: match["text"], text)
    left = sorted({match[0] for match in LEFT_OVER.finditer(text)})
    return text, faults + [f"{word} is not known to notebooks" for word in left]


def _fence(match: re.Match[str]) -> str:
    name, title = match["name"], match["title"].strip()
    options = dict(re.findall(r"^:([\w-]+):[ \t]*(.*)$", match["body"], re.MULTILINE))
    body = re.sub(r"^:[\w-]+:.*\n", "", match["body"], flags=re.MULTILINE).strip()
    if name in BOXES:
        if "dropdown" in options.get("class", ""):
            return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"
        head = f"**{title or BOXES[name]}**"
        return "\n".join(f"> {line}".rstrip() for line in [head, "", *body.splitlines()])
    if name in {"figure", "image"}:
        picture = f"![{options.get('alt', '')}]({title})"
        return f"{picture}\n\n*{' '.join(body.split())}*" if body else picture
    if name == "math":
        return f"$$\n{body}\n$$"
    return match[0]


def _authors(field: str) -> str:
    """One, two, or the first "et al.": "Smith, Ann and Lee, Bo" -> "Smith and Lee".

    A name in braces is no person's and stays whole: "Ito, Cy and {Open Lab}" -> "Ito and Open Lab".
    """
    names = [" ".join(name.split()) for name in re.split(r"\s+and\s+", field)]
    last = [_letters(name if name[0] == "{" else _family(name)) for name in names if name]
    if len(last) > 2 or (len(last) == 2 and last[1] == "others"):
        return f"{last[0]} et al."
    return " and ".join(last)


def _family(name: str) -> str:
    return name.split(",")[0] if "," in name else name.split(" ")[-1]


def _linked(text: str, address: str) -> str:
    return f"[{text}]({address})" if address else text
