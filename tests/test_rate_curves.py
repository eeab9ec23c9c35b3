"""The record behind two rules: what the small model showed, as the library reads it today."""

from collections import defaultdict

import numpy as np
import pytest

from batchlab import rates, records


@pytest.fixture(scope="module")
def runs():
    return records.read("rate_curves")


def curves(runs, seed):
    """{rule: {batch: losses}} of the study from 2 rows; at 2 rows nothing changed."""
    found = defaultdict(dict)
    for one in runs:
        if one["study"] == "square-root" and one["seed"] == seed:
            found[one["rule"]][one["batch"]] = np.array(one["losses"])
    for rule in found:
        found[rule][2] = found["unchanged"][2]
    return found


def spread(by_batch, batches=(2, 4, 8)):
    """Nats between the highest and the lowest curve, as a mean over the run."""
    together = np.stack([by_batch[batch] for batch in batches])
    return np.ptp(together, axis=0).mean()


@pytest.mark.parametrize("seed", [0, 1])
def test_adams_full_rule_brings_the_curves_together_in_tokens(runs, seed):
    """Beside it the mistake: nothing changed. Two seeds do not tell the linear rate apart."""
    found = curves(runs, seed)
    assert spread(found["adam square root"]) < 0.2
    assert spread(found["unchanged"]) > 3.5 * spread(found["adam square root"])
    ends = {rule: np.ptp([c[b][-1] for b in (2, 4, 8)]) for rule, c in found.items()}
    assert ends["adam square root"] < min(0.15, ends["linear"], ends["unchanged"] / 5)


@pytest.mark.parametrize("seed", [0, 1])
def test_beta2_by_half_life_closes_the_gap_of_the_smallest_batch(runs, seed):
    """By half-life, 1 row is better than with beta2 0.95 at every rate, and ahead of 4 rows."""
    ends = defaultdict(dict)
    for one in runs:
        if one["study"] == "half-life" and one["seed"] == seed:
            ends[one["batch"], one["rule"]][one["rate"]] = one["losses"][-1]
    one_row, by_half_life, four = ends[1, "as is"], ends[1, "half-life"], ends[4, "as is"]
    assert len(one_row) == len(four) == len(by_half_life) == 3
    assert all(loss < one_row[rate] - 0.15 for rate, loss in by_half_life.items())
    assert min(by_half_life.values()) < min(four.values()) - 0.3
    assert min(one_row.values()) > min(by_half_life.values()) + 0.4


def test_what_the_runs_were_told_is_what_the_rule_says(runs):
    start = rates.Hyperparameters(5e-4, 0.9, 0.99, 1e-8)
    for one in runs:
        if one["rule"] == "adam square root":
            told = rates.adam_square_root(start, 2, one["batch"])
            assert (one["rate"], one["beta1"], one["beta2"], one["epsilon"]) == pytest.approx(
                (told.rate, told.beta1, told.beta2, told.epsilon)
            )
        elif one["rule"] == "half-life":
            assert one["beta2"] == pytest.approx(rates.beta2_for(0.95, 16, one["batch"]))


def test_every_run_names_its_machine_and_its_seconds(runs):
    for one in runs:
        assert one["cpu_seconds"] > 0 and one["processor"] and one["date"] and one["versions"]
        assert len(one["losses"]) == 16


def test_the_real_adaptive_run_moved_for_its_reasons_only():
    """Fewer steps of the same tokens, at a higher loss than the constant step: both are said."""
    grown, constant = records.read("adaptive_run")
    assert (grown["run"], constant["run"]) == ("noise-guided", "constant")
    assert grown["tokens"] == constant["tokens"] and constant["moves"] == []
    sizes = [4, *(4 * 2 ** (n + 1) for n in range(len(grown["moves"])))]
    assert grown["last_sequences_per_step"] == sizes[-1] == 16
    for move, before, after in zip(grown["moves"], sizes[:-1], sizes[1:], strict=True):
        assert move["reason"].endswith(f"{before} -> {after} sequences per step")
        floor = float(move["reason"].split("at least ")[1].split()[0])
        assert floor >= after and move["step"] >= 20 + 2
        assert move["rate"] == pytest.approx(2e-3 * (after / 4) ** 0.5)
    assert grown["steps"] < 0.6 * constant["steps"] and grown["loss"] > constant["loss"]
