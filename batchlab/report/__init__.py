"""Text that a person likes to read: aligned tables of what was counted and measured.

    headers, rows  ->  text

A door inside
    report.figures  which figures the records allow, and where they are written
"""

from batchlab.report._diagnosis import diagnosis_text
from batchlab.report._public import PublicTable, public_table
from batchlab.report._stacks import stack_details, stack_matrix, stack_reasons, stack_summary
from batchlab.report._stages import replay, stage_text, stages
from batchlab.report._tables import (
    cell_table,
    knee_text,
    padding_rows,
    peak_table,
    prediction_table,
    table,
)

__all__ = [
    "PublicTable",
    "cell_table",
    "diagnosis_text",
    "knee_text",
    "padding_rows",
    "peak_table",
    "prediction_table",
    "public_table",
    "replay",
    "stack_details",
    "stack_matrix",
    "stack_reasons",
    "stack_summary",
    "stage_text",
    "stages",
    "table",
]
