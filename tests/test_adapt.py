"""Controllers over scenarios: noise grows, a device slows, memory shrinks, a loss diverges."""

import dataclasses
import itertools
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from batchlab import adapt, loop, noise, rates
from batchlab.adapt import Signals
from batchlab.noise import NoiseScale, norms
from batchlab.plan import Plan
from tests.learners import Small, documents, micro_batches

PLAN = Plan(rows=4, accumulation=2, data_parallel=2, length=64)
MIB = 2**20


def scale(value, *, spread=0.1, readings=40):
    """An estimate of this scale with so much relative spread."""
    return NoiseScale(value, 1.0, spread * value, 0.01, 0.0, readings, 0)


def signals(step=0, plan=PLAN, rate=1e-3, **known):
    return Signals(step, step * plan.slots_per_step, plan, rate, **known)


def follow(controller, readings, plan=PLAN, rate=1e-3):
    """Decisions along readings, each made on the plan of the one before."""
    found = []
    for step, known in enumerate(readings):
        made = controller.decide(signals(step, plan, rate, **known))
        plan, rate = made.plan, made.rate
        found.append(made)
    return found


def square_root(rate, first, last):
    return rates.square_root(rate, first, last)


# growth -------------------------------------------------------------------------------------


def test_noise_that_grows_is_followed_from_below_with_the_rate_coupled():
    controller = adapt.NoiseGuided(most=256, couple=square_root)
    truth = np.geomspace(20, 400, 120)
    made = follow(controller, [{"noise": scale(value)} for value in truth])
    sizes = [one.plan.sequences_per_step for one in made]
    assert sizes[0] == 16 and sizes[-1] == 256 and sizes == sorted(sizes)
    assert all(size <= value for size, value in zip(sizes, truth, strict=True))
    for one in made:
        assert one.plan.rows == 4, "rows, and so memory, stay as they are"
        assert one.rate == pytest.approx(1e-3 * math.sqrt(one.plan.sequences_per_step / 16))
    assert [entry["reason"].split(":")[1] for entry in controller.log] == [
        " 16 -> 32 sequences per step", " 32 -> 64 sequences per step",
        " 64 -> 128 sequences per step", " 128 -> 256 sequences per step",
    ]  # fmt: skip


@given(st.lists(st.sampled_from([20.0, 1000.0]), max_size=60))
def test_one_noisy_reading_moves_nothing_and_three_in_a_row_do(values):
    controller = adapt.NoiseGuided(most=32, patience=3)
    made = follow(controller, [{"noise": scale(value)} for value in values])
    runs = [len(list(run)) for high, run in itertools.groupby(values) if high == 1000.0]
    assert any(one.moved for one in made) == (max(runs, default=0) >= 3)


UNSURE = [
    scale(1000, readings=19),
    scale(1000, spread=0.6),
    NoiseScale(10.0, -0.1, 5.0, 1.0, 0.0, 40, 0),
    None,
]


@pytest.mark.parametrize("estimate", UNSURE)
def test_an_estimate_of_few_readings_or_a_wide_interval_moves_nothing(estimate):
    """Five readings once moved a run eleven times, too early: 5.363 against 5.107 of a ramp."""
    controller = adapt.NoiseGuided(most=256)
    assert not any(one.moved for one in follow(controller, [{"noise": estimate}] * 10))


def test_the_norm_test_grows_until_its_variance_is_small_enough():
    loose, strict = adapt.NormTest(most=4096, theta=1.0), adapt.NormTest(most=4096, theta=0.5)
    known = [{"noise": scale(250, spread=0.01)}] * 60
    ends = [follow(one, known)[-1].plan.sequences_per_step for one in (loose, strict)]
    assert ends == [256, 1024], "noise scale / theta^2, rounded up to a doubling"
    held = [follow(adapt.NormTest(most=most), known)[-1].plan for most in (63, 64, 65)]
    assert [plan.sequences_per_step for plan in held] == [32, 64, 64], "never above what is allowed"


