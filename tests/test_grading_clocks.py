"""No check reads a clock (T52): a verdict is the same on a busy machine and on an idle one."""

import ast
import json

import pytest

from tests.tiny_lesson import ROOT

CLOCKS = {"perf_counter", "perf_counter_ns", "monotonic", "process_time", "thread_time", "time",
          "time_ns", "timeit", "datetime", "stopwatch", "Timer"}  # fmt: skip
LESSONS = sorted((ROOT / "solutions").glob("*/*.ipynb"))


def clocks(source):
    """Names of clocks in a cell; a word in a text is none."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {one.name.split(".")[-1] for one in node.names}
    return found & CLOCKS


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.parent.name)
def test_no_check_reads_a_clock(path):
    cells = json.loads(path.read_text())["cells"]
    checks = [one for one in cells if one["metadata"].get("nbgrader", {}).get("grade")]
    assert checks
    for one in checks:
        assert not clocks("".join(one["source"])), one["id"]


def test_a_clock_is_seen_and_a_word_about_one_is_not():
    assert clocks("from time import perf_counter\nassert f(perf_counter()) < 1") == {"perf_counter"}
    assert clocks("import time\nassert time.thread_time() < 1") == {"time", "thread_time"}
    assert clocks('likely = "time.time() knows nothing of this device: call clock()"') == set()
