"""A run on a page: what is followed, what is bounded, and what is served to whom."""

import itertools
import json
import queue
import threading
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from batchlab import dashboard, records
from batchlab.cli import main
from batchlab.counts import Counts
from batchlab.dashboard import _follow, _launches, _live, _timeline, _verdict
from batchlab.records import Cell, Parts

BEGAN = 1.8e9


def line(last, *, steps=10, rank=0, world=1, run="a", began=BEGAN, **more):
    """A line whose steps took 0.1 s each: 8 rows of 16 slots, 96 real tokens, 80 targets."""
    parts = {"input": 0.01, "optimizer": 0.02, "host": 0.0, "away": 0.0}
    if world > 1:
        parts["waiting"] = 0.03 * (rank == 0)
    signals = {"loss": [[last - n, 4.0 - last / 100] for n in range(steps)][::-1],
               "gradient_norm": [[last, 0.5 if last % 20 else 2.0]]}  # fmt: skip
    written = datetime.fromtimestamp(began + 0.1 * last, UTC)
    return Cell(
        rows=8, layout="padded", checkpointing=False, precision="float32", accumulation=1,
        data_parallel=world, ranks=(rank,), world_size=world, steps=steps, micro_batches=steps,
        seconds=0.1 * steps, counts=Counts(8 * steps, 96 * steps, 128 * steps, 80 * steps,
                                           1152 * steps, 2048 * steps),
        parts=Parts(**{f"{name}_seconds": each * steps for name, each in parts.items()}),
        step_seconds=(0.1,) * steps, step_slots=(128,) * steps, step_slot_pairs=(2048,) * steps,
        step_parts={name: (each,) * steps for name, each in parts.items()}, source="monitor",
        forward_seconds=0.03 * steps, backward_seconds=0.04 * steps, run=run,
        environment={"device": "cpu", "processor": "a processor", "date": written.isoformat()},
        more={"last_step": last, "began": began, "clip": 1.0, "signals": signals,
              "resident_bytes": 2**20} | more,
    )  # fmt: skip


def append(path, *lines):
    for one in lines:
        records.append(path, one, to_disk=False)


def scene_of(path):
    found = dashboard.Scene()
    found.follow(dashboard.Follower(path))
    return found


def test_a_run_as_the_page_shows_it_by_hand(tmp_path):
    append(tmp_path / "run.jsonl", line(11), line(21), line(31))
    found = scene_of(tmp_path / "run.jsonl").as_data(settled=True)
    now, points = found["now"], found["points"]
    assert (found["steps"], found["tokens"]) == (31, 3 * 960)
    assert (now["sequences"], now["slots"], now["targets"]) == (8, 128, 80)
    assert (now["seconds"], now["rate"], now["waste"]) == (0.1, 960, 0.25)
    at = points["step"].index(21)
    assert points["loss"][at] == pytest.approx(3.79)
    assert points["resident_bytes"][at] == pytest.approx(2**20, rel=1e-4)
    assert points["tokens"][at] == 1920
    parts = dict(zip(found["parts"]["names"], found["parts"]["seconds"], strict=True))
    assert {name: each[at] for name, each in parts.items()} == {
        "useful tokens": pytest.approx(0.07 * 0.75), "padding": pytest.approx(0.07 * 0.25),
        "waiting for input": 0.01, "optimizer": 0.02,
    }  # fmt: skip
    assert sum(each[at] for each in parts.values()) == pytest.approx(0.1)
    assert found["verdict"]["steps"] == 30 and found["verdict"]["text"]
    assert (found["device"], found["broken"]) == ("a processor", 0)


