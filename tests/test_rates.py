"""A changed batch and what it asks of the rate: published numbers, ranges, ramps in tokens."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlab import rates
from batchlab.rates import Hyperparameters, Ramp, Stage

ADAM = Hyperparameters(3e-4, 0.9, 0.999, 1e-8, 0.1)
BATCHES = st.integers(1, 10**6)


def test_published_numbers_of_every_rule():
    assert rates.linear(0.1, 256, 8192) == pytest.approx(3.2)  # Goyal et al. 2017
    assert rates.square_root(0.1, 256, 8192, optimizer="sgd") == pytest.approx(0.5657, abs=1e-4)
    after = rates.adam_square_root(ADAM, 1, 4)
    told = (after.rate, after.beta1, after.beta2, after.epsilon)
    assert told == pytest.approx((6e-4, 0.6, 0.996, 5e-9))
    assert rates.beta2_for(0.95, 512, 1) == pytest.approx(0.9999, abs=1e-6)
    assert rates.beta2_for(0.95, 16, 1) == pytest.approx(0.9968, abs=5e-5)
    assert rates.beta2_for(0.95, 512, 4096) == pytest.approx(0.6634, abs=5e-5)
    assert rates.half_life(0.95, 512 * 1024) == pytest.approx(7_084_917, abs=1)
    with pytest.raises(ValueError, match="beta2 must be"):
        rates.half_life(1.0, 512)
    for tokens, step, name in ((0, 512, "half_life_tokens"), (1e6, 0, "tokens_per_step")):
        with pytest.raises(ValueError, match=f"{name} must be above 0"):
            rates.beta2_of(tokens, step)
    assert rates.small_batch_power(1e-3, 1, 1024) == pytest.approx(3e-3)
    assert rates.weight_decay_for(0.1, 256, 512) == pytest.approx(0.2)


def test_the_two_forms_with_a_noise_scale_have_their_published_shape():
    at = [1 / 16, 1 / 4, 1, 4, 16]
    peak = rates.surge(1, 1, 1, noise_scale=1)
    assert [rates.surge(peak, 1, b, noise_scale=1) for b in at] == pytest.approx(
        [0.4706, 0.8, 1, 0.8, 0.4706], abs=1e-4
    )
    half = [0.5 * rates.saturating(1, 1, b, noise_scale=1) for b in at]
    assert half == pytest.approx([0.0588, 0.2, 0.5, 0.8, 0.9412], abs=1e-4)


def test_the_surge_is_what_sign_updates_ask_for_and_no_power_of_the_batch_is():
    """The judge: the best rate of a sign update on a quadratic with correlated curvature."""
    erf = np.vectorize(math.erf)

    def best(batch, correlation, d=50, mu=0.1):
        sign = erf(np.sqrt(batch / 2) * np.full(d, mu))
        hessian = np.eye(d) + correlation * (np.ones((d, d)) - np.eye(d))
        spread = (hessian * np.outer(sign, sign)).sum() - (np.diag(hessian) * sign**2).sum()
        return mu * sign.sum() / (np.trace(hessian) + spread)

    batches = 4.0 ** np.arange(8)
    alone, tied = ([best(b, c) for b in batches] for c in (0.0, 0.2))
    assert np.all(np.diff(alone) > 0)
    peak = int(np.argmax(tied))
    assert batches[peak] == 16 and tied[-1] / tied[peak] == pytest.approx(0.58, abs=0.01)
    ours = [rates.surge(1.0, 16, b, noise_scale=16) for b in (1, 16, 64)]
    assert ours[0] < ours[1] > ours[2]


@given(BATCHES, BATCHES, BATCHES)
def test_two_changes_are_one_change(first, second, third):
    for rule in (rates.square_root, lambda r, a, b: rates.linear(r, a, b)):
        twice = rule(rule(1e-3, first, second), second, third)
        assert twice == pytest.approx(rule(1e-3, first, third))
    for form in (rates.saturating, rates.surge):
        once = form(1e-3, first, third, noise_scale=100)
        twice = form(form(1e-3, first, second, noise_scale=100), second, third, noise_scale=100)
        assert twice == pytest.approx(once)


@given(st.floats(0.51, 0.9999), BATCHES, st.integers(1, 64))
def test_beta2_keeps_its_half_life_in_tokens_and_the_tangent_does_not(beta2, batch, k):
    """The mistake beside the law: 1 - k (1 - beta2), which Adam's full rule takes."""
    small = rates.beta2_for(beta2, k * batch, batch)  # towards smaller batches it always holds
    assert rates.half_life(small, batch) == pytest.approx(rates.half_life(beta2, k * batch))
    assert rates.beta2_of(rates.half_life(small, batch), batch) == pytest.approx(small)
    if k > 8 and beta2 < 0.9:
        assert rates.half_life(1 - (1 - beta2) / k, batch) > 1.02 * rates.half_life(small, batch)


