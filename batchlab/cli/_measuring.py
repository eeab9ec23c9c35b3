"""What sweep and doctor share: a model, its data, and cells to measure them in.

--model, --data, --rows ...  ->  documents, a maker of models, the identity of both
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batchlab.cli import _progress as progress

__all__ = ["Setting", "add", "measure", "prepare"]


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


class Setting:
    """The documents, the maker of models and the names that a sweep writes into its records."""

    def __init__(self, documents: Any, make: Callable[[str, str], Any], identity: dict[str, Any]):
        self.documents, self.make, self.identity = documents, make, identity


def prepare(args: argparse.Namespace) -> Setting:
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
    identity = {
        "model": {"name": name, "parameters": parameters, "family": one.config.model_type},
        "model_fingerprint": f"{name}-{one.config.model_type}-{parameters}",
        "data": corpus.name,
        "data_fingerprint": corpus.fingerprint,
    }
    return Setting(corpus, make, identity)


def measure(setting: Setting, cells: list[Any], path: Path, documents: int, **how: Any) -> Any:
    """Run the sweep with a progress bar on stderr; returns its visits."""
    from batchlab import sweep

    with progress.bar() as report:
        return sweep.run(
            setting.documents,
            setting.make,
            cells,
            path=path,
            identity=setting.identity,
            documents_per_step=documents,
            progress=report,
            **({"steps": 3, "rounds": 4} | how),
        )
