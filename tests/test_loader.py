"""A loader hands out what it was given, in order, from any number of workers, and resumes."""

import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchlab import batches, buckets, packing
from batchlab.loader import Loader

DOCUMENTS = [[1 + (7 * i + j) % 30 for j in range(1 + i % 13)] for i in range(40)]
ORDER = [list(range(i, i + 4)) for i in range(0, 40, 4)]


def seen(micro_batches):
    return [batch["input_ids"].tolist() for batch in micro_batches]


WHOLE = seen(batches.padded(DOCUMENTS, numbers) for numbers in ORDER)


@pytest.mark.parametrize("workers", [0, 2])
def test_micro_batches_come_in_order_whatever_builds_them(workers):
    assert seen(Loader(DOCUMENTS, ORDER, workers=workers, prefetch=3)) == WHOLE


def test_packed_rows_are_built_by_workers_too():
    found = packing.pack([len(d) for d in DOCUMENTS], 16)
    rows = [[row.tolist()] for row in found.rows]
    build = functools.partial(batches.packed, row_length=16)
    for one in Loader(DOCUMENTS, rows, build=build):
        assert one["input_ids"].shape == (1, 16) and "cu_seqlens" in one


def test_a_position_resumes_at_the_very_next_micro_batch():
    first = Loader(DOCUMENTS, ORDER, workers=2)
    taken = iter(first)
    before = seen(next(taken) for _ in range(3))
    state = json.loads(json.dumps(first.state()))
    del taken
    assert before + seen(Loader(DOCUMENTS, ORDER).resume(state)) == WHOLE
    assert len(Loader(DOCUMENTS, ORDER).resume(state)) == 7


def test_a_position_is_gone_on_with_by_another_builder_but_by_no_other_rank():
    state = Loader(DOCUMENTS, ORDER, workers=2, prefetch=1).state() | {"position": 9}
    build = functools.partial(batches.padded, round_to=20)
    (last,) = Loader(DOCUMENTS, ORDER, build=build).resume(state)
    assert last["input_ids"].shape == (4, 20)
    mine = Loader(DOCUMENTS, ORDER, rank=0, ranks=2).state()
    for how in ({"rank": 1, "ranks": 2}, {}):
        with pytest.raises(ValueError, match="belongs to other data or batches"):
            Loader(DOCUMENTS, ORDER, **how).resume(mine)


@pytest.mark.slow
def test_a_killed_loader_loses_and_repeats_nothing(tmp_path):
    log, place = tmp_path / "log", tmp_path / "place.json"
    code = (
        "import time\nfrom tests.test_loader import *\n"
        f"from pathlib import Path\nlog, place = Path({str(log)!r}), Path({str(place)!r})\n"
        "one = Loader(DOCUMENTS, ORDER, workers=1).resume_from(place)\n"
        "for batch in one:\n"
        "    one.save(place)\n"
        "    line = json.dumps(batch['input_ids'].tolist())\n"
        "    with log.open('a') as file: file.write(line + '\\n')\n"
        "    if len(one) == 4: time.sleep(60)\n"
    )
    root = Path(__file__).parent.parent
    running = subprocess.Popen([sys.executable, "-c", code], cwd=root, start_new_session=True)
    while not log.exists() or len(log.read_text().splitlines()) < 6:
        time.sleep(0.05)
        assert running.poll() is None
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    rest = seen(Loader(DOCUMENTS, ORDER).resume_from(place))
    assert [json.loads(line) for line in log.read_text().splitlines()] + rest == WHOLE


def test_ranks_share_the_batches_without_a_document_twice():
    parts = [Loader(DOCUMENTS, ORDER, rank=rank, ranks=2) for rank in range(2)]
    assert [len(part) for part in parts] == [5, 5]
    numbers = sorted(i for part in parts for batch in part.batches for i in batch)
    assert numbers == list(range(40))
    with pytest.raises(ValueError, match="10 batches do not divide over 3 ranks"):
        Loader(DOCUMENTS, ORDER, rank=0, ranks=3)


def test_another_data_set_or_order_is_refused(tmp_path):
    state = Loader(DOCUMENTS, ORDER).state()
    other = buckets.by_token_budget([len(d) for d in DOCUMENTS], 64)
    with pytest.raises(ValueError, match="belongs to other data"):
        Loader(DOCUMENTS, other).resume(state)
    with pytest.raises(ValueError, match="position 99 lies outside"):
        Loader(DOCUMENTS, ORDER).resume(state | {"position": 99})
    (tmp_path / "torn.json").write_text('{"posi')
    with pytest.raises(ValueError, match="not a saved position"):
        Loader(DOCUMENTS, ORDER).resume_from(tmp_path / "torn.json")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Loader(DOCUMENTS, ORDER, rank=2, ranks=2), "rank must lie between 0 and 1"),
        (lambda: Loader(DOCUMENTS, ORDER, prefetch=0), "prefetch >= 1"),
    ],
)
def test_bad_settings_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_state_of_other_documents_of_the_same_number_is_refused():
    ours, theirs = [[1, 2], [3, 4, 5]], [[1, 2], [3, 4, 6]]
    state = Loader(ours, [[0], [1]]).state()
    assert Loader(ours, [[0], [1]]).resume(state).position == 0
    with pytest.raises(ValueError, match="other data or batches"):
        Loader(theirs, [[0], [1]]).resume(state)


def test_a_second_loop_over_a_loader_that_ran_to_its_end_is_refused():
    made = Loader([[1, 2], [3, 4, 5]], [[0], [1]])
    assert len(list(made)) == 2
    with pytest.raises(ValueError, match="a second loop would train nothing"):
        next(iter(made))
    assert list(made.resume({**made.state(), "position": 1})) != []
    finished = Loader([[1, 2]], [[0]]).resume({**Loader([[1, 2]], [[0]]).state(), "position": 1})
    assert list(finished) == [], "a run that was finished before it was killed has nothing left"
