"""A saved state names all that it depends on: every setting changed alone is refused, or adopted
as its docstring says; and no saver of states stands outside these laws."""

import dataclasses
import json

import pytest
import torch

from batchlab import adapt, rates
from batchlab.cluster import training
from batchlab.rates.schedule import InTokens
from tests.test_signatures import PUBLIC

SETTINGS = {  # each setting of each controller: a value, and another one
    adapt.NoiseGuided: {"patience": (3, 4), "most": (64, 128), "readings": (20, 30),
                        "share": (1.0, 0.5), "couple": (rates.linear, rates.square_root)},
    adapt.NormTest: {"patience": (3, 4), "most": (64, 128), "readings": (20, 30),
                     "theta": (1.0, 0.5), "couple": (rates.linear, rates.square_root)},
    adapt.Ramped: {"patience": (3, 4), "couple": (rates.linear, rates.square_root),
                   "ramp": (rates.doubling(64, [100]), rates.doubling(64, [200]))},
    adapt.Goodput: {"patience": (3, 4), "base": (16, 32), "margin": (0.05, 0.1),
                    "tokens_per_second": ({16: 1.0}, {16: 2.0}),
                    "couple": (rates.linear, rates.square_root)},
    adapt.BackOff: {"patience": (3, 4), "full": (0.95, 0.9)},
    adapt.Shares: {"patience": (3, 4), "gain": (0.05, 0.1)},
}  # fmt: skip


def refused(kind, settings, name):
    """Whether a state that was saved with one value is refused by an object with the other."""
    first = {one: value for one, (value, _) in settings.items()}
    saved = json.loads(json.dumps(kind(**first).state_dict()))
    kind(**first).load_state_dict(saved)
    try:
        kind(**first | {name: settings[name][1]}).load_state_dict(saved)
    except ValueError as error:
        return "state of another run" in str(error)
    return False


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_a_controller_refuses_the_state_of_any_other_setting(kind):
    settings = SETTINGS[kind]
    assert settings.keys() == {one.name for one in dataclasses.fields(kind) if one.init}
    assert [name for name in settings if not refused(kind, settings, name)] == []


def test_a_setting_that_a_state_does_not_name_is_seen():
    class Forgetful(adapt.BackOff):
        def _identity(self):
            return "BackOff"

    assert not refused(Forgetful, SETTINGS[adapt.BackOff], "full")


CURVE = rates.Curve(total_tokens=1000, warmup_tokens=100, shape="cosine", final=0.1)


@pytest.mark.parametrize(
    "other", [{"total_tokens": 2000}, {"warmup_tokens": 0}, {"shape": "linear"}, {"final": 0.0}]
)
def test_a_schedule_refuses_the_state_of_any_other_curve_and_adopts_the_rest(other):
    def made(curve, tokens_per_step):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
        return InTokens(optimizer, curve, tokens_per_step=tokens_per_step)

    assert {*other} <= {one.name for one in dataclasses.fields(rates.Curve)}
    saved = made(CURVE, 10).state_dict()
    adopts = made(CURVE, 20)
    adopts.load_state_dict(saved)
    assert adopts.tokens_per_step == 10, "as its docstring says"
    with pytest.raises(ValueError, match="state of another schedule"):
        made(dataclasses.replace(CURVE, **other), 10).load_state_dict(saved)


def test_a_run_is_named_by_every_setting_but_the_form_and_the_compiler():
    """Whose weights are the same in every form; what older runs had not is named where it is on."""
    run = training.Settings()
    others = {"documents": "a.jsonl", "model": "b", "rows": 3, "length": 64, "rate": 1.0,
              "seed": 7, "stream": True, "schedule": "linear", "tokens": 9, "warmup_tokens": 0,
              "lora": 4, "field": "a", "document": "line", "too_long": "split"}  # fmt: skip
    assert run.named() == "documents None, model None, rows 2, length 256, rate 0.001, seed 0"
    assert {*others, "form", "compile"} == {one.name for one in dataclasses.fields(run)}
    for name, value in others.items():
        assert dataclasses.replace(run, **{name: value}).named() != run.named()
    assert dataclasses.replace(run, form="fsdp", compile=True).named() == run.named()


def test_whoever_saves_a_state_stands_in_a_test_of_it():
    classes = [one for one in PUBLIC if isinstance(one, type)]
    savers = {one.__name__ for one in classes if {"state_dict", "state"} & {*dir(one)}}
    known = {kind.__name__ for kind in SETTINGS} | {"Controller", "InTokens"}
    elsewhere = {"Loader", "Tracker", "Sampler"}  # in test_loader, test_norms and test_collator
    elsewhere |= {"Stream", "Streamed"}  # in test_data_stream; the second hands the first one on
    assert savers - known == elsewhere
