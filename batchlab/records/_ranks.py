"""One file a rank: where each rank of a run writes, and how a run finds its files again.

run.jsonl, rank 1 of 2  ->  run.rank1.jsonl;  run.jsonl  ->  run.rank0.jsonl, run.rank1.jsonl
"""

import os
import re
from pathlib import Path

__all__ = ["files_of", "of_rank"]

DATE = re.compile(rb'"date": ?"([^"]+)"')
TAIL = 2**20  # bytes of a file that its last lines are looked for in


def of_rank(path: str | Path, rank: int, world_size: int) -> Path:
    """Where this rank writes; a world of one rank keeps the name.

    >>> of_rank("run.jsonl", 1, 2).name, of_rank("run.jsonl", 0, 1).name
    ('run.rank1.jsonl', 'run.jsonl')
    """
    path = Path(path)
    return path if world_size == 1 else path.with_name(f"{path.stem}.rank{rank}{path.suffix}")


def files_of(path: str | Path) -> list[Path]:
    """The file itself, or the files of its ranks in their order: whichever were written last.

    A run that goes on with more or fewer processes leaves the others as they were. The records say
    when they were written: a copied file has the date of the copy. ValueError for a folder.
    """
    path = Path(path)
    if path.is_dir():
        inside = sorted(one.name for one in path.glob("*.jsonl"))
        told = f"give a file in it ({', '.join(inside[:5])})" if inside else "and no .jsonl in it"
        raise ValueError(f"{path}: a folder, {told}")
    if not path.parent.is_dir():
        return [path]
    name = re.compile(rf"{re.escape(path.stem)}\.rank(\d+){re.escape(path.suffix)}")
    found = [(int(hit[1]), one) for one in path.parent.iterdir()
             if (hit := name.fullmatch(one.name))]  # fmt: skip
    ranks = [one for _, one in sorted(found)]
    if not ranks or (path.exists() and _written(path) >= max(map(_written, ranks))):
        return [path]
    return ranks


def _written(path: Path) -> tuple[bytes, int]:
    """The date of the last record, then that of the file, for two of one second."""
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        file.seek(max(0, state.st_size - TAIL))
        dates = DATE.findall(file.read())
    return dates[-1] if dates else b"", state.st_mtime_ns