def test_a_ramp_in_tokens_is_followed_at_once_and_never_exceeded():
    ramp = rates.doubling(1024, [20_000, 60_000])
    controller = adapt.Ramped(ramp=ramp, couple=square_root)
    plan, rate, tokens, seen = PLAN, 1e-3, 0, []
    while tokens < 90_000:
        made = controller.decide(Signals(len(seen), tokens, plan, rate))
        plan, rate = made.plan, made.rate
        assert plan.slots_per_step == ramp.at(tokens)
        tokens, seen = tokens + plan.slots_per_step, [*seen, plan.slots_per_step]
    assert len(seen) == ramp.steps(90_000) and rate == pytest.approx(2e-3)
    with pytest.raises(ValueError, match=r"asks for 500 tokens at 0, less than one micro-batch"):
        adapt.Ramped(ramp=rates.doubling(500, [])).decide(signals())


def test_a_diverging_loss_holds_growth_and_lets_it_go_on_later():
    losses = [5.0, 4.0, 3.0, *[9.0] * 10, math.nan, *[3.1] * 5]
    controller = adapt.NoiseGuided(most=32)
    known = [{"noise": scale(1000), "loss": loss} for loss in losses[1:]]
    made = follow(controller, [{"loss": 5.0}, {"loss": 3.0}, *known[2:]])
    moved = [step for step, one in enumerate(made) if one.moved]
    assert moved and moved[0] > 12
    assert made[5].reason == "held: the loss is 9, its best was 3"


def test_losses_of_other_data_are_not_compared_and_begin_anew():
    first = [{"loss": 3.0, "data": "easy", "noise": scale(1000)}] * 2
    then = [{"loss": 9.0, "data": name, "noise": scale(1000)} for name in ("hard", "easy")]
    new = follow(adapt.NoiseGuided(most=32), [*first, *[then[0]] * 3])
    assert [one.moved for one in new] == [False] * 4 + [True], "patience begins anew as well"
    same = follow(adapt.NoiseGuided(most=32), [*first, *[then[1]] * 3])
    assert not any(one.moved for one in same), "the mistake: held for losses of other data"
    saved, other = adapt.NoiseGuided(most=32), adapt.NoiseGuided(most=32)
    follow(saved, [*first, then[0]])
    other.load_state_dict(json.loads(json.dumps(saved.state_dict())))
    assert other.data == "hard" and other.best_loss == 9.0


def test_goodput_weighs_throughput_by_what_a_sequence_is_worth():
    assert adapt.goodput(6.0, 1024, noise_scale=1000, base=128) == pytest.approx(3.344, abs=5e-4)
    speeds = {16: 1.0, 32: 1.8, 64: 3.0, 128: 3.4}
    controller = adapt.Goodput(tokens_per_second=speeds, base=16, couple=square_root)
    made = follow(controller, [{"noise": scale(20, spread=0.01)}] * 4)
    assert made[-1].plan.sequences_per_step == 64 or made[-1].plan.sequences_per_step == 32
    best = max(speeds, key=lambda b: adapt.goodput(speeds[b], b, noise_scale=20, base=16))
    assert made[-1].plan.sequences_per_step == best
    far = follow(
        adapt.Goodput(tokens_per_second=speeds, base=16), [{"noise": scale(5000, spread=0.01)}] * 4
    )
    assert far[-1].plan.sequences_per_step == 128, "the most tokens per second, if all are worth it"
    near = adapt.Goodput(tokens_per_second={16: 1.0, 32: 1.03}, base=16)
    assert not any(m.moved for m in follow(near, [{"noise": scale(1e5, spread=0.01)}] * 9))


def test_an_interval_without_an_upper_end_may_still_exclude_the_step():
    faint = NoiseScale(1000.0, 1e-3, 100.0, 1.0, 0.0, 40, 0)
    assert not faint.enough and faint.low > 32
    assert follow(adapt.NoiseGuided(most=32), [{"noise": faint}] * 4)[-1].moved is False
    assert follow(adapt.NoiseGuided(most=32), [{"noise": faint}] * 3)[-1].moved


# what keeps the step ------------------------------------------------------------------------


