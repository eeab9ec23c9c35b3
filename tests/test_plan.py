"""Plans divide exactly or are refused; configs say what a step sees or what they lack."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchlab import plan
from batchlab.plan import Plan, data_parallel_degree, for_slots_per_step, splits

small = st.integers(1, 40)


def test_one_plan_by_hand():
    one = Plan(rows=4, accumulation=8, data_parallel=2, length=1024)
    assert (one.sequences_per_step, one.slots_per_step) == (64, 65_536)
    assert one.target_tokens_per_step(fill=0.5, target_share=0.25) == 8192


@given(small, small, small, small)
def test_slots_and_plans_are_inverse(rows, accumulation, replicas, length):
    one = Plan(rows, accumulation, replicas, length)
    back = for_slots_per_step(one.slots_per_step, rows=rows, length=length, data_parallel=replicas)
    assert back == one


def test_what_does_not_divide_is_refused_with_its_neighbours():
    with pytest.raises(ValueError, match="the nearest are 983,040 and 1,048,576"):
        for_slots_per_step(1_000_000, rows=8, length=1024, data_parallel=8)
    assert 1_000_000 // 65_536 * 65_536 != 1_000_000, "a silent floor would have lost 1.7 %"
    with pytest.raises(ValueError, match="the nearest is 64"):
        for_slots_per_step(10, rows=4, length=16, data_parallel=1)


@given(small, small, small)
def test_splits_are_all_and_only_the_exact_ones(micro, replicas, length):
    slots = micro * replicas * length
    found = splits(slots, length=length, data_parallel=replicas, most_rows=micro)
    assert all(one.slots_per_step == slots for one in found)
    assert [one.rows for one in found] == [r for r in range(micro, 0, -1) if micro % r == 0]


@pytest.mark.parametrize("value", [0, -1, 2.0, True, float("nan"), "8", None])
def test_rows_that_are_no_count_are_refused(value):
    with pytest.raises(ValueError, match="rows must be a whole number"):
        Plan(value, 1, 1, 1)


def test_whole_numbers_of_numpy_are_taken_as_ours():
    plan = Plan(np.int64(8), np.int32(4), 2, 512)
    assert plan == Plan(8, 4, 2, 512) and type(plan.rows) is int


@pytest.mark.parametrize("fill", [0.0, 1.01, float("nan")])
def test_a_fill_that_is_no_share_is_refused(fill):
    with pytest.raises(ValueError, match="fill must be above 0"):
        Plan(1, 1, 1, 8).target_tokens_per_step(fill, 1.0)


def test_a_gpu_is_not_a_replica():
    assert data_parallel_degree(16_384, tensor=8, pipeline=16) == 128  # Llama 3, Table 4
    with pytest.raises(ValueError, match="the nearest are 96 and 128"):
        data_parallel_degree(100, tensor=8, pipeline=4)


def test_training_arguments_from_every_form(tmp_path):
    config = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8}
    for name, text in (
        ("args.json", json.dumps(config)),
        ("args.yaml", "per_device_train_batch_size: 2\ngradient_accumulation_steps: 8\n"),
    ):
        (tmp_path / name).write_text(text)
        assert plan.from_config(tmp_path / name, devices=4, length=512).plan == Plan(2, 8, 4, 512)
    assert plan.from_config(config, devices=4, length=512).plan == Plan(2, 8, 4, 512)


def test_deepspeed_finds_the_third_of_three_and_refuses_a_contradiction():
    micro, total = {"train_micro_batch_size_per_gpu": 4}, {"train_batch_size": 64}
    for config in (micro | total, total | {"gradient_accumulation_steps": 8}):
        assert plan.from_config(config, devices=2, length=64).plan == Plan(4, 8, 2, 64)
    with pytest.raises(ValueError, match="train_batch_size 64 is not 4"):
        plan.from_config(micro | total | {"gradient_accumulation_steps": 4}, devices=2, length=64)
    with pytest.raises(ValueError, match=r"is \"auto\""):
        plan.from_config({"train_micro_batch_size_per_gpu": "auto"}, devices=2, length=64)


def test_megatron_flags_divide_the_devices():
    flags = (
        "--micro-batch-size 1 --global-batch-size=256 --tensor-model-parallel-size 8 "
        "--pipeline-model-parallel-size 16 --seq-length 4096 --bf16"
    )
    launch = plan.from_config(flags, devices=16_384)
    assert launch.plan == Plan(1, 2, 128, 4096)
    assert "16,384 devices (tensor 8, pipeline 16 parallel) are 128 replicas" in launch.describe()
    with pytest.raises(ValueError, match="global-batch-size 200 is not a multiple of 128"):
        plan.from_config(flags.replace("256", "200"), devices=16_384)


def test_devices_that_share_a_replica_multiply_nothing_in_any_dialect():
    """The mistake beside the law: 16 devices of tensor 4 are no 16 replicas."""
    deepspeed = {"train_batch_size": 64, "train_micro_batch_size_per_gpu": 2}
    split = deepspeed | {"tensor_parallel": {"autotp_size": 4}}
    assert plan.from_config(deepspeed, devices=16, length=64).plan == Plan(2, 2, 16, 64)
    assert plan.from_config(split, devices=16, length=64).plan == Plan(2, 8, 4, 64)
    with pytest.raises(ValueError, match=r"x 8 \(accumulation\) x 2 \(replicas\) = 32"):
        plan.from_config(split | {"gradient_accumulation_steps": 8}, devices=8, length=64)
    trainer = {"per_device_train_batch_size": 2, "parallelism_config": {"tp_size": 2, "cp_size": 2}}
    launch = plan.from_config(trainer, devices=16, length=64)
    assert (launch.plan.data_parallel, launch.tensor, launch.context) == (4, 2, 2)
    with pytest.raises(ValueError, match="6 devices do not divide into replicas of 4"):
        plan.from_config(trainer, devices=6, length=64)


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        ({"learning_rate": 1}, {}, "none of per_device_train_batch_size"),
        ({"per_device_train_batch_size": 2}, {"length": 8}, "devices is not in this config"),
        ({"per_device_train_batch_size": 2}, {"devices": 8}, "length is not in this config"),
        ({"per_device_train_batch_size": 2.5}, {"devices": 1, "length": 8}, "whole number"),
        (
            {"per_device_train_batch_size": 2, "world_size": 4},
            {"devices": 8, "length": 8},
            r"devices is 8 here \(--devices\) and 4 in the config",
        ),
        ({"train_batch_size": 30, "train_micro_batch_size_per_gpu": 4},
         {"devices": 2, "length": 8}, "nearest are 24 and 32"),
    ],
)  # fmt: skip
def test_a_config_that_leaves_the_step_open_is_refused(config, options, message):
    with pytest.raises(ValueError, match=message):
        plan.from_config(config, **options)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.json", "{", "line 1: not JSON"),
        ("x.json", "[]", "a mapping of settings is needed"),
        ("x.yaml", "a: [", "not YAML"),
    ],
)
def test_config_files_that_cannot_be_read_are_named(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        plan.from_config(tmp_path / name)
