"""A large class, a tenth of it hostile: flat memory, and nothing left behind (T47)."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from batchlab.grading import Engine, total
from tests.torture_lesson import ANSWERS, PUBLIC, right_but, sent, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
HOSTILE = (
    "def total(lengths):\n    while True: pass",
    "def total(lengths):\n    import os\n    os._exit(3)",
    "def total(lengths):\n    x = []\n    while True: x.append(bytearray(1 << 24))",
    "def total(lengths):\n    import os, time\n    os.fork() or time.sleep(600)\n    return 8",
    "import sys\nsys.stdout.write('x' * (1 << 22))\nopen('left', 'w').write('x')\n"
    + ANSWERS["total"],
)


def resident(pid="self"):
    """Bytes that a process holds for itself."""
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) << 10 for row in rows if row.startswith("RssAnon"))


def below(pid):
    """Processes below one."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    found = [int(one) for one in text.split()]
    return found + [more for one in found for more in below(one)]


def ours(others):
    """Processes below this one that were not there before."""
    return [one for one in below(os.getpid()) if one not in others]


@pytest.mark.parametrize(
    "students",
    [pytest.param(100, marks=pytest.mark.slow), pytest.param(500, marks=pytest.mark.deep)],
)
def test_a_class_leaves_memory_flat_and_nothing_behind(students, tmp_path, monkeypatch):
    monkeypatch.setitem(PUBLIC, "imports", "import torch\n" + PUBLIC["imports"])
    sizes, zygotes, begun = [], [], time.perf_counter()
    others = below(os.getpid())  # what other tests of this process left running
    honest = [json.dumps(one).encode() for one in (sent(), sent({}), right_but(parts="x = 1"))]
    with Engine(written(tmp_path), seed="a soak of five hundred", cpu_seconds=1.5,
                memory=1 << 29) as engine:  # fmt: skip
        assert engine._zygote is not None and engine._home is not None
        for number in range(students):
            if number % 10 == 9:
                hostile = right_but(total=HOSTILE[number // 10 % len(HOSTILE)])
                assert engine.grade(json.dumps(hostile).encode())[1].verdict == "PASS"
            else:
                judged = engine.grade(honest[number % len(honest)])
                assert total(judged) == (10, 0, 8)[number % len(honest)]
            if number % 10 == 9:
                sizes.append(resident())
                zygotes.append(resident(engine._zygote.pid))
        seconds = time.perf_counter() - begun
        until = time.monotonic() + 10
        there, home = ours(others), engine._home.path
        while len(there) > 2 and time.monotonic() < until:
            time.sleep(0.05)  # the last copy is on its way out
            there = ours(others)
        assert len(there) == 2 and engine._zygote.pid in there, "the zygote and its court"
        assert {one.name for one in home.iterdir()} == {
            "home", "owner", "root", "secret", "zygote.log"}  # fmt: skip
    rate = students / seconds * 60
    print(f"{students} submissions, {rate:.0f} a minute; MiB of the supervisor "
          f"{sizes[1] >> 20} to {sizes[-1] >> 20}, of the zygote {zygotes[1] >> 20} to "
          f"{zygotes[-1] >> 20}")  # fmt: skip
    assert sizes[-1] - sizes[1] < 8 << 20 and zygotes[-1] - zygotes[1] < 8 << 20
    until = time.monotonic() + 10
    while (
        left := [one for one in there if Path(f"/proc/{one}").exists()]
    ) and time.monotonic() < until:
        time.sleep(0.05)  # the court ends by itself, when nobody holds its line
    assert not left
    assert not home.exists()
