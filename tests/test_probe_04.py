"""The ways of lesson 04: the separate ones agree and leak nothing, each wrong one leaks."""

import numpy as np
import pytest

from batchlab.classroom import probes

probe = probes.load("04_packing")
DOCUMENTS = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
ROUNDING = 1e-5


def largest_leak(logits, documents) -> float:
    """How far logits of any document move when another one changes."""
    before, worst = logits(documents), 0.0
    for number in range(len(documents)):
        changed = [list(one) for one in documents]
        changed[number] = [(token + 20) % probe.VOCABULARY for token in changed[number]]
        after = logits(changed)
        moved = (
            float(np.abs(a - b).max())
            for other, (a, b) in enumerate(zip(after, before, strict=True))
            if other != number
        )
        worst = max(worst, *moved)
    return worst


@pytest.mark.parametrize("name", probe.SEPARATE)
def test_a_separate_way_leaks_nothing_and_agrees_with_documents_alone(name):
    assert largest_leak(probe.way(name), DOCUMENTS) < ROUNDING
    alone = [probe.way("each document in a row of its own")([one])[0] for one in DOCUMENTS]
    for mine, right in zip(probe.way(name)(DOCUMENTS), alone, strict=True):
        assert mine == pytest.approx(right, abs=ROUNDING)


@pytest.mark.parametrize("name", probe.LEAKS)
def test_a_wrong_way_leaks_far_above_rounding(name):
    assert largest_leak(probe.way(name), DOCUMENTS) > 1000 * ROUNDING


def test_looking_only_at_what_lies_before_the_change_sees_no_default_cache():
    """Causality hides it: the lesson's favourite test that proves nothing."""
    logits = probe.way("positions restart, default cache")
    before, after = logits([[5, 6], [7, 8]]), logits([[5, 6], [17, 18]])
    assert before[0] == pytest.approx(after[0], abs=ROUNDING)


def test_two_documents_do_not_show_that_the_last_border_is_missing():
    assert largest_leak(probe.way(probe.LEAKS[3]), DOCUMENTS[:2]) < ROUNDING


def test_unknown_ways_and_tokens_are_refused():
    with pytest.raises(ValueError, match="there are positions restart"):
        probe.way("by magic")
    with pytest.raises(ValueError, match="from 0 to 63"):
        probe.way("the library")([[64]])
