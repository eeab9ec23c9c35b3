"""What the page of lesson 06 shows: its tables, its launches, the setting to find."""

from itertools import product
from pathlib import Path

import pytest

from batchlab import plan
from batchlab.exercises.effective import offers_none, read_launch, scenes, step_found
from batchlab.exercises.effective.fit_test import of

PAGE = Path(__file__).parents[1] / "solutions/06_effective/effective.md"


def test_the_tables_of_the_page_are_those_of_its_check():
    text, names = PAGE.read_text(encoding="utf-8"), {}
    for start in ("SIGNS = {", "hf = {"):
        begin = text.index(start)
        exec(text[begin : text.index("\n```", begin)], names)
    assert names["SIGNS"] == read_launch.SIGNS and names["WORDS"] == read_launch.WORDS


@pytest.mark.parametrize(
    ("message", "offered"),
    [
        ("5,000 slots: try 0 or 8,192", True),
        ("0 (below), 8192 (above)", True),
        ("take np.int64(0) or np.int64(8192)", True),
        ("5000 slots are 0 times 8192 and 5000 over: 8192", False),
        ("0 devices are no run: take 8192", False),
        ("try 10 or 8192", False),
        ("try 0 or 81920", False),
    ],
)
def test_a_zero_is_an_offer_only_beside_the_number_above(message, offered):
    assert offers_none(message, 8192) is offered


def test_the_right_fit_agrees_with_the_library():
    for slots in range(1, 200):
        try:
            want = plan.for_slots_per_step(slots, rows=2, length=4, data_parallel=3).accumulation
        except ValueError:
            with pytest.raises(ValueError):
                of.right(slots, 2, 4, 3)
        else:
            assert of.right(slots, 2, 4, 3) == want


def test_the_step_of_deepseek_can_be_found_and_needs_a_multiple_of_three():
    assert step_found.finder().state["goal"]
    found = [one for one in product(*step_found.OFFERED.values()) if not step_found.fault(one)]
    assert found and all(one[0] % 3 == 0 for one in found)


def test_the_launches_that_the_library_understands_have_the_steps_of_the_table():
    known = {name: (config, devices) for name, config, devices in scenes.LAUNCHES}
    for name, sequences in (("TRL 1.16, packing", 128), ("Megatron-LM", 512)):
        config, devices = known[name]
        found = plan.from_config(config, devices=devices, length=1024)
        assert found.plan.sequences_per_step == sequences


def test_packing_of_the_learner_is_taken_only_if_no_document_is_lost():
    assert scenes.packs(scenes.pack_rows)
    assert not scenes.packs(lambda lengths, size: [[0, 2], [1, 3]])
    assert not scenes.packs(lambda lengths, size: [[n] for n in range(len(lengths))])
