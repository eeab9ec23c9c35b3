"""Fill rows of a fixed length with whole documents.

lengths  ->  row number of every document  ->  Packing
"""

from batchlab.packing._bound import lower_bound
from batchlab.packing._dataset import BOUNDARIES, pack_dataset, pack_table
from batchlab.packing._pack import METHODS, TOO_LONG, Packing, Rows, pack
from batchlab.packing._stream import load, rows_of_stream, save

__all__ = [
    "BOUNDARIES",
    "METHODS",
    "TOO_LONG",
    "Packing",
    "Rows",
    "load",
    "lower_bound",
    "pack",
    "pack_dataset",
    "pack_table",
    "rows_of_stream",
    "save",
]
