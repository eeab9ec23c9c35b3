"""A run in one line, as `Settings.named` writes it: are two of them the same, and if not, why?

two lines  ->  the words in which they differ

Where documents lie is no part of it: what they hold is compared, by their fingerprint. So it is
with a model on this disk, of which the line has the checksum.
"""

import functools
import hashlib
import re
from pathlib import Path

__all__ = ["differing", "proven", "same"]

WORD = re.compile(r"(?:^|, )(\w+) (.*?)(?=, [a-z_]+ |$)", re.DOTALL)  # a name may hold commas
PROVEN = re.compile(r"(.*) \(([0-9a-f]{8})\)", re.DOTALL)


def same(held: str, run: str) -> bool:
    """Whether both lines name one run."""
    return not differing(held, run)


def differing(held: str, run: str) -> list[str]:
    """In which words two runs differ, in a few words each."""
    was, now = dict(WORD.findall(held)), dict(WORD.findall(run))
    told = (_told(name, was.get(name), now.get(name)) for name in {**was, **now})
    return [one for one in told if one]


def _told(name: str, was: str | None, now: str | None) -> str:
    if name == "documents" or was == now:
        return ""
    before, after = (PROVEN.fullmatch(one or "") for one in (was, now))
    if name == "model" and before and after:
        if before[2] == after[2]:
            return ""
        if before[1] == after[1]:
            return f"{name} {was} and not {now}: its files were changed"
    if name == "model" and before and before[1] == now:
        return f"{name} {was}, and no {now} lies on this disk now"
    was, now = (one if one not in (None, "None") else "the default" for one in (was, now))
    return f"{name} {was} and not {now}"


def proven(model: str | None) -> str | None:
    """The name of a model; of one on this disk with the checksum of its config and weights.

    Frozen weights lie in no checkpoint, and are loaded anew. Of the others the first ones count: a
    run that begins with some does not go on under the name of others.
    """
    path = Path(model or "")
    held = [path / "config.json" if path.is_dir() else path]
    if not model or not held[0].is_file():
        return model
    if path.is_dir():
        held += sorted([*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin")])
    proof = "".join(_digest(one, (at := one.stat()).st_size, at.st_mtime_ns) for one in held)
    short = proof if len(held) == 1 else hashlib.sha256(proof.encode()).hexdigest()
    return f"{model} ({short[:8]})"


@functools.cache
def _digest(path: Path, size: int, written: int) -> str:
    """The checksum of a file of this size and date."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
