"""No seed of a term refuses the solution; a check that would is found."""

import re
from pathlib import Path

import pytest

from tests.tiny_lesson import SOURCE, course, module

UNLUCKY = (
    "### END HIDDEN TESTS\ncheck",
    'check.law("luck", _lengths[0] > 9)\n### END HIDDEN TESTS\ncheck',
)


def tried(folder: Path, *options: str, source: str = SOURCE, ok: bool = True):
    root = course(folder, source=source)
    module("sources", "--root", str(root))
    return module("seeds", "02_tiny", "--root", str(root), *options, ok=ok).splitlines()


@pytest.mark.slow
def test_the_solution_is_tried_on_every_seed(tmp_path):
    (line,) = tried(tmp_path, "--seeds", "40")
    assert re.fullmatch(r"02_tiny: 1 checks on 40 seeds in \d+ s", line)


@pytest.mark.slow
def test_a_seed_that_refuses_the_solution_is_named(tmp_path):
    assert UNLUCKY[0] in SOURCE
    _, fault = tried(tmp_path, "--seeds", "40", source=SOURCE.replace(*UNLUCKY), ok=False)
    assert re.match(r"check-slots: the solution is refused on seed \d+ of 40: ", fault)
    assert "the law: luck" in fault


@pytest.mark.slow
@pytest.mark.parametrize(("draws", "runs"), [(True, 5), (False, 1)])
def test_a_check_that_does_not_draw_runs_once(tmp_path, draws, runs):
    note = f"    open({str(tmp_path / 'runs')!r}, 'a').write('!')\n"
    right = "    return len(lengths) * max(lengths)"
    source = SOURCE.replace(right, note + right)
    if not draws:
        source = re.sub(r"### BEGIN HIDDEN.*END HIDDEN TESTS\n", "", source, flags=re.S)
    tried(tmp_path, "--seeds", "5", source=source)
    calls = 2 * (1 + 4 * draws)  # the printed case and the drawn ones, each asked twice
    assert (tmp_path / "runs").read_text() == "!" * (1 + runs * calls)  # 1: the cell that reveals


@pytest.mark.slow
def test_a_heavy_check_gets_the_seeds_that_its_seconds_allow_and_says_so(tmp_path):
    line, *_ = tried(tmp_path, "--seeds", "40", "--seconds", "0")
    assert "on 3 seeds in " in line


@pytest.mark.slow
def test_a_cell_that_does_not_run_is_a_fault(tmp_path):
    source = SOURCE.replace("slots([5, 3]))", "slots([5, 3]) / 0)")
    assert source != SOURCE
    _, fault = tried(tmp_path, "--seeds", "5", source=source, ok=False)
    assert "ZeroDivisionError" in fault
