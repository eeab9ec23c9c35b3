"""Copies of the zygote: their seconds are counted, and large pages change nothing but the time."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchlab.grading import Engine
from tests.torture_lesson import right_but, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
BURNS = """def total(lengths):
    import time
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    return sum(lengths)"""
GATHERED = """
import hashlib
from batchlab.grading import _kernel
held = bytearray(range(256)) * (1 << 17)
before = hashlib.sha256(held).digest()
done = _kernel.large_pages()
assert hashlib.sha256(held).digest() == before
assert 0 <= done <= 1 << 40
print(done >> 20)
"""


def ended(pid):
    """CPU seconds of the processes that one has started and waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / 100


@pytest.mark.slow
def test_the_seconds_of_every_copy_are_counted(tmp_path):
    with Engine(written(tmp_path), seed=None, cpu_seconds=30) as engine:
        assert engine._zygote is not None
        before = ended(engine._zygote.pid)
        one = engine.grade(json.dumps(right_but(total=BURNS)).encode())[0]
        until = time.monotonic() + 10
        while ended(engine._zygote.pid) - before < 0.2 and time.monotonic() < until:
            time.sleep(0.05)
        assert one.verdict == "PASS" and one.seconds >= 0.2
        assert ended(engine._zygote.pid) - before >= 0.2


def test_memory_in_large_pages_holds_what_it_held():
    done = subprocess.run([sys.executable, "-c", GATHERED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 0