def test_now_is_the_last_five_lines_and_what_was_not_finite_is_counted(tmp_path):
    slow = replace(line(10), seconds=11.0, step_seconds=(1.1,) * 10)
    strange = line(20, not_finite={"loss": 2, "gradient_norm": 1})
    strange = replace(strange, environment={"date": strange.environment["date"]})
    append(tmp_path / "run.jsonl", slow, strange, *(line(30 + 10 * n) for n in range(3)))
    found = scene_of(tmp_path / "run.jsonl").as_data()
    assert found["now"]["seconds"] == found["ranks"][0]["seconds"] == pytest.approx(0.3)
    assert sum(found["points"]["not_finite"]) == 3
    append(tmp_path / "run.jsonl", line(60))
    found = scene_of(tmp_path / "run.jsonl").as_data()
    assert found["now"]["seconds"] == found["ranks"][0]["seconds"] == pytest.approx(0.1)
    append(tmp_path / "none.jsonl", replace(strange, run="b"))
    assert scene_of(tmp_path / "none.jsonl").as_data()["device"] == "unknown device"


def test_buckets_are_joined_in_pairs_when_one_more_would_be_too_many():
    timeline = _timeline.Timeline()
    for position in range(_timeline.MOST):
        timeline._at(position)
    assert (timeline.width, len(timeline.buckets)) == (1, _timeline.MOST)
    timeline._at(_timeline.MOST)
    assert (timeline.width, len(timeline.buckets)) == (2, _timeline.MOST // 2 + 1)


def test_a_long_run_does_not_grow_and_nothing_is_lost(tmp_path):
    """10⁶ steps of a recorder that writes every 500: as many points as after 10⁴."""
    short, long = _timeline.Timeline(), _timeline.Timeline()
    launch = dashboard.Scene()._launches.place(line(1, steps=1))[0]
    for last in range(500, 1_000_001, 500):
        one = line(last, steps=1)
        for timeline in (short, long) if last <= 10_000 else (long,):
            timeline.add(one, launch, last)
    assert len(short.buckets) <= len(long.buckets) <= _timeline.MOST
    assert long.width == 4096
    sums = [one.ranks.get(0, {}) for one in long.buckets]
    assert sum(one.get("real", 0) for one in sums) == 2000 * 96
    losses = [one.signals["loss"] for one in long.buckets]
    assert sum(one.weight for one in losses) == 2000 * 80
    assert [one.first for one in long.buckets] == sorted(one.first for one in long.buckets)


def test_a_long_file_is_taken_in_pieces_and_comes_out_the_same(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    append(path, *(line(11 + 10 * n) for n in range(9)))
    whole = scene_of(path).as_data(settled=True)
    monkeypatch.setattr(_follow, "CHUNK", 1000)  # less than a line
    assert scene_of(path).as_data(settled=True) == whole
    scene = dashboard.Scene()
    scene.follow(dashboard.Follower(path), 0.0)
    found = scene.as_data()
    assert found["steps"] == 0, "one look a call, where there is no time"
    assert found["read"] == 1000 / path.stat().st_size and whole["read"] == 1


def test_a_rank_that_is_read_later_keeps_its_lines_in_their_launch():
    """The other rank's next launch is there already, as in files that are read in pieces."""
    later, launches = {"began": BEGAN + 60}, _launches.Launches()
    lines = [
        line(11, rank=0, run="a0"), line(11, rank=1, run="a1"), line(21, rank=1, run="a1"),
        line(11, rank=1, run="b1", **later), line(21, rank=0, run="a0"),
        line(11, rank=0, run="b0", **later),
    ]  # fmt: skip
    placed = [launches.place(one) for one in lines]
    found = [(launch.number, last) for launch, last in placed]
    assert found == [(1, 11), (1, 11), (1, 21), (2, 32), (1, 21), (2, 32)]


def test_a_clip_is_seen_whether_norms_are_told_before_or_after_it(tmp_path):
    append(tmp_path / "run.jsonl", line(10), line(20), line(30))
    assert scene_of(tmp_path / "run.jsonl").as_data()["clipped"] == pytest.approx(1 / 3)
    after = {"signals": {"gradient_norm": [[8, 0.7], [9, 0.9999999]]}}
    append(tmp_path / "after.jsonl", line(10, **after))
    assert scene_of(tmp_path / "after.jsonl").as_data()["clipped"] == 0.5


def test_ranks_stand_side_by_side_and_their_batches_add(tmp_path):
    for rank in (0, 1):
        path = records.of_rank(tmp_path / "run.jsonl", rank, 2)
        append(path, line(11, rank=rank, world=2, run=f"of {rank}"))
    append(records.of_rank(tmp_path / "run.jsonl", 0, 2), line(21, rank=0, world=2, run="of 0"))
    found = scene_of(tmp_path / "run.jsonl").as_data(settled=True)
    assert found["launches"] == [] and [one["rank"] for one in found["ranks"]] == [0, 1]
    assert found["now"]["sequences"] == 16 and found["now"]["rate"] == 1920
    assert found["tokens"] == 4 * 960, "of a rank that is behind, the mean of the others counts"
    assert [one["waiting"] for one in found["ranks"]] == [0.03, 0]


def test_tensors_that_ranks_share_are_not_added(tmp_path):
    for rank in (0, 1):
        one = replace(line(11, rank=rank, world=2), data_parallel=None)
        append(records.of_rank(tmp_path / "run.jsonl", rank, 2), one)
    found = scene_of(tmp_path / "run.jsonl").as_data()
    assert found["now"]["sequences"] == 8 and not found["whole"]


def test_a_run_that_comes_back_goes_on_behind_and_is_diagnosed_anew(tmp_path):
    path = tmp_path / "run.jsonl"
    follower, scene = dashboard.Follower(path), dashboard.Scene()
    append(path, line(11), line(21))
    with path.open("a") as file:
        file.write('{"kind": "cell", "schema": 2, "ro')  # killed while it wrote
    assert scene.take(follower.look())
    assert scene.as_data()["broken"] == 0, "a line may still be under way"
    append(path, line(11, run="b", began=BEGAN + 60))
    scene.take(follower.look())
    found = scene.as_data(settled=True)
    assert (found["steps"], found["launches"], found["broken"]) == (32, [21], 1)
    assert found["verdict"]["steps"] == 10
    assert not scene.take(follower.look()), "nothing new"


def test_steps_that_a_resumed_training_takes_again_are_told(tmp_path):
    path = tmp_path / "run.jsonl"
    append(path, line(11), line(21))
    append(path, line(11, run="b", began=BEGAN + 60, step_before=15))  # steps 16 to 26
    append(path, line(11, run="c", began=BEGAN + 90, step_before=26))
    found = scene_of(path).as_data()
    assert (found["steps"], found["again"]) == (21 + 11 + 11, 21 - 15)


def test_a_clock_that_was_set_back_changes_no_order(tmp_path):
    path = tmp_path / "run.jsonl"
    append(path, line(11), line(21), line(11, run="b", began=BEGAN - 86400))
    append(path, line(21, run="b", began=BEGAN - 2 * 86400))  # set back in the run as well
    scene = scene_of(path)
    assert scene.as_data()["launches"] == [21]
    assert [one.runs for one in scene._launches] == [{0: "a"}, {0: "b"}], "b stood before a"
    assert scene.as_data()["written"] < BEGAN - 86400, "the page would say 'running' for two days"


@pytest.mark.parametrize("how", ["cut", "begun anew", "taken away"])
def test_a_file_that_is_replaced_is_read_from_its_beginning(tmp_path, how):
    path = tmp_path / "run.jsonl"
    follower, scene = dashboard.Follower(path), dashboard.Scene()
    append(path, line(11), line(21))
    scene.take(follower.look())
    path.unlink()
    if how == "cut":
        append(path, line(11))
    elif how == "begun anew":  # and longer than what was read
        append(path, *(line(11 + 10 * n, began=BEGAN + 99, run="b") for n in range(4)))
    scene.take(follower.look())
    assert scene.as_data()["steps"] == {"cut": 11, "begun anew": 41, "taken away": 0}[how]


def test_ranks_of_two_launches_find_each_other_in_any_order(tmp_path):
    for rank in (1, 0):
        for run, began in (("a", BEGAN), ("b", BEGAN + 100)):
            path = records.of_rank(tmp_path / "run.jsonl", rank, 2)
            append(path, line(11, rank=rank, world=2, run=f"{run}{rank}", began=began + rank))
    assert scene_of(tmp_path / "run.jsonl").as_data()["launches"] == [11]


def test_records_of_a_sweep_and_lines_of_others_are_shown_or_counted(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('[1]\nno json\n{"kind": "note"}\n{"rows": 3}\n')
    append(
        path, *records.read("cpu_sweep").cells()[:6], line(9, last_step="x", signals={"loss": 3})
    )
    found = scene_of(path).as_data(settled=True)
    assert found["broken"] == 4 and found["steps"] > 0
    json.dumps(found, allow_nan=False)


def test_the_doctor_is_heard_again_as_evidence_grows_and_his_word_is_kept():
    said = _verdict.Verdict()
    measured = records.read("cpu_sweep").cells()
    said.add(next(one for one in measured if (one.rows, one.layout) == (1, "padded")), 1)
    said.consult(12)
    before = said.text
    for one in measured:
        said.add(one, 1)
    said.consult(24, now=True)
    assert said.text != before and said.text.startswith("Padding: ")
    assert "of a step (" in said.text and "Predicted gain" in said.text
    assert [one["step"] for one in said.history] == [12, 24]
    said.add(replace(measured[0], precision="bfloat16"), 1)
    said.history = [{"step": n, "head": ""} for n in range(_verdict.MOST)]
    said.consult(36, now=True)
    assert [one["step"] for one in said.history] == [*range(1, _verdict.MOST), 36]
    assert said.text.startswith("No diagnosis: the records differ in precision")


def test_a_copy_is_one_file_that_asks_nobody(tmp_path, capsys):
    append(tmp_path / "run.jsonl", line(11, environment={"device": "</script><b>"}))
    assert main(["watch", str(tmp_path / "run.jsonl"), "--export", str(tmp_path / "a.html")]) == 0
    text = (tmp_path / "a.html").read_text()
    assert "http://www.w3.org/2000/svg" in text and text.count("http") == 1, "a name, no address"
    assert "src=" not in text and '"copied": "20' in text
    assert len(text) < 10**5 and "\\u003c/script>\\u003cb>" in text
    shown = dashboard.show(tmp_path / "run.jsonl")
    assert shown._repr_html_().startswith("<iframe srcdoc=") and "&lt;script" in shown._repr_html_()
    assert main(["watch", str(tmp_path / "none.jsonl"), "--export", str(tmp_path / "b.html")]) == 1
    assert "no step is recorded" in capsys.readouterr().err and not (tmp_path / "b.html").exists()
    assert main(["watch", str(tmp_path / "no" / "run.jsonl")]) == 1
    assert "there is no folder" in capsys.readouterr().err


@pytest.fixture
def notebook(monkeypatch):
    """Outputs of a cell, by the names of what a browser would do with them; `drawn` waits."""
    import IPython
    import IPython.display

    outputs, drawn = [], queue.Queue()

    def display(one, display_id):
        outputs.append(one)
        return SimpleNamespace(update=drawn.put)

    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=None))
    monkeypatch.setattr(IPython.display, "display", display)
    return outputs, drawn


def test_a_notebook_hears_of_each_new_line_and_keeps_the_last_page(tmp_path, notebook):
    outputs, drawn = notebook
    live = dashboard.follow(tmp_path / "run.jsonl", seconds=0.001)
    page = outputs[0]
    assert f'name="{page.name}"' in page._repr_html_() and '"steps": 0' in page.html
    append(tmp_path / "run.jsonl", line(11, rank=0))
    message = drawn.get(timeout=60).data
    assert page.name in message and '"steps": 11' in message and message.count("</") == 1
    assert dashboard.follow(tmp_path / "run.jsonl", seconds=0.001) is not live
    assert not live._thread.is_alive(), "the cell ran again: one thread a run"
    last, cleared = drawn.get(timeout=60), drawn.get(timeout=60)
    assert '"steps": 11' in last.html and '"copied": "20' in last.html and not cleared.data
    dashboard.follow(tmp_path / "run.jsonl").stop()


@pytest.mark.filterwarnings("error")
def test_a_page_that_cannot_be_drawn_says_so_in_its_cell_and_nowhere_else(
    tmp_path, notebook, monkeypatch
):
    def fails(self):
        raise RuntimeError("<b>")

    monkeypatch.setattr(dashboard.Scene, "as_data", fails)
    live = dashboard.follow(tmp_path / "run.jsonl", seconds=0.001)
    said = notebook[1].get(timeout=60).data
    assert "run.jsonl is followed no more: RuntimeError(" in said and "<b>" not in said
    live.stop()


def test_a_file_that_goes_away_under_its_reader_is_read_anew(tmp_path, notebook, monkeypatch):
    append(tmp_path / "run.jsonl", line(11))
    looks = iter([FileNotFoundError("gone"), dashboard.Follower(tmp_path / "run.jsonl").look()])

    def look(self):
        one = next(looks, _follow.Look())
        if isinstance(one, Exception):
            raise one
        return one

    monkeypatch.setattr(dashboard.Follower, "look", look)
    live = dashboard.follow(tmp_path / "run.jsonl", seconds=0.001)
    assert '"steps": 11' in notebook[1].get(timeout=60).data
    live.stop()


def test_a_run_that_rests_is_told_again_and_is_left_in_the_end(tmp_path, notebook, monkeypatch):
    drawn, now = notebook[1], itertools.count(0, _live.END / 9)
    clock = SimpleNamespace(monotonic=lambda: next(now), time=lambda: 7.0)
    monkeypatch.setattr(_live, "time", clock)
    append(tmp_path / "run.jsonl", line(11))
    live = dashboard.follow(tmp_path / "run.jsonl", seconds=0.001)
    live._thread.join(60)
    first, again, *_, last, cleared = drawn.queue
    assert first.data == again.data and '"sent": 7.0' in first.data, "a page knows that it is heard"
    assert '"copied"' in last.html and not cleared.data and not live._thread.is_alive()


def test_where_no_notebook_is_the_verb_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"no notebook shows this page: `batchlab watch .*run"):
        dashboard.follow(tmp_path / "run.jsonl")


@pytest.fixture
def serving(tmp_path):
    with dashboard.server(tmp_path / "run.jsonl", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def asked(address, host=None):
    request = urllib.request.Request(address, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request) as answer:
        return answer.status, answer.read().decode(), answer.headers


def test_a_server_tells_the_next_state_once_and_waits_for_a_run(serving, tmp_path):
    status, text, headers = asked(serving)
    assert status == 200 and '"steps": 0' in text
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    first = json.loads(asked(f"{serving}/state")[1])
    assert first["steps"] == 0
    assert asked(f"{serving}/state?have={first['version']}")[:2] == (204, "")
    append(tmp_path / "run.jsonl", line(11))
    second = json.loads(asked(f"{serving}/state?have={first['version']}")[1])
    assert (second["steps"], second["version"]) == (11, first["version"] + 1)


@pytest.mark.parametrize(("path", "host", "code"), [
    ("/", "evil.example:80", 403), ("/state", "127.0.0.1.evil.com:80", 403), ("/etc", None, 404),
])  # fmt: skip
def test_a_page_of_another_host_gets_nothing(serving, path, host, code):
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(serving + path, host)
    assert refused.value.code == code
    refused.value.close()
