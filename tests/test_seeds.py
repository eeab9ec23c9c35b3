"""No seed of a term refuses a right answer or accepts a wrong one; a check that would is found."""

import re
from pathlib import Path

import pytest

from tests.tiny_lesson import BANK, SOURCE, course, module

ONE_DRAW = (
    'for _lengths in check.rng("check-slots").integers(1, 99, (4, 3)).tolist():',
    'for _lengths in check.rng("check-slots").integers(1, 99, (1, 3)).tolist():',
)
UNLUCKY = (
    "### END HIDDEN TESTS\ncheck",
    'check.law("luck", _lengths[0] > 9)\n### END HIDDEN TESTS\ncheck',
)


def tried(folder: Path, *options: str, source: str = SOURCE, bank: str = BANK, ok: bool = True):
    root = course(folder, source=source, bank=bank)
    module("sources", "--root", str(root))
    return module("seeds", "02_tiny", "--root", str(root), *options, ok=ok).splitlines()


def test_the_answers_of_a_bank_are_tried_on_every_seed(tmp_path):
    (line,) = tried(tmp_path, "--seeds", "40")
    assert re.fullmatch(r"02_tiny: 4 answers on 40 seeds in \d+ s", line)


def test_a_seed_that_lets_a_wrong_answer_through_is_named(tmp_path):
    """One draw of three lengths: in a third of the terms the first row is the longest."""
    assert ONE_DRAW[0] in SOURCE
    _, fault = tried(tmp_path, "--seeds", "40", source=SOURCE.replace(*ONE_DRAW), ok=False)
    assert re.match(r"slots: first: accepted on seed \d+ of 40: ", fault)


def test_a_seed_that_refuses_a_right_answer_is_named(tmp_path):
    assert UNLUCKY[0] in SOURCE
    _, *faults = tried(tmp_path, "--seeds", "40", source=SOURCE.replace(*UNLUCKY), ok=False)
    refused = [fault for fault in faults if "refused on seed" in fault]
    assert [fault.split(": ")[1] for fault in refused] == ["the solution", "loop"]
    assert all("the law: luck" in fault for fault in refused)


@pytest.mark.parametrize(("draws", "runs"), [(True, 5), (False, 1)])
def test_a_check_that_does_not_draw_runs_once(tmp_path, draws, runs):
    note = f"    open({str(tmp_path / 'runs')!r}, 'a').write('!')"
    counted = f"def slots(x):\n{note}\n    return len(x) * max(x)"
    bank = f"RIGHT = {{'slots': {{'counted': {counted!r}}}}}\n"
    source = (
        SOURCE if draws else re.sub(r"### BEGIN HIDDEN.*END HIDDEN TESTS\n", "", SOURCE, flags=re.S)
    )
    tried(tmp_path, "--seeds", "5", source=source, bank=bank)
    calls = 2 * (1 + 4 * draws)  # the printed case and the drawn ones, each asked twice
    assert (tmp_path / "runs").read_text() == "!" * (1 + runs * calls)  # 1: the cell that reveals


def test_a_heavy_check_gets_the_seeds_that_its_seconds_allow_and_says_so(tmp_path):
    line, *_ = tried(tmp_path, "--seeds", "40", "--seconds", "0")
    assert "on 3 to " in line


def test_an_answer_that_does_not_run_is_a_fault(tmp_path):
    bank = "WRONG = {'slots': {'crashes': ('1 / 0', 'x')}}\n"
    _, fault = tried(tmp_path, "--seeds", "5", bank=bank, ok=False)
    assert "ZeroDivisionError" in fault