def test_out_of_memory_halves_rows_at_once_and_the_step_stays():
    plan = Plan(rows=12, accumulation=2, data_parallel=2, length=64)
    controller = adapt.BackOff()
    made = controller.decide(signals(plan=plan, out_of_memory=True))
    assert made.moved and (made.plan.rows, made.plan.accumulation) == (8, 3)
    assert made.plan.sequences_per_step == plan.sequences_per_step and made.rate == 1e-3
    assert made.reason == "12 rows ran out of memory: 12 x 2 -> 8 x 3"


def test_memory_that_shrinks_is_backed_off_from_before_it_ends():
    controller = adapt.BackOff(patience=2)
    plan, sizes = Plan(16, 1, 1, 64), []
    for step, limit in enumerate(np.linspace(2000, 300, 40)):
        known = {"peak_bytes": 100 * plan.rows * MIB, "limit_bytes": int(limit) * MIB}
        made = controller.decide(signals(step, plan, **known))
        plan = made.plan
        sizes.append(plan.rows)
        assert plan.sequences_per_step == 16
    assert sizes[0] == 16 and sizes[-1] == 2 and sizes == sorted(sizes, reverse=True)


def test_rows_that_ran_out_of_memory_are_never_taken_again():
    controller = adapt.BackOff()
    first = controller.decide(signals(plan=Plan(8, 1, 1, 64), out_of_memory=True))
    again = controller.decide(signals(1, plan=Plan(8, 4, 1, 64)))
    assert first.plan.rows == 4 and again.plan.rows == 4 and again.plan.sequences_per_step == 32
    with pytest.raises(ValueError, match="a micro-batch of 1 row cannot shrink"):
        adapt.BackOff().decide(signals(plan=Plan(1, 8, 1, 64), out_of_memory=True))


def test_one_full_reading_of_memory_moves_nothing():
    controller = adapt.BackOff()
    readings = [{"peak_bytes": 99, "limit_bytes": 100}, {"peak_bytes": 50, "limit_bytes": 100}] * 9
    assert not any(one.moved for one in follow(controller, readings))


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=4), st.integers(4, 14))
def test_rows_by_speed_sum_to_the_step_and_end_as_soon_as_any_deal(seconds, rows):
    """The judge: every deal there is."""
    dealt = adapt.shares(rows, tuple(seconds))
    assert sum(dealt) == rows and min(dealt) >= 1
    cuts = itertools.combinations(range(1, rows), len(seconds) - 1)
    ends = [
        max((b - a) * s for a, b, s in zip((0, *cut), (*cut, rows), seconds, strict=True))
        for cut in cuts
    ]
    took = max(n * s for n, s in zip(dealt, seconds, strict=True))
    assert took == pytest.approx(min(ends))


def test_a_device_that_slows_gets_fewer_rows_of_the_same_step():
    controller = adapt.Shares()
    rng = np.random.default_rng(0)
    speed = [(1.0, 1.0)] * 10 + [(1.0, 3.0)] * 20
    readings = [{"seconds_per_row": tuple(np.array(s) * rng.uniform(0.98, 1.02, 2))} for s in speed]
    made = follow(controller, readings)
    assert made[9].rows_of_ranks is None and made[-1].rows_of_ranks == (12, 4)
    assert {one.plan for one in made} == {PLAN}
    assert [entry["step"] for entry in controller.log] == [12], "the third slow reading, once"
    single = adapt.Shares()
    hiccup = [{"seconds_per_row": (1.0, 9.0 if step == 4 else 1.0)} for step in range(10)]
    assert not any(one.moved for one in follow(single, hiccup))


# together, saved, resumed -------------------------------------------------------------------


def stack():
    return [
        adapt.NoiseGuided(most=128, couple=square_root),
        adapt.BackOff(),
        adapt.Shares(),
    ]


def scenario(step):
    rng = np.random.default_rng(step)
    return {
        "loss": 5 - 0.02 * step + 0.1 * rng.normal(), "noise": scale(20 + 4 * step),
        "peak_bytes": int(80 + step * rng.uniform(0, 0.4)), "limit_bytes": 100,
        "out_of_memory": step == 30,
        "seconds_per_row": (1.0, 1.0 if step < 40 else rng.uniform(2.5, 3.5)),
    }  # fmt: skip


