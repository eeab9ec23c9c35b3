"""One measurement is one line of JSON, with its inputs, its units and its machine.

measurement  <->  line of a .jsonl file;  Cell  <->  a line of kind "cell"
public logs of others  ->  PublicRuns, each row with its source
"""

from batchlab.records._cell import LAYOUTS, Cell, Identity, Json, Model, Parts
from batchlab.records._environment import environment, machine, now
from batchlab.records._file import Records, append, begun, read, sole
from batchlab.records._public import PublicRuns, public_runs
from batchlab.records._public_credit import Credit
from batchlab.records._public_rows import Benchmark, Curve, PublicRun, Reference, Source, Submission
from batchlab.records._ranks import files_of, of_rank
from batchlab.records._same import require_same
from batchlab.records._schema import SCHEMA, as_record, cell

__all__ = [
    "LAYOUTS",
    "SCHEMA",
    "Benchmark",
    "Cell",
    "Credit",
    "Curve",
    "Identity",
    "Json",
    "Model",
    "Parts",
    "PublicRun",
    "PublicRuns",
    "Records",
    "Reference",
    "Source",
    "Submission",
    "append",
    "as_record",
    "begun",
    "cell",
    "environment",
    "files_of",
    "machine",
    "now",
    "of_rank",
    "public_runs",
    "read",
    "require_same",
    "sole",
]
