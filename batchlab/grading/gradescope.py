"""Grade the one submission that a Gradescope container holds.

course, lesson, submission/  ->  results.json; exit 1, and no file, where there is no score

`python -m batchlab.grading.gradescope COURSE LESSON SUBMISSION RESULTS` is what the script
`run_autograder` of `batchlab course export --to gradescope` calls.
"""

import json
import sys
from pathlib import Path

from batchlab.grading._gradescope import results
from batchlab.grading._record import whole

__all__ = ["main"]


def main(words: list[str], engine: str = "") -> int:
    """Write results.json, or say in one line why there is none."""
    if len(words) != 4:
        print("COURSE LESSON SUBMISSION RESULTS are needed", file=sys.stderr)
        return 2
    course, lesson, submission, out = words
    try:
        told = results(Path(course), lesson, Path(submission), engine=engine)
    except (ValueError, OSError) as error:
        print(f"batchlab: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    text = json.dumps(told, indent=1) + "\n"
    whole(Path(out), text.encode(), 0o644)  # the harness of Gradescope reads it as another user
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
