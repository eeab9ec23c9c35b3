"""What watches a training never ends it: one wrapper around all that a recorder does.

    a method of the recorder  ->  the same; its first fault is told once, and the run goes on

Only faults of the recorder are held back. What the user's own code raises never comes through
here, but for what a handler of a signal raises wherever it is called: that passes, and so does an
interrupt from the keyboard.

Words
    quantity  what a method records: counts, times of a part, the file
    lost      a quantity whose method failed; it is recorded no more
    stack     what the training runs on, as its user knows it
"""

import contextlib
import functools
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["guarded", "tell"]

T = TypeVar("T")


def guarded(
    quantity: str, *, again: bool = False
) -> Callable[[Callable[..., T]], Callable[..., T | None]]:
    """Hold back what a method raises and tell it once; with `again`, the next call tries anew.

    Its object knows its `stack`, and keeps what it `lost`: a fault by quantity.
    """

    def wrapped(method: Callable[..., T]) -> Callable[..., T | None]:
        @functools.wraps(method)
        def safe(self: Any, *args: Any, **kwargs: Any) -> T | None:
            if quantity in self.lost and not again:
                return None
            try:
                return method(self, *args, **kwargs)
            except Exception as error:
                if _of_a_signal(error):
                    raise
                if quantity not in self.lost:
                    self.lost[quantity] = _line(error)
                    until = "now" if again else "from here on"
                    tell(
                        f"batchlab monitor on {self.stack}: {quantity} cannot be recorded {until} "
                        f"({self.lost[quantity]}); the training goes on"
                    )
                return None

        return safe

    return wrapped


def tell(text: str) -> None:
    """Say one line as a warning; where warnings are errors, on stderr. It never raises."""
    with contextlib.suppress(Exception):
        try:
            warnings.warn(text, stacklevel=2)
        except Warning:
            print(text, file=sys.stderr)


def _of_a_signal(error: Exception) -> bool:
    """Whether a handler of the user's raised it: a scheduler takes the machine, a limit is up."""
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {getattr(getattr(one, "__func__", one), "__code__", None) for one in handlers}
    return any(frame.f_code in codes for frame, _ in traceback.walk_tb(error.__traceback__))


def _line(error: Exception) -> str:
    try:
        said = str(error).strip().partition("\n")[0]
    except Exception:  # an error whose text fails
        said = ""
    return f"{type(error).__name__}: {said[:200]}" if said else type(error).__name__
