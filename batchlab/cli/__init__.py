"""The command line: `batchlab VERB`, a table for people or JSON for machines."""

from batchlab.cli._main import VERBS, main, parser
from batchlab.cli._page import told

__all__ = ["VERBS", "main", "parser", "told"]
