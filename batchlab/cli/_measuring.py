"""What sweep and doctor share: a model, its data, and cells to measure them in.

--model, --data, --rows ...  ->  documents, a maker of models, the identity of both
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batchlab.cli import _progress as progress
from batchlab.records import Cell, Identity, Model

if TYPE_CHECKING:
    from batchlab.sweep import Point

__all__ = ["Prepared", "add", "measure", "prepare"]


def add(parser: argparse.ArgumentParser) -> None:
    """Offer model, data, rows and the number of documents that a step trains."""
    parser.add_argument(
        "--model", metavar="NAME", help="folder or hub name, its tokenizer too (default: small)"
    )
    parser.add_argument("--data", metavar="DATA", help="documents (default: the embedded corpus)")
    parser.add_argument("--field", help="which field holds the text or the token ids")
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[1, 2, 4, 8, 16], metavar="N", help="rows to measure"
    )
    parser.add_argument(
        "--documents", type=int, default=16, metavar="N", help="documents per step (default: 16)"
    )


@dataclass(frozen=True)
class Prepared:
    """The documents, the maker of models and the names that a sweep writes into its records."""

    documents: Any
    make: Callable[[str, str], Any]
    identity: Identity


def prepare(args: argparse.Namespace) -> Prepared:
    """Load the data and say what the model is; the models themselves are made cell by cell."""
    import torch

    from batchlab import attention, data, model

    corpus = data.load(args.data, field=args.field, tokenizer=model.tokenizer_name(args.model))
    if args.data is None:
        corpus = corpus.at_most(data.DEFAULT_LONGEST)
    dtypes = {"bfloat16": torch.bfloat16}

    def make(precision: str, layout: str) -> Any:
        made = model.load(args.model, dtype=dtypes.get(precision, torch.float32))
        data.require_vocabulary(corpus, made)
        return attention.prepare(made)  # one attention for all layouts: no mask is built

    one = make("float32", "padded")
    parameters = sum(p.numel() for p in one.parameters())
    name = str(args.model or "small")
    family = one.config.model_type
    identity = Identity(
        Model(name, parameters, family),
        f"{name}-{family}-{parameters}",
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
