"""`python -m batchlab` is the command `batchlab`."""

import sys

from batchlab.cli import main

sys.exit(main())
