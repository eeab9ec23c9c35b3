"""One measurement is one line of JSON, with its inputs, its units and its machine.

measurement  <->  line of a .jsonl file
"""

from batchlab.records._file import Records, append, device_of, environment, now, read, require_same

__all__ = ["Records", "append", "device_of", "environment", "now", "read", "require_same"]