def run(controllers, steps, plan=PLAN, rate=1e-3):
    found = []
    for step in steps:
        made = adapt.in_turn(controllers, signals(step, plan, rate, **scenario(step)))
        plan, rate = made.plan, made.rate
        found.append(made)
    return found


@pytest.mark.parametrize("kill", [1, 13, 31, 41, 60])
def test_a_killed_and_resumed_run_makes_the_same_decisions(kill):
    whole = run(stack(), range(80))
    controllers = stack()
    before = run(controllers, range(kill))
    saved = json.loads(json.dumps([one.state_dict() for one in controllers]))
    resumed = stack()
    for one, state in zip(resumed, saved, strict=True):
        one.load_state_dict(state)
    after = run(resumed, range(kill, 80), before[-1].plan, before[-1].rate)
    assert before + after == whole
    assert len({one.plan for one in whole}) >= 3, "a scenario in which things move"
    forgotten = run(stack(), range(kill, 80), before[-1].plan, before[-1].rate)
    if kill == 60:
        assert before + forgotten != whole, "the mistake: a state that is not loaded"


def test_the_state_of_another_controller_is_refused():
    saved = adapt.NoiseGuided(most=128).state_dict()
    for other in (adapt.NoiseGuided(most=64), adapt.BackOff(), adapt.NormTest(most=128)):
        with pytest.raises(ValueError, match="state of another run: saved by NoiseGuided"):
            other.load_state_dict(saved)


def capped(rate, first, last):
    return min(rates.square_root(rate, first, last), 1.2)


def test_a_state_says_by_what_rule_the_rate_is_coupled():
    """The mistake: saved with one rule, gone on with another, and nobody says so."""
    for kind, known in (
        (adapt.NoiseGuided, {"most": 128}),
        (adapt.Ramped, {"ramp": rates.doubling(1024, [20_000])}),
        (adapt.Goodput, {"tokens_per_second": {16: 1.0}, "base": 16}),
    ):
        saved = json.loads(json.dumps(kind(**known, couple=rates.square_root).state_dict()))
        kind(**known, couple=square_root).load_state_dict(saved)  # the same rule by another name
        for other in (rates.linear, adapt.unchanged, capped):
            with pytest.raises(ValueError, match="state of another run"):
                kind(**known, couple=other).load_state_dict(saved)


def test_a_rule_that_knows_some_steps_only_is_told_by_what_it_knows():
    def table(known):
        return lambda rate, first, last: rate * known[first, last]

    def made(known):
        return adapt.NoiseGuided(most=128, couple=table(known))

    saved = made({(16, 32): 2.0}).state_dict()
    made({(16, 32): 2.0}).load_state_dict(saved)
    with pytest.raises(ValueError, match="state of another run"):
        made({(16, 32): 1.5}).load_state_dict(saved)


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        (adapt.NoiseGuided, {"most": 128, "readings": 5}),
        (adapt.Shares, {"gain": 0.5}),
        (adapt.BackOff, {"full": 0.5}),
        (adapt.Goodput, {"tokens_per_second": {16: 1.5}, "base": 16}),
    ],
)
def test_a_number_of_numpy_is_the_same_setting(kind, known):
    """The mistake: 128 and "128", a state that nobody can load again."""

    def numpys(value):
        if isinstance(value, dict):
            return {np.int64(size): np.float64(rate) for size, rate in value.items()}
        return np.int64(value) if isinstance(value, int) else np.float64(value)

    saved = kind(**{name: numpys(value) for name, value in known.items()}).state_dict()
    kind(**known).load_state_dict(json.loads(json.dumps(saved)))


def test_the_norm_test_takes_theta_and_no_share():
    """The mistake: `share=0.1` was taken and thrown away."""
    assert adapt.NormTest(most=8, theta=2.0).share == 0.25
    with pytest.raises(TypeError, match="unexpected keyword argument 'share'"):
        adapt.NormTest(most=8, theta=2.0, share=0.1)