def test_adams_full_rule_keeps_averages_in_tokens_only_to_first_order():
    after = rates.adam_square_root(Hyperparameters(1e-3, 0.9, 0.95, 1e-8), 512, 4096)
    assert after.beta2 == pytest.approx(0.6) and rates.beta2_for(0.95, 512, 4096) > 0.66


OUTSIDE = [
    (lambda: rates.adam_square_root(ADAM, 1, 10), "beta1"),  # 1 - 10 (1 - 0.9) is 2e-16
    (lambda: rates.adam_square_root(ADAM, 1, 16),
     r"k = 16 makes beta1 1 - 16 x \(1 - 0\.9\) = -0\.6; .* holds for k below 10$"),
    (lambda: rates.adam_square_root(Hyperparameters(1e-3, 0.0, 0.95, 1e-8), 1, 32), "beta1"),
    (lambda: rates.adam_square_root(Hyperparameters(1e-3), 1, 2), "give all three"),
    (lambda: rates.linear(1e-3, 1, 2, optimizer="adamw"),
     "linear was shown for sgd, not for adamw$"),
    (lambda: rates.linear(1e-3, 1, 2, optimizer="muon"), "sgd, not for muon"),
    (lambda: rates.linear(0.1, 256, 512, loss="sum"), "already grows 2 times with the batch"),
    (lambda: rates.linear(0.1, 256, 512, loss="max"), "loss must be mean or sum, got 'max'"),
    (lambda: rates.linear(0.1, 100, 400, noise_scale=250),
     "a batch of 400 is above the noise scale 250"),
    (lambda: rates.square_root(0.1, 400, 100, optimizer="sgd", noise_scale=250),
     "400 is above the noise scale"),
    (lambda: rates.beta2_for(0.95, 1, 16), "half-life of 0.84 steps; .* k up to 13.51"),
    (lambda: rates.beta2_of(1000, 2000), "less than one step of 2,000"),
    (lambda: rates.small_batch_power(1e-3, 512, 2048), "to_batch 2,048 lies outside the 1 to"),
    (lambda: rates.surge(1e-3, 1, 2, noise_scale=9, optimizer="sgd"), "for adam, adamw, not"),
    (lambda: rates.saturating(1e-3, 1, 2, noise_scale=9, optimizer="adam"), "shown for sgd"),
    (lambda: rates.saturating(1e-3, 1, 2, noise_scale=-5.0), "noise_scale must be above 0"),
    (lambda: rates.weight_decay_for(0.1, 1, 2, optimizer="sgd"), "weight decay was shown for"),
    (lambda: rates.linear(math.nan, 1, 2), "rate must be above 0, got nan"),
    (lambda: rates.linear(0.1, 0, 2), "from_batch must be above 0"),
    (lambda: Hyperparameters(1e-3, 1.0), "beta1 must be at least 0 and below 1"),
]  # fmt: skip


@pytest.mark.parametrize(("outside", "message"), OUTSIDE)
def test_a_rule_outside_its_range_is_refused_with_the_number_that_makes_it_so(outside, message):
    with pytest.raises(ValueError, match=message):
        outside()


def test_just_inside_its_range_adams_rule_still_gives_averages():
    after = rates.adam_square_root(ADAM, 1000, 9999)
    assert 0 < after.beta1 < 1e-3 and after.beta2 == pytest.approx(0.990001)


