"""The other arithmetic of a batch, each against what it should cost: one line, one ratio.

    python benchmarks/arithmetic.py [--documents 1000000]

CPU seconds on one core, medians of seven rounds in which a call and its peer take turns.
"""

import argparse
from collections.abc import Callable

import numpy as np
from interleaved import medians

from batchlab import buckets, packing, padding
from batchlab import lengths as ln

ROW, ROWS = 2048, 8


def rectangle(tokens: np.ndarray, batches: np.ndarray) -> int:
    """The slots of padded batches, as NumPy counts them."""
    return int(tokens[batches].max(axis=1).sum()) * batches.shape[1]


def rows_by_splitting(packed: packing.Packing) -> list[np.ndarray]:
    """All rows as arrays: sort the pieces by their row and cut."""
    order = np.argsort(packed.row_of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(packed.row_of))[:-1])


def rows_again(packed: packing.Packing) -> packing.Rows:
    vars(packed).pop("rows", None)
    return packed.rows


def greedy(tokens: np.ndarray, slots: int) -> list[list[int]]:
    """Sort everything, cut where the next row would break the budget: a loop over documents."""
    batches: list[list[int]] = [[]]
    for number in np.argsort(tokens, kind="stable").tolist():
        if batches[-1] and (len(batches[-1]) + 1) * int(tokens[number]) > slots:
            batches.append([])
        batches[-1].append(number)
    return batches


def lines(tokens: np.ndarray) -> list[tuple[str, Callable[[], object], str, Callable[[], object]]]:
    """(what, call, against what, its call)."""
    whole = tokens[: len(tokens) // ROWS * ROWS]
    order = np.random.default_rng(0).permutation(len(whole))
    batches = order.reshape(-1, ROWS)
    listed, packed = batches.tolist(), packing.pack(tokens, ROW)
    best = lambda: packing.pack(tokens, ROW)  # noqa: E731
    numpy = lambda: rectangle(whole, batches)  # noqa: E731
    return [
        ("pack, split", lambda: packing.pack(tokens, ROW, method="split"), "best fit", best),
        (
            "pack, first fit",
            lambda: packing.pack(tokens, ROW, method="first_fit_decreasing"),
            "best fit",
            best,
        ),
        ("pack, next fit", lambda: packing.pack(tokens, ROW, method="next_fit"), "best fit", best),
        ("Packing.rows", lambda: rows_again(packed), "best fit", best),
        ("Packing.rows", lambda: rows_again(packed), "np.split", lambda: rows_by_splitting(packed)),
        ("lower_bound", lambda: packing.lower_bound(tokens, ROW), "best fit", best),
        ("measure, 2-D array", lambda: padding.measure(whole, batches), "NumPy", numpy),
        ("measure, lists", lambda: padding.measure(whole, listed), "NumPy", numpy),
        (
            "by_token_budget",
            lambda: buckets.by_token_budget(tokens, 8 * ROW),
            "a loop",
            lambda: greedy(tokens, 8 * ROW),
        ),
        ("in_order", lambda: padding.in_order(tokens, ROWS), "NumPy", numpy),
        ("by_length", lambda: padding.by_length(tokens, ROWS), "NumPy", numpy),
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--documents", type=int, default=10**6)
    chosen = options.parse_args()
    tokens = ln.lognormal(chosen.documents, median=370, sigma=1, longest=ROW)
    print(f"{chosen.documents:,} documents, lognormal, rows of {ROW:,}\n")
    print(f"{'what':<20}{'us a document':>14}{'x':>8}  against")
    for what, call, peer, other in lines(tokens):
        seconds = medians({"ours": call, "peer": other})
        ratio = seconds["ours"] / seconds["peer"]
        print(f"{what:<20}{1e6 * seconds['ours'] / len(tokens):>14.3f}{ratio:>8.2f}  {peer}")


if __name__ == "__main__":
    main()
