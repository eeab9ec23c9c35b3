"""Figures and verbs of learning: what is drawn and printed is what the library computed."""

import json
import math

import numpy as np
import pytest

from batchlab import noise, plots, rates
from batchlab.cli import main
from batchlab.cli.noise import _reading
from batchlab.noise import NoiseScale

CURVE = noise.StepsToTarget(1000, 250)


def scale(value, *, faint=False):
    return NoiseScale(value, 1.0, 0.1 * value, 1.0 if faint else 0.01, 0.0, 20, 0)


def test_the_bend_of_the_hyperbola_is_twice_both_least_values():
    figure = plots.steps_and_examples(CURVE, {25: 11_000, 2500: 1_100})
    (axes,) = figure.axes
    bend = axes.lines[3].get_xydata()[0]
    assert bend.tolist() == [500_000, 2_000]
    drawn = axes.lines[0].get_xydata()
    product = (drawn[:, 0] / 250_000 - 1) * (drawn[:, 1] / 1000 - 1)
    assert np.allclose(product, 1)
    points = axes.lines[4].get_xydata()
    assert points.tolist() == [[275_000, 11_000], [2_750_000, 1_100]]
    assert "critical batch 250" in figure.batchlab_alt
    assert "at least 1,000 steps and 250,000 sequences" in figure.batchlab_alt


def test_an_interval_without_an_end_is_an_arrow_and_is_told():
    found = {20: scale(50.0), 40: scale(200.0, faint=True)}
    figure = plots.noise_along(found, exact={20: 48.0}, batch=16)
    (axes,) = figure.axes
    marks = [line.get_marker() for line in axes.lines]
    assert marks.count("^") == 1
    low, high = axes.lines[0].get_ydata()
    assert (low, high) == (found[20].low, found[20].high)
    assert "20: 50 (" in figure.batchlab_alt and "to no upper end)" in figure.batchlab_alt


def test_a_rule_that_ends_is_crossed_and_one_that_holds_is_not():
    lines = {"a": {1.0: 1e-3, 2.0: 2e-3, 4.0: 4e-3}, "b": {1.0: 1e-3, 2.0: 1.4e-3}}
    figure = plots.rules(lines, refused=["c"])
    (axes,) = figure.axes
    ends = [line.get_marker() for line in axes.lines if len(line.get_xdata()) == 1]
    assert ends == ["o", "X"]
    assert "b 0.0014 at 2 and refused beyond" in figure.batchlab_alt
    with pytest.raises(ValueError, match="no rule holds for this change"):
        plots.rules({})


def asked(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


def test_rates_prints_what_the_rules_make_of_the_change(capsys, tmp_path):
    words = ("rates", "--from-batch", 256, "--to-batch", 2048, "--optimizer", "adamw")
    code, out, _ = asked(capsys, *words, "--json")
    found = {one["rule"]: one for one in json.loads(out)["rules"]}
    assert code == 0 and set(found) == {*rates.RULES} - {"weight decay"}
    assert found["square root"]["after"]["rate"] == pytest.approx(3e-4 * math.sqrt(8))
    assert found["beta2 half-life"]["after"]["beta2"] == rates.beta2_for(0.95, 256, 2048)
    assert found["linear"]["after"] is None and "not for adamw" in found["linear"]["refused"]
    code, out, _ = asked(capsys, *words, "--figure", tmp_path / "rules.svg")
    assert code == 0 and "2,000 steps of 256 sequences are 250 of 2,048" in out
    assert "Refused here:\n  linear was shown for sgd" in out
    assert "adam square root" in (tmp_path / "rules.svg").read_text()
    assert "the decay keeps batch / (rate x decay): x sqrt(k) with x sqrt(k)" in out
    assert max(map(len, out.splitlines())) <= 140
    _, out, _ = asked(capsys, *words, "--noise-scale", 300)
    assert "Beyond what was shown:\n  square root: a batch of 2,048 is above the noise" in out


def test_the_noise_verb_calls_its_number_no_critical_batch(capsys):
    """Its run is trained by AdamW, under which more sequences were worth their tokens."""
    with pytest.raises(SystemExit):
        main(["noise", "--help"])
    out = " ".join(capsys.readouterr().out.split())
    assert "at which noise equals signal" in out and "no critical batch" in out
    assert "worth its tokens" not in out
    found = noise.from_norms([129, 129], [19.625, 19.625], small_batch=8, big_batch=64)
    above = _reading(found, 251)
    assert "Under Adam more sequences may be worth their tokens: compare" in above
    assert "save few steps" not in above and "Noise dominates" in _reading(found, 249)


def test_rates_of_sgd_have_no_betas_and_bad_words_are_refused(capsys):
    code, out, _ = asked(capsys, "rates", "--optimizer", "sgd", "--rate", 0.1, "--json")
    (linear,) = (o for o in json.loads(out)["rules"] if o["rule"] == "linear")
    assert code == 0 and linear["after"]["rate"] == pytest.approx(0.8)
    assert linear["after"]["beta1"] is None
    code, _, err = asked(capsys, "rates", "--betas", 0.9)
    assert code == 1 and err == "batchlab: --betas takes two numbers, got 1\n"
    code, _, err = asked(capsys, "rates", "--betas", 0.9, 1.5)
    assert code == 1 and "beta2 must be at least 0 and below 1" in err


@pytest.mark.slow
def test_noise_measures_a_short_run_and_draws_it(capsys, tmp_path):
    words = ("noise", "--rows", 1, "--accumulation", 4, "--steps", 12, "--length", 24)
    code, out, err = asked(capsys, *words, "--figure", tmp_path / "noise.svg")
    assert code == 0, err
    assert "noise scale in sequences of up to 24 tokens, steps of 4 (1 rows x 4)" in out
    assert (tmp_path / "noise.svg").stat().st_size > 5000
    code, again, _ = asked(capsys, *words, "--json")
    stretches = json.loads(again)["stretches"]
    assert [one["steps"] for one in stretches] == [2, 4, 6, 8, 10, 12]
    assert all(one["readings"] == 2 for one in stretches)
    assert f"{stretches[-1]['noise_scale']:,.4g}" in out, "a second run measures the same"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--accumulation", 1), "a step of one micro-batch has one norm, and noise needs two"),
        (("--steps", 11), "--steps 11: 6 stretches need at least 12 steps"),
    ],
)
def test_noise_refuses_what_can_have_no_estimate(capsys, words, said):
    code, _, err = asked(capsys, "noise", *words)
    assert code == 1 and said in err and err.count("\n") == 1
