"""What a submission writes where no file system of its own bounds it: used, counted and removed."""

import dataclasses
import itertools
import json
import os
import sys
from pathlib import Path

import pytest

from batchlab.grading import Engine, _folder, _limits, total
from tests.torture_lesson import cell, notebook, right_but, sent, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
READS = "open('mine.txt', 'w').write('8')\ndef total(lengths):\n    assert open('mine.txt').read()\n    return sum(lengths)"  # noqa: E501
FILLS = {
    "files": "for n in range(64):\n        open(str(n), 'wb').write(bytes(1 << 20))",
    "empty files": "for n in range(9_000):\n        open(str(n), 'wb').close()",
    "files in hidden folders": "import os\n    for n in range(64):\n        os.mkdir(str(n)); open(f'{n}/x', 'wb').write(bytes(1 << 20)); os.chmod(str(n), 0)",  # noqa: E501
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    try:
        with Engine(
            written(tmp_path_factory.mktemp("course")), seed="zq-autumn-81", level="L2"
        ) as one:
            one.limits = dataclasses.replace(one.limits, written=16 << 20)
            yield one
    except ValueError as error:
        pytest.skip(str(error))


def test_a_notebook_that_writes_a_file_gets_its_points(engine):
    judged = engine.grade(json.dumps(right_but(total=READS)).encode())
    assert total(judged) == 10


@pytest.mark.parametrize("code", FILLS.values(), ids=FILLS)
@pytest.mark.slow
def test_who_fills_the_disk_loses_one_question_and_leaves_nothing(engine, code, monkeypatch):
    free = itertools.count(1 << 50, -1 << 30)  # others write beside it all the time
    monkeypatch.setattr(_limits, "_free", lambda folder: (next(free), 1 << 50))
    source = f"def total(lengths):\n    {code}\n    import time\n    time.sleep(60)"
    judged = engine.grade(json.dumps(right_but(total=source)).encode())
    assert (judged[0].verdict, judged[0].points) == ("OUTPUT", 0)
    assert [one.points for one in judged[1:]] == [2] * 4
    assert not list(engine._home.path.glob("work-*"))


@pytest.mark.slow
def test_cells_that_end_their_process_are_no_fault_of_ours(engine):
    ends = [cell(f"c{n}", "import os\nos._exit(1)") for n in range(70)]
    judged = engine.grade(json.dumps(notebook([*ends, *sent()["cells"]])).encode())
    assert {one.verdict for one in judged} == {"TIMEOUT"}


@pytest.mark.slow
def test_a_folder_goes_however_deep_it_is_and_whatever_it_forbids(tmp_path):
    here, top = Path.cwd(), tmp_path / "top"
    top.mkdir()
    (top / "closed").mkdir()
    (top / "closed/file").touch()
    (top / "closed").chmod(0)
    os.chdir(top)
    for _ in range(1_100):
        os.mkdir("down")  # noqa: PTH102
        os.chdir("down")
    os.chdir(here)
    assert _folder.size(top, 1 << 20) > 1 << 20, "what cannot be looked through is too much"
    _folder.remove(top)
    assert not top.exists()


def test_what_a_folder_holds_is_counted(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/file").write_bytes(bytes(1 << 20))
    (tmp_path / "link").symlink_to("/usr")
    assert 1 << 20 <= _folder.size(tmp_path, 1 << 30) < 2 << 20