def test_every_rule_stands_in_the_comparison_once_and_says_why_it_is_refused():
    found = rates.compare(ADAM, 256, 2048, optimizer="adamw")
    assert [one.rule.name for one in found] == [n for n in rates.RULES if n != "weight decay"]
    by_name = {one.rule.name: one for one in found}
    assert by_name["square root"].after.rate == pytest.approx(3e-4 * math.sqrt(8))
    assert by_name["adam square root"].after.beta1 == pytest.approx(0.2)
    assert by_name["beta2 half-life"].after.beta2 == rates.beta2_for(0.999, 256, 2048)
    assert all((one.after is None) == bool(one.refused) for one in found)
    assert "measure it with batchlab noise" in by_name["surge"].refused
    known = rates.compare(ADAM, 256, 2048, noise_scale=5000.0)
    assert {one.rule.name for one in known if one.refused} == {
        "linear", "small-batch power", "saturating",
    }  # fmt: skip
    assert not any(one.remark for one in known)
    far = {one.rule.name: one for one in rates.compare(ADAM, 256, 2048, noise_scale=1000.0)}
    assert "2,048 is above the noise scale 1,000" in far["square root"].remark
    sgd = rates.compare(Hyperparameters(0.1), 256, 2048, optimizer="sgd", noise_scale=1000.0)
    assert [one.rule.name for one in sgd if one.after] == ["saturating"]


def test_under_adam_the_noise_scale_is_no_limit_and_above_it_a_rule_warns():
    """Merrill et al. (2025) took the root from 1,024 to 4,096 documents, far above theirs."""
    with pytest.warns(UserWarning, match="2,048 is above the noise scale 300. For Adam that is no"):
        assert rates.square_root(4e-4, 1024, 2048, noise_scale=300) == pytest.approx(5.657e-4, 1e-3)
    with pytest.warns(UserWarning, match="^adam square root: a batch of 128"):
        rates.adam_square_root(ADAM, 64, 128, noise_scale=100)
    assert rates.RULES["surge"].regime.startswith("a hypothesis")


def test_where_the_rate_of_adamw_moves_its_decay_keeps_the_timescale_in_every_row():
    """The mistakes beside the law: the decay left as it was, and x k beside a rate x sqrt(k)."""
    kept = 256 / (ADAM.rate * ADAM.weight_decay)
    for one in rates.compare(ADAM, 256, 1024, noise_scale=5000.0):
        if one.after and one.after.rate != ADAM.rate:
            assert 1024 / (one.after.rate * one.after.weight_decay) == pytest.approx(kept)
    after = rates.adam_square_root(ADAM, 256, 1024)
    assert after.weight_decay == pytest.approx(0.2)
    for wrong in (0.1, 0.4):
        assert 1024 / (after.rate * wrong) != pytest.approx(kept, rel=0.4)
    plain = rates.adam_square_root(ADAM, 256, 1024, optimizer="adam")
    assert plain.weight_decay == ADAM.weight_decay, "a part of the gradient there"
    assert rates.adam_square_root(Hyperparameters(3e-4, 0.9, 0.95, 1e-8), 1, 4).weight_decay is None


def test_a_rule_is_cited_in_the_bibliography():
    from pathlib import Path

    keys = (Path(__file__).parent.parent / "book/references.bib").read_text()
    cited = {rule.source for rule in rates.RULES.values()}
    for source in cited | {ramp.source for ramp in rates.PUBLISHED.values()}:
        assert f"{{{source}," in keys, source


def walked(ramp, total):
    """The brute force: one step after the other."""
    seen = steps = 0
    while seen < total:
        seen, steps = seen + ramp.at(seen), steps + 1
    return steps


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=5),
    st.lists(st.integers(1, 300), min_size=4, max_size=4),
    st.booleans(),
    st.integers(1, 2000),
)
def test_steps_of_a_ramp_are_counted_as_one_would_walk_them(sizes, gaps, straight, total):
    starts = [0, *itertools.accumulate(gaps)][: len(sizes)]
    ramp = Ramp(tuple(map(Stage, starts, sizes)), straight)
    assert ramp.steps(total) == walked(ramp, total)


