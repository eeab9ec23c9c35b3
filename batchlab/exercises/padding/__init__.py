"""Padding: the price of a rectangle. The exercises in the order of the page."""

ORDER = ("waste", "expected-longest", "collate")


def several(batches):
    """Batches in the words of a message."""
    rows = sum(map(len, batches))
    return f"{batches}" if rows <= 12 else f"{len(batches):,} batches of {rows:,} rows"


def drawn(rng):
    """Small batches, then some cut in other ways, then many and longer ones."""
    small = [
        ([rng.integers(1, 99, rng.integers(1, 6)).tolist() for _ in range(5)],) for _ in range(20)
    ]
    some = rng.integers(1, 99, 6).tolist()
    small += [([some[:n], some[n:]],) for n in (1, 3, 5)]  # one set of rows, other batches
    wide = [rng.integers(1, 4000, rng.integers(1, 60)).tolist() for _ in range(40)]
    return [*small, ([[7]],), ([[3], [3]],), (wide,), ([[1] * 20 + [5001]],), (wide[::2],)]
