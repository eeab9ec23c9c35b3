"""What the page of lesson 06 counts, and how a refusal is read."""

import pytest

from batchlab.classroom import script
from batchlab.exercises.effective import offers_none, scenes


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


def test_steps_of_the_script_are_counted_without_training():
    given = {"train_dataset": script.documents(many=64).map(script.pad)}
    seen = scenes.seen_by_steps(**given)
    assert [slots for slots, _, _ in seen] == [32 * script.LENGTH] * 2
    labels = given["train_dataset"]["labels"]
    assert sum(targets for *_, targets in seen) == sum(
        label != -100 for row in labels for label in row[1:]
    )


def test_packing_of_the_learner_is_taken_only_if_no_document_is_lost():
    assert scenes.packs(scenes.pack_rows)
    assert not scenes.packs(lambda lengths, size: [[0, 2], [1, 3]])
    assert not scenes.packs(lambda lengths, size: [[n] for n in range(len(lengths))])
