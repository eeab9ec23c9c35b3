"""The probe of lesson 06: what a refusal offers, which fits are wrong, and a setting to find."""

import pytest

from batchlab import plan
from batchlab.classroom.probes import lesson_06 as probe


def refuse(*values):
    raise ValueError(f"no {values[0]:,} slots")


@pytest.mark.parametrize(
    ("message", "part", "want"),
    [
        ("102 devices: try 96 or 104", 8, [96, 104]),
        ("102 devices, tensor 8: 96, 104", 8, [8, 96, 104]),
        ("try 999,424 and 1_007_616", 8192, [999424, 1007616]),
        ("5 devices: 0 or 8", 8, [0, 8]),
        ("take np.int64(96) or np.int64(104)", 64, []),
        ("does not divide", 8, []),
    ],
)
def test_offers_are_the_multiples_that_a_message_names(message, part, want):
    assert probe.offers(message, part) == want


@pytest.mark.parametrize(
    ("message", "offered"),
    [
        ("5,000 slots: try 0 or 8,192", True),
        ("[0 8192]", True),
        ("0 (below), 8192 (above)", True),
        ("0 slots or 8_192 slots", True),
        ("take np.int64(0) or np.int64(8192)", True),
        ("5000 slots are 0 times 8192 and 5000 over: 8192", False),
        ("rounded down it would be 0 of them: 8192", False),
        ("0 devices are no run: take 8192", False),
        ("try 10 or 8192", False),
        ("try 0 or 81920", False),
    ],
)
def test_a_zero_is_an_offer_only_beside_the_number_above(message, offered):
    assert probe.offers_none(message, 8192) is offered


def test_a_refusal_is_the_text_of_a_value_error_and_of_no_other():
    assert probe.refusal(refuse, 5000) == "no 5,000 slots"
    assert probe.refusal(lambda: 1) == ""
    assert probe.refusal({}.__getitem__, "x") == ""
    given = [3, 1]
    assert probe.refusal(list.sort, given) == "" and given == [3, 1]


@pytest.mark.parametrize("number", range(len(probe.RIGHT["fit"])))
def test_the_right_fits_agree_with_the_library(number):
    fit = probe.RIGHT["fit"][number]
    for slots in range(1, 200):
        try:
            want = plan.for_slots_per_step(slots, rows=2, length=4, data_parallel=3).accumulation
        except ValueError:
            with pytest.raises(ValueError):
                fit(slots, 2, 4, 3)
        else:
            assert fit(slots, 2, 4, 3) == want


@pytest.mark.parametrize("name", probe.WRONG["fit"])
def test_every_wrong_fit_differs_from_the_right_one_somewhere(name):
    def outcome(fit, slots):
        try:
            return fit(slots, 2, 4, 3)
        except ValueError:
            return None

    wrong, right = probe.WRONG["fit"][name], probe.RIGHT["fit"][0]
    assert any(outcome(wrong, slots) != outcome(right, slots) for slots in range(1, 200))


def test_the_step_of_deepseek_can_be_found_and_needs_a_multiple_of_three():
    assert probe.step_finder().state["goal"]
    assert all(rows % 3 == 0 for rows in _rows_that_reach(probe.DEEPSEEK_SLOTS))


def _rows_that_reach(goal):
    found = set()
    for rows in probe.OFFERED["rows"]:
        for accumulation in probe.OFFERED["accumulation"]:
            for devices in (512, 1024, 2048):
                for one in (8, 16, 32, 64, 128):
                    for length in probe.OFFERED["length"]:
                        if rows * accumulation * (devices // one) * length == goal:
                            found.add(rows)
    assert found
    return found


def test_the_launches_that_the_library_understands_have_the_steps_of_the_table():
    known = {name: (config, devices) for name, config, devices in probe.LAUNCHES}
    for name, sequences in (("TRL 1.16, packing", 128), ("Megatron-LM", 512)):
        config, devices = known[name]
        found = plan.from_config(config, devices=devices, length=1024)
        assert found.plan.sequences_per_step == sequences


def test_packing_of_the_learner_is_taken_only_if_no_document_is_lost():
    assert probe.packs(probe.pack_rows)
    assert not probe.packs(lambda lengths, size: [[0, 2], [1, 3]])
    assert not probe.packs(lambda lengths, size: [[n] for n in range(len(lengths))])