def test_rows_by_speed_are_forgotten_when_another_controller_changes_the_step():
    """The mistake: 12 + 4 rows of a step that has 32 now."""
    controller = adapt.Shares(patience=1)
    first = controller.decide(signals(seconds_per_row=(1.0, 3.0)))
    assert first.rows_of_ranks == (12, 4)
    assert controller.decide(signals(1)).rows_of_ranks == (12, 4), "what was found stays"
    grown = dataclasses.replace(PLAN, accumulation=4)
    assert controller.decide(signals(2, grown)).rows_of_ranks is None
    again = controller.decide(signals(3, grown, seconds_per_row=(1.0, 3.0)))
    assert again.rows_of_ranks == (24, 8) and sum(again.rows_of_ranks) == 32


def test_what_does_not_divide_is_refused_and_wrong_options_too():
    odd = adapt.Goodput(tokens_per_second={16: 1.0, 20: 9.0}, base=16, patience=1)
    with pytest.raises(ValueError, match="20 sequences per step do not divide over 4 rows x 2"):
        odd.decide(signals(noise=scale(1e4, spread=0.01)))
    with pytest.raises(ValueError, match="3 ranks were timed, the plan has 2 replicas"):
        adapt.Shares().decide(signals(seconds_per_row=(1.0, 1.0, 1.0)))
    for made in (
        lambda: adapt.BackOff(patience=0),
        lambda: adapt.BackOff(full=1.5),
        lambda: adapt.NormTest(most=8, theta=0.0),
        lambda: adapt.Shares(gain=-1.0),
        lambda: adapt.Goodput(tokens_per_second={16: 1.0}, base=0),
        lambda: adapt.Goodput(tokens_per_second={16: 1.0}, base=8, margin=math.nan),
        lambda: adapt.Goodput(tokens_per_second={16: 0.0}, base=8),
        lambda: adapt.shares(3, (1.0, math.nan)),
    ):
        with pytest.raises(ValueError, match="must be"):
            made()


# for real -----------------------------------------------------------------------------------


def trained(steps, kill=None):
    """A run whose step grows with its measured noise; killed and resumed after `kill` steps."""
    some, net = documents(200), Small()
    parts = [range(steps)] if kill is None else [range(kill), range(kill, steps)]
    plan, rate, saved, sizes = Plan(2, 2, 1, 32), 3e-3, None, []
    for part in parts:
        optimizer = torch.optim.AdamW(net.parameters(), lr=rate)
        tracker = norms.Tracker(net, optimizer, window=40)
        controller = adapt.NoiseGuided(most=8, share=4.0, couple=square_root)
        if saved:
            tracker.load_state_dict(saved[0]), controller.load_state_dict(saved[1])
            optimizer.load_state_dict(saved[2])
        for step in part:
            for group in optimizer.param_groups:
                group["lr"] = rate
            drawn = np.random.default_rng(step).integers(0, 200, plan.sequences_per_step).tolist()
            took = loop.train_step(net, optimizer, micro_batches(some, drawn, plan.rows))
            known = {"loss": took.loss}
            if step >= 20:
                known["noise"] = tracker.estimate()
            made = controller.decide(Signals(step, 0, plan, rate, **known))
            plan, rate = made.plan, made.rate
            sizes.append(plan.sequences_per_step)
        saved = tracker.state_dict(), controller.state_dict(), optimizer.state_dict()
        tracker.close()
    return sizes, torch.cat([p.detach().flatten() for p in net.parameters()])


def test_a_real_run_grows_with_its_noise_and_a_killed_one_ends_bit_for_bit_the_same():
    sizes, weights = trained(40)
    again, resumed = trained(40, kill=23)
    assert sizes == again and torch.equal(weights, resumed)
    assert sizes[19] == 4 < sizes[-1]


def test_signals_and_decisions_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        signals().rate = 2.0
    assert isinstance(noise.exact([[1.0], [2.0]]), noise.Exact)
