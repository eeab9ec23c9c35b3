"""What the command line prints today, byte for byte: a move of modules may change none of it.

JSON holds every digit of a fit, and the last ones differ between processors: there numbers are
compared to 1e-9. A number that changes on purpose is written anew with
`python -m tests.test_golden`, and the commit
says why it changed.
"""

import contextlib
import io
import json
import math
import sys
from pathlib import Path

import pytest

from batchlab import cli

GOLDEN = Path(__file__).parent / "golden"
VERBS = {
    "doctor": ["doctor", "cpu_sweep"],
    "report": ["report", "cpu_sweep"],
    "padding": ["padding"],
    "pack": ["pack"],
    "plan": ["plan"],
    "memory": ["memory", "--device", "cpu"],
}
CALLS = {
    f"{name}{suffix}": words + extra
    for name, words in VERBS.items()
    for suffix, extra in ((".txt", []), (".json", ["--json"]))
}
CALLS |= {
    "propose.txt": ["plan", "--tokens", "100e9", "--devices", "64", "--length", "8192"],
    "propose_lora.txt": ["plan", "--tokens", "20e6", "--lora", "16"],
    "propose_sgd.txt": ["plan", "--tokens", "2e9", "--optimizer", "sgd", "--noise-scale", "500"],
    "rates.txt": ["rates"],
    "serve-sim.txt": ["serve-sim"],
    "propose_grpo.txt": ["plan", "--tokens", "1e9", "--devices", "8", "--generations", "8"],
}


def printed(words: list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert cli.main(words) == 0
    return out.getvalue()


SLOW = ("report.json", "report.txt", "memory.json", "memory.txt", "serve-sim.txt")  # seconds each


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in CALLS]
)
def test_a_verb_prints_what_it_printed(name):
    found, golden = printed(CALLS[name]), (GOLDEN / name).read_text(encoding="utf-8")
    assert found == golden or (name.endswith(".json") and alike(*map(json.loads, (found, golden))))


def alike(one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and one == other


def test_numbers_are_alike_to_the_ninth_digit_and_nothing_else_is():
    assert alike({"a": [1.0, "x"]}, {"a": [1.0 + 1e-12, "x"]})
    assert not alike({"a": [1.0]}, {"a": [1.0001]})
    assert not alike([1], [1.0]) and not alike({"a": 1}, {"b": 1}) and not alike([1], [1, 2])


if __name__ == "__main__":
    for name in sys.argv[1:] or CALLS:
        (GOLDEN / name).write_text(printed(CALLS[name]), encoding="utf-8")
        print(f"wrote: {GOLDEN / name}")
