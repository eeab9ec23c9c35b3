"""The public record: what its sources say is read, and what must not be mixed is refused."""

import re
from importlib.resources import files
from statistics import median

import pytest

from batchlab import records

FOLDER = files("batchlab") / "evidence/public_runs"
B200, H100, GB200 = "hpg.dgxb200x8", "eos-dfw", "tyche"

LADDERS = [  # figures that were read off the sources: system, benchmark, round -> minutes
    (f"{B200}.n1", "llama31_8b", "5.1", 8, 16, 92.9, 12.4),
    (f"{B200}.n2", "llama31_8b", "5.1", 16, 32, 59.6, 15.9),
    (f"{B200}.n4", "llama31_8b", "5.1", 32, 16, 35.7, 19.0),
    (f"{B200}.n8", "llama31_8b", "5.1", 64, 32, 17.9, 19.1),
    (f"{B200}.n16", "llama31_8b", "5.1", 128, 64, 11.4, 24.4),
    (f"{B200}.n32", "llama31_8b", "5.1", 256, 128, 10.0, 42.7),
    (f"{H100}_n256_ngc25.01_nemo", "llama31_405b", "5.0", 2048, 1152, 60.2, None),
    (f"{H100}_n304_ngc25.01_nemo", "llama31_405b", "5.0", 2432, 1216, 60.4, None),
    (f"{H100}_n320_ngc25.01_nemo", "llama31_405b", "5.0", 2560, 1120, 50.4, None),
    (f"{GB200}_ngpu8_ngc25.04_nemo", "llama2_70b_lora", "5.0", 8, 8, 11.1, None),
    ("16xXE9712x4GB200", "llama2_70b_lora", "5.0", 64, 8, 1.86, None),
    (f"{GB200}_ngpu512_ngc25.04_nemo", "llama2_70b_lora", "5.0", 512, 64, 0.56, None),
]


@pytest.mark.parametrize(
    ("system", "benchmark", "round_", "devices", "batch", "minutes", "hours"), LADDERS
)
def test_the_ladders_are_those_of_the_sources(
    system, benchmark, round_, devices, batch, minutes, hours
):
    found = records.public_runs(benchmark=benchmark, round=round_)
    (one,) = [each for each in found.submissions if each.system == system]
    digits = len(str(minutes).partition(".")[2])
    assert (one.devices, one.batch, round(one.minutes, digits)) == (devices, batch, minutes)
    if hours is not None:
        assert round(one.device_hours, 1) == hours
    runs = sorted(each.minutes for each in found.runs if each.system == system)
    middle = runs[1:-1]
    assert sum(middle) / len(middle) == pytest.approx(one.minutes, rel=1e-4)


def test_every_row_says_where_it_comes_from_and_whose_it_is():
    found = records.public_runs(duplicates=True)
    assert (len(found.runs), len(found.references), len(found.submissions)) == (2139, 643, 244)
    assert (len(found.curves), sum(len(one.losses) for one in found.curves)) == (157, 2015)
    for one in (*found.runs, *found.submissions):
        said = one.submitter, one.system, f"{one.benchmark} v{one.round} Closed", one.device
        assert all(said) and all(word in one.label for word in said)
        assert f"{one.devices:,} " in one.label and one.division == "Closed"
    for one in (*found.runs, *found.references, *found.submissions, *found.curves):
        assert re.fullmatch(r"[0-9a-f]{40}", one.source.commit)
        assert one.source.repository.startswith("mlcommons/") and one.source.path


def test_minutes_are_samples_over_throughput_and_the_evaluations():
    misses = sorted(
        abs((one.samples / one.samples_per_second / 60 + one.eval_minutes) / one.minutes - 1)
        for one in records.public_runs(duplicates=True).runs
        if one.samples and one.minutes and one.samples_per_second
    )
    assert len(misses) == 2137
    assert median(misses) < 1e-4 and misses[-1] < 0.05
    without = [
        abs(one.samples / one.samples_per_second / 60 / one.minutes - 1)
        for one in records.public_runs().runs
        if one.samples and one.minutes and one.samples_per_second
    ]
    assert median(without) > 0.02  # the evaluations belong to it