def test_published_ramps_begin_and_end_as_printed():
    bloom, palm, deepseek = (rates.PUBLISHED[n] for n in ("bloom-176b", "palm-540b", "deepseek-v3"))
    assert (bloom.at(0), bloom.at(10**12)) == (192 * 2048, 2048 * 2048)
    assert bloom.last.from_tokens == 9_765_625 * 2048 == 20_000_000_000
    assert len(bloom.stages) == 117, "not one increment every 9,765,625 samples"
    assert (palm.at(0), palm.at(10**12)) == (2**20, 2**22)
    assert palm.steps(palm.last.from_tokens) == 115_000
    assert (deepseek.at(0), deepseek.at(10**12)) == (12_582_912, 62_914_560)
    llama = rates.PUBLISHED["llama-3-405b"]
    assert [llama.at(n * 10**6) for n in (251, 252, 2_870_000)] == [4e6, 8e6, 16e6]
    gpt = rates.PUBLISHED["gpt-3"]
    assert gpt.at(6 * 10**9) == (32_000 + 3_200_000) // 2 and gpt.second_hand
    assert rates.PUBLISHED["minimax-01"].at(5 * 10**12) == 128 * 10**6


def test_seesaw_on_a_quarter_cosine_saves_what_its_bound_says():
    total, first, factor = 10**9, 1000, 2
    cuts = [round(total * math.acos(factor**-n) / (math.pi / 2)) for n in range(1, 12)]
    trade = rates.seesaw(1e-3, first, cuts, factor=factor)
    coarse = trade.ramp.saved(total)
    fine = 1 - sum(math.cos(math.pi / 2 * (i + 0.5) / 1000) for i in range(1000)) / 1000
    assert fine == pytest.approx(1 - 2 / math.pi, abs=1e-4)
    edges = [0, *cuts, total]
    stages = itertools.pairwise(edges)
    assert coarse == pytest.approx(
        1 - sum((end - at) / 2**n for n, (at, end) in enumerate(stages)) / total, abs=1e-5
    )
    assert 0 < coarse < fine, "halvings trade later than a smooth curve would"
    assert trade.rates[3] == pytest.approx(1e-3 / math.sqrt(8))
    assert set(rates.seesaw(1e-3, first, cuts, optimizer="sgd").rates) == {1e-3}


def test_a_ramp_that_doubles_and_one_that_adds():
    ramp = rates.doubling(1024, [168, 503])
    assert [ramp.at(n) for n in (0, 168, 503)] == [1024, 2048, 4096]
    assert rates.linear_ramp(16, 1024, increment=8, over_tokens=300_000).at(150_000) == 520


BAD_RAMPS = [
    (lambda: Ramp(()), "begins with a stage from 0"),
    (lambda: Ramp((Stage(5, 10),)), "begins with a stage from 0"),
    (lambda: Ramp((Stage(0, 10), Stage(0, 20))), "come in order"),
    (lambda: Ramp((Stage(0, 0),)), "tokens_per_step must be"),
    (lambda: Ramp((Stage(0, 1),)).steps(10**12), "never end"),
    (lambda: rates.linear_ramp(16, 100, increment=8, over_tokens=10), "no whole number of"),
    (lambda: rates.linear_ramp(16, 16, increment=8, over_tokens=10), "no whole number of"),
    (lambda: rates.seesaw(1e-3, 10, [5], optimizer="muon"), "shown for adam, adamw, sgd"),
    (lambda: rates.doubling(1024, [500, 100]), "come in order"),
    (lambda: rates.Curve(shape="cosine"), "a cosine curve never ends without total_tokens"),
    (lambda: rates.Curve(100, warmup_tokens=100), "warm-up of 100 tokens never ends in a run of"),
    (lambda: rates.Curve(100, shape="square"), "shape must be one of"),
    (lambda: rates.Curve(100).factor(-1), "tokens must be at least 0"),
]


@pytest.mark.parametrize(("made", "message"), BAD_RAMPS)
def test_a_ramp_or_curve_that_never_ends_or_goes_back_is_refused(made, message):
    with pytest.raises(ValueError, match=message):
        made()


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.sampled_from(["linear", "cosine"]))
def test_a_curve_rises_once_and_falls_once(total, tokens, shape):
    warmup = total // 3
    curve = rates.Curve(total, warmup, shape, final=0.1)
    assert 0 <= curve.factor(tokens) <= 1
    assert curve.factor(warmup) == 1 and curve.factor(total) == pytest.approx(0.1)
    if warmup <= tokens:
        assert curve.factor(tokens + 1) <= curve.factor(tokens)
