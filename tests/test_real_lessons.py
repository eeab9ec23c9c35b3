"""What lessons ask about real GPU runs: the figures of the sources, and what a choice lost."""

import re
from pathlib import Path

import pytest

from batchlab import records
from batchlab.classroom import real_lessons, real_runs


@pytest.mark.parametrize(
    ("name", "known", "truth"),
    [
        ("pipeline", 743, 694),
        ("spread", 2.9, 7.35),
        ("ramp", 9824, 4590),
        ("choice", 92.9, 17.9),
    ],
)
def test_the_answers_are_those_of_the_sources_and_stand_beside_their_notice(name, known, truth):
    found = real_lessons.asked(name)
    assert (found.known, found.truth) == pytest.approx((known, truth), rel=0.005)
    assert found.table.credit.notice in str(found) and found.said in found._repr_html_()


def test_the_pipeline_has_one_layout_and_idles_less_than_its_plain_bubble():
    found = records.public_runs(benchmark="llama31_405b", device="GB200", round="5.0")
    some = [one for one in found.submissions if one.submitter == "IBM+CoreWeave+NVIDIA"]
    layouts = {(one.tensor_parallel, one.pipeline_parallel, one.context_parallel) for one in some}
    assert layouts == {(4, 8, 2)} and {one.accumulation for one in some} >= {112, 32}
    one = real_lessons.asked("pipeline")
    plain = (32 / 39) / (112 / 119)
    assert plain == pytest.approx(0.87, abs=5e-3) and one.truth / one.known > 0.93 > plain


def test_the_joined_curves_are_counted_as_by_hand():
    one = real_lessons.asked("ramp")
    (early, small), (late, large) = ((34_531, 157_187), (66_387, 221_994))
    assert one.known == pytest.approx(small / 16, rel=1e-4)
    assert one.truth == pytest.approx(early / 16 + (large - late) / 64, rel=1e-4)
    assert "53% of the steps of batch 16 are saved, for 21% more samples" in one.said


def test_a_choice_is_judged_by_the_best_that_the_budget_allows():
    """The mistake beside the law: the fastest of all, whatever it costs."""
    assert real_lessons.lost(64, 32) == (0.0, 0.0)
    minutes, hours = real_lessons.lost(128, 64)
    assert minutes == pytest.approx(11.447 - 17.875, abs=1e-3)
    assert hours == pytest.approx(24.42 - 20, abs=0.01)
    assert real_lessons.lost(128, 64, budget=25) == (0.0, 0.0)
    assert real_lessons.lost(8, 16)[0] == pytest.approx(84.379 - 17.875, abs=1e-3)
    with pytest.raises(ValueError, match="nobody ran 64 devices with a batch of 16; there are 8 w"):
        real_lessons.lost(64, 16)


def test_an_unknown_question_is_refused_and_no_name_has_two_questions():
    with pytest.raises(ValueError, match="no question 'x'; there are pipeline, spread, ramp, choi"):
        real_lessons.asked("x")
    assert not set(real_lessons.QUESTIONS) & set(real_runs.QUESTIONS)


PLACES = {  # lesson: what it asks
    "12_rates/rates": [("real_runs", "rate")],
    "14_minima/minima": [("real_lessons", "spread")],
    "15_many/many": [("real_lessons", "pipeline")],
    "16_adaptive/adaptive": [("real_lessons", "ramp")],
}


@pytest.mark.parametrize("place", PLACES)
def test_a_lesson_asks_first_and_shows_the_rows_with_the_truth(place):
    """Outputs of the cell that reveals are covered on a page; the prose before it must not tell."""
    source = (Path(__file__).parent.parent / f"solutions/{place}.md").read_text(encoding="utf-8")
    assert re.findall(r"(real_\w+)\.asked\(\"(\w+)\"\)", source) == PLACES[place]
    for module, name in PLACES[place]:
        one = {"real_runs": real_runs, "real_lessons": real_lessons}[module].asked(name)
        told, after = source.split(f'{module}.asked("{name}")')
        box, shown = after.split("```{code-cell} ipython3\n", 2)[:2]
        assert "predict.number(question.key, None" in box
        assert shown.startswith("predict.reveal(question.key, question.truth)\nquestion\n")
        near = told[told.rindex("\n## ") :] + box
        truth = f"{one.truth:,.0f}" if one.truth > 100 else f"{one.truth:.3g}"
        assert not re.search(rf"\b{truth}\b", near)


def test_lesson_18_lets_choose_before_it_shows_the_rows_with_the_truth():
    source = (Path(__file__).parent.parent / "solutions/18_plan/plan.md").read_text(
        encoding="utf-8"
    )
    told, _ = source.split('real_lessons.asked("choice")')
    near = told[told.rindex("\n## ") :]
    assert near.index("devices, batch, budget = ") < near.index("real_lessons.lost(devices, batch")
    assert f"{real_lessons.asked('choice').truth:.3g}" not in near