def test_what_was_submitted_twice_counts_once():
    once, twice = records.public_runs(), records.public_runs(duplicates=True)
    assert len(once.runs) == 2110 and len(once.submissions) == 239
    assert {one.duplicate_of for one in once.runs} == {""}
    assert len(twice.runs) - len(once.runs) == sum(bool(one.duplicate_of) for one in twice.runs)


def test_filters_leave_what_was_asked_for():
    found = records.public_runs(benchmark="llama31_8b", device="B200", batch=32)
    assert {(one.benchmark, one.device, one.batch) for one in found.runs} == {
        ("llama31_8b", "B200", 32)
    }
    assert {one.run.batch for one in found.curves} == {32}
    assert {(one.benchmark, one.batch) for one in found.references} == {("llama31_8b", 32)}
    assert list(found.benchmarks) == ["llama31_8b"]
    assert len(found.references) == 20


def test_an_unknown_name_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"no device 'A10' here; there are A100, B200"):
        records.public_runs(device="A10")
    with pytest.raises(ValueError, match=r"no benchmark '8b' here; there are .*llama31_8b"):
        records.public_runs(benchmark="8b")
    with pytest.raises(ValueError, match=r"no round '7.0' here; there are"):
        records.public_runs(round="7.0")


@pytest.mark.parametrize("of", ["references", "runs"])
def test_405b_of_two_versions_is_never_one_set_of_points(of):
    with pytest.raises(ValueError, match=r'do not share a convergence curve: ask for round="5.0"'):
        records.public_runs(benchmark="llama31_405b").seeds(of)
    old = records.public_runs(benchmark="llama31_405b", round="5.0").seeds(of)
    new = records.public_runs(benchmark="llama31_405b", round="5.1").seeds(of)
    middle = {
        name: sum(map(sum, seeds[1152])) / 2 / len(seeds[1152])
        for name, seeds in {"old": old, "new": new}.items()
    }
    assert middle["new"] > 1.01 * middle["old"]  # the rule has a reason


def test_points_of_several_targets_or_rounds_are_refused():
    with pytest.raises(ValueError, match="have targets of their own"):
        records.public_runs().seeds()
    with pytest.raises(ValueError, match="gpt3: no round has all these points"):
        records.public_runs(benchmark="gpt3").seeds()
    with pytest.raises(ValueError, match="no references are left"):
        records.public_runs(benchmark="gpt3", batch=17).seeds()
    with pytest.raises(ValueError, match='seeds are of "references" or of "runs"'):
        records.public_runs(benchmark="gpt3").seeds("curves")


def test_a_typo_upstream_is_no_seed_and_a_first_evaluation_bounds_from_above_only():
    seeds = records.public_runs(benchmark="gpt3", round="4.1").seeds()
    assert max(high for points in seeds.values() for _, high in points) < 1e6
    assert seeds[6144] == [(663552.0, 688128.0)] * 6
    grpo = records.public_runs(benchmark="qwen35_397b_grpo").seeds()
    assert sum(map(len, grpo.values())) == 18
    assert {low for points in grpo.values() for low, _ in points} == {0.0}


def test_the_interpolated_crossing_lies_inside_the_interval():
    seen = 0
    for one in records.public_runs().runs:
        if one.crossing is not None and one.interval is not None and one.interval[0] > 0:
            low, high = one.interval
            assert low - 1 <= one.crossing <= high + 1, one.label
            seen += 1
    assert seen > 1500


def test_licence_notice_and_changes_stand_beside_the_tables_which_are_small():
    assert "Apache License" in (FOLDER / "LICENSE-Apache-2.0.txt").read_text()
    changes = (FOLDER / "CHANGES.txt").read_text()
    assert "The files were changed" in changes and "unverified" in changes
    for one in records.public_runs().runs[::200]:
        assert one.source.commit in changes
    notice = records.public_runs().notice
    assert "Result not verified by MLCommons Association" in notice
    assert "Apache License 2.0" in notice and "\n" not in notice
    name = "MLPerf"
    assert notice.count(name) == notice.count(f"{name}®") > 0
    names = [one.name for one in FOLDER.iterdir()]
    assert not any(name.lower() in one.lower() for one in names)
    assert sum(len(one.read_bytes()) for one in FOLDER.iterdir()) <= 300_000
