"""A bar on stderr for work that takes a while; nothing where stderr is closed or no terminal.

done, of, what is next  ->  a bar that is gone when the work ends
"""

import contextlib
import sys
from collections.abc import Callable, Iterator

__all__ = ["Report", "bar"]

Report = Callable[[int, int | None, str], None]


@contextlib.contextmanager
def bar() -> Iterator[Report]:
    """Yield `report(done, of, text)`; `of` is None where nobody knows how much there is."""
    from tqdm import tqdm

    hidden = sys.stderr is None or None  # None asks whether it is a terminal
    with tqdm(disable=hidden, file=sys.stderr, leave=False, dynamic_ncols=True) as shown:

        def report(done: int, of: int | None, text: str) -> None:
            shown.total, shown.n = of, done
            shown.set_description_str(text)

        yield report
