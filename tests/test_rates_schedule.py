"""A scheduler in tokens: torch's own curve where steps are equal, its own where they are not."""

import copy
import math

import pytest
import torch

from batchlab import batches, loop, rates
from batchlab.rates import schedule


class Bigram(torch.nn.Module):
    """The smallest language model: logits of the next token from the token before."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(64, 64)

    def forward(self, input_ids, **_):
        return self.table(input_ids)


def made(groups=1, **how):
    parameters = [{"params": [torch.nn.Parameter(torch.ones(2))]} for _ in range(groups)]
    return torch.optim.AdamW(parameters, lr=1e-3, **how)


def stepped(optimizer, scheduler, tokens):
    found = []
    for each in tokens:
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step(tokens=each)
    return found


def test_with_equal_steps_it_is_torchs_cosine():
    """The judge: CosineAnnealingLR over as many steps."""
    ours, theirs = made(), made()
    mine = schedule.InTokens(ours, rates.Curve(1000), tokens_per_step=50)
    judge = torch.optim.lr_scheduler.CosineAnnealingLR(theirs, T_max=20)
    for _ in range(20):
        assert ours.param_groups[0]["lr"] == pytest.approx(theirs.param_groups[0]["lr"], abs=1e-9)
        for one in (ours, theirs):
            one.step()
        mine.step(), judge.step()
    assert mine.get_last_lr() == [pytest.approx(0)]


def test_a_changed_batch_stays_on_the_curve_and_a_curve_in_steps_does_not():
    """The mistake beside the law: half as many steps of twice the tokens end at half the curve."""
    curve = rates.Curve(1600, 400, "linear")
    optimizer = made()
    scheduler = schedule.InTokens(optimizer, curve)
    rates_seen = stepped(optimizer, scheduler, [100] * 4 + [200] * 6)
    starts = [0, 100, 200, 300, 400, 600, 800, 1000, 1200, 1400]
    assert rates_seen == pytest.approx([1e-3 * curve.factor(n) for n in starts])
    by_steps = torch.optim.lr_scheduler.LambdaLR(other := made(), lambda n: curve.factor(100 * n))
    for _ in range(10):
        other.step(), by_steps.step()
    assert optimizer.param_groups[0]["lr"] == 0 and other.param_groups[0]["lr"] == 5e-4


def test_a_killed_run_goes_on_with_another_batch_as_if_it_had_not_been_killed():
    curve = rates.Curve(1600, 400)

    def halves(resumed):
        optimizer = made(2)
        optimizer.param_groups[1]["lr"] = 5e-4
        scheduler = schedule.InTokens(optimizer, curve, tokens_per_step=100)
        stepped(optimizer, scheduler, [100] * 7)
        if resumed:
            saved = copy.deepcopy((optimizer.state_dict(), scheduler.state_dict()))
            optimizer = made(2)
            scheduler = schedule.InTokens(optimizer, curve, tokens_per_step=100)
            optimizer.load_state_dict(saved[0])
            scheduler.load_state_dict(saved[1])
        scheduler.rescale(lambda told: rates.adam_square_root(told, 100, 200), tokens_per_step=200)
        found = []
        for _ in range(4):
            found.append([group["lr"] for group in optimizer.param_groups])
            optimizer.step()
            scheduler.step()
        return found, [group["betas"] for group in optimizer.param_groups]

    assert halves(True) == halves(False)
    found, betas = halves(False)
    assert found[0] == pytest.approx([1e-3 * math.sqrt(2) * curve.factor(700), 5e-4 * math.sqrt(2)
                                      * curve.factor(700)])  # fmt: skip
    assert betas == [pytest.approx((0.8, 0.998))] * 2


def test_a_refused_rule_changes_nothing_and_sgd_has_no_betas():
    optimizer = made(betas=(0.9, 0.95))
    scheduler = schedule.InTokens(optimizer, rates.Curve(shape="constant"), tokens_per_step=1)
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError, match="k = 16 makes beta1"):
        scheduler.rescale(lambda told: rates.adam_square_root(told, 1, 16), tokens_per_step=16)
    assert optimizer.state_dict() == before and scheduler.tokens_per_step == 1
    sgd = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)
    plain = schedule.InTokens(sgd, rates.Curve(shape="constant"), tokens_per_step=1)
    plain.rescale(lambda told: rates.Hyperparameters(rates.linear(told.rate, 1, 4)))
    assert sgd.param_groups[0]["lr"] == pytest.approx(0.4)


def test_it_advances_by_the_target_tokens_that_a_step_reports():
    net = Bigram()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scheduler = schedule.InTokens(optimizer, rates.Curve(100, shape="linear"))
    batch = batches.padded([[1, 2, 3], [4, 5, 6, 7]], [0, 1])
    report = loop.train_step(net, optimizer, [batch])
    scheduler.step(tokens=report.target_tokens)
    assert scheduler.tokens == 5 and scheduler.get_last_lr() == [pytest.approx(0.95e-3)]


def test_states_of_another_run_and_unknown_tokens_are_refused():
    optimizer = made()
    scheduler = schedule.InTokens(optimizer, rates.Curve(100))
    optimizer.step()
    with pytest.raises(ValueError, match="how many tokens did this step see"):
        scheduler.step()
    with pytest.raises(ValueError, match="counts tokens: step"):
        scheduler.step(3)
    with pytest.raises(ValueError, match="tokens must be a whole number of at least 1"):
        scheduler.step(tokens=0)
    other = schedule.InTokens(made(), rates.Curve(200))
    with pytest.raises(ValueError, match="state of another schedule: saved"):
        other.load_state_dict(scheduler.state_dict())
    two = schedule.InTokens(made(2), rates.Curve(100))
    with pytest.raises(ValueError, match="another run: 1 parameter groups, here 2"):
        two.load_state_dict(scheduler.state_dict())
