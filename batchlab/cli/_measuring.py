"""What sweep and doctor share: a model, its data, and cells to measure them in.

--model, --data, --field, --rows  ->  documents, a maker of models, the identity of both
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchlab.cli import _progress as progress
from batchlab.cli import _source as source
from batchlab.cli import options
from batchlab.records import Cell, Identity, Model

if TYPE_CHECKING:
    from batchlab.sweep import Point

__all__ = ["ROWS", "WORDS", "Prepared", "documents_per_step", "measure", "prepare"]

WORDS = ("model", "data", "field", "rows")
ROWS = [1, 2, 4, 8, 16]
FEWEST_DOCUMENTS = 16  # of a step: fewer would differ too much in their lengths from step to step


def documents_per_step(rows: Sequence[int]) -> int:
    """The fewest documents, at least 16, that divide into micro-batches of all these rows.

    >>> documents_per_step([1, 2, 4]), documents_per_step([3, 8]), documents_per_step([64])
    (16, 24, 64)
    """
    multiple = math.lcm(*rows)
    return multiple * math.ceil(FEWEST_DOCUMENTS / multiple)


@dataclass(frozen=True)
class Prepared:
    """The documents, the maker of models and the names that a sweep writes into its records."""

    documents: Any
    make: Callable[[str, str], Any]
    identity: Identity


def prepare(args: argparse.Namespace) -> Prepared:
    """Load the data and say what the model is; the models themselves are made cell by cell."""
    from batchlab import attention, data, model

    corpus = source.corpus_of(args)
    if args.data is None:
        corpus = corpus.at_most(data.DEFAULT_LONGEST)

    kernel = getattr(args, "attention", None)

    def make(precision: str, layout: str) -> Any:
        dtype = options.dtypes(precision)[0]
        made = model.load(args.model, dtype=dtype, attention=kernel or "sdpa")
        data.require_vocabulary(corpus, made)
        if kernel:
            return made
        return attention.prepare(made)  # one attention for all layouts: no mask is built

    one = make("float32", "padded")
    parameters = sum(p.numel() for p in one.parameters())
    name, same = str(args.model or "small"), source.model_name(args.model)
    family = one.config.model_type
    identity = Identity(
        Model(name, parameters, family),
        f"{same}-{family}-{parameters}-{model.fingerprint(one)}" + (f"-{kernel}" if kernel else ""),
        corpus.name,
        corpus.fingerprint,
    )
    return Prepared(corpus, make, identity)


def measure(
    prepared: Prepared, points: Sequence["Point"], path: Path, documents: int, **how: Any
) -> list[Cell]:
    """Run the sweep with a progress bar on stderr; returns the cells of its visits."""
    from batchlab import sweep

    with progress.bar() as report:
        return sweep.run(
            prepared.documents,
            prepared.make,
            points,
            path=path,
            identity=prepared.identity,
            documents_per_step=documents,
            progress=report,
            **({"steps": 3, "rounds": 4} | how),
        )
