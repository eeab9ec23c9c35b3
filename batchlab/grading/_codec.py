"""Values as plain data and raw bytes, and back.

a value  ->  a tree for JSON, buffers  ->  the same value, of the same types
"""

from collections.abc import Callable
from typing import Any

from batchlab.classroom.showing import item
from batchlab.grading._packing import Packing
from batchlab.grading._unpacking import Unpacking
from batchlab.grading._values import Connection, Garbage, Stand

__all__ = ["Codec"]


class Codec(Connection):
    """Packs and unpacks for one connection; `stand_in` makes what stands for a far object."""

    def __init__(self, stand_in: Callable[[Stand], Any], *, strict: bool) -> None:
        super().__init__(strict=strict)
        self.stand_in = stand_in

    def pack(self, value: Any, *, frozen: bool = False) -> tuple[Any, list[bytes]]:
        """The tree of a value and its buffers; `frozen` hands nothing over, only to compare."""
        packing = Packing(self, frozen)
        return packing.tree(value, 0), packing.buffers

    def unpack(self, tree: Any, blob: memoryview) -> Any:
        """The value of a tree; Garbage where it is none, Flood where a stranger sends too much."""
        try:
            return Unpacking(self, self.stand_in, blob).value(tree, 0)
        except Garbage:
            raise
        except Exception as error:
            raise Garbage(f"{type(error).__name__}: {item(error, 80)}") from None
