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


def test_splits_of_every_size_by_hand():
    def found(slots, most_rows, **how):
        made = splits(slots, **({"length": 1, "data_parallel": 1, "most_rows": most_rows} | how))
        return [(one.rows, one.accumulation) for one in made]

    assert found(1, 1) == [(1, 1)] and found(7, 99) == [(7, 1), (1, 7)]
    assert found(16, 99) == [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)], "a square, 4 once"
    assert found(16, 8) == [(8, 2), (4, 4), (2, 8), (1, 16)]
    assert found(16, 3) == [(2, 8), (1, 16)] and found(16, 4) == [(4, 4), (2, 8), (1, 16)]
    assert found(48, 4, length=4, data_parallel=2) == [(3, 2), (2, 3), (1, 6)]
    plans = splits(48, length=4, data_parallel=2, most_rows=4)
    assert {(one.length, one.data_parallel) for one in plans} == {(4, 2)}
    with pytest.raises(ValueError, match="50 slots per step is not a multiple of 8"):
        found(50, 4, length=4, data_parallel=2)
    with pytest.raises(ValueError, match=r"7 slots per step is not .* 8 .*; the nearest is 8$"):
        found(7, 4, length=4, data_parallel=2)


def test_huge_steps_are_split_at_once_or_refused():
    """300,000,000 rows by 4 micro-batches took minutes: every number below was tried."""
    step = Plan(rows=300_000_000, accumulation=4, data_parallel=1, length=1)
    found = splits(step.slots_per_step, length=1, data_parallel=1, most_rows=step.rows)
    assert found[0] == step and found[-1].rows == 1
    assert all(one.slots_per_step == step.slots_per_step for one in found)
    assert len(splits(10**12, length=1, data_parallel=1, most_rows=10**12)) == 169
    assert len(splits(2**53, length=1, data_parallel=1, most_rows=10**6)) == 20
    with pytest.raises(ValueError, match="2,000,000,000,000 sequences on a device are too many"):
        splits(2 * 10**12, length=1, data_parallel=1, most_rows=2 * 10**12)
    with pytest.raises(ValueError, match="most_rows up to 1,000,000 they are found"):
        splits(2**53, length=1, data_parallel=1, most_rows=10**6 + 1)


def test_neighbours_are_named_above_and_below():
    with pytest.raises(ValueError, match=r"\(2 rows x 4 tokens x 3 devices\); .* are 24 and 48$"):
        for_slots_per_step(25, rows=2, length=4, data_parallel=3)
    assert for_slots_per_step(24, rows=2, length=4, data_parallel=3) == Plan(2, 1, 3, 4)
    assert for_slots_per_step(48, rows=2, length=4, data_parallel=3) == Plan(2, 2, 3, 4)
    assert data_parallel_degree(24, tensor=2, pipeline=3, context=4) == 1
    assert data_parallel_degree(7) == 7
    message = r"25 devices .* replicas of 24 \(tensor 2 x pipeline 3 x context 4\)"
    with pytest.raises(ValueError, match=message):
        data_parallel_degree(25, tensor=2, pipeline=3, context=4)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda n: Plan(n, 1, 1, 1), "rows"),
        (lambda n: Plan(1, n, 1, 1), "accumulation"),
        (lambda n: Plan(1, 1, n, 1), "data_parallel"),
        (lambda n: Plan(1, 1, 1, n), "length"),
        (lambda n: for_slots_per_step(n, rows=1, length=1, data_parallel=1), "slots"),
        (lambda n: splits(n, length=1, data_parallel=1, most_rows=1), "slots"),
        (lambda n: splits(1, length=1, data_parallel=1, most_rows=n), "most_rows"),
        (lambda n: data_parallel_degree(n), "devices"),
        (lambda n: data_parallel_degree(1, tensor=n), "tensor"),
        (lambda n: data_parallel_degree(1, pipeline=n), "pipeline"),
        (lambda n: data_parallel_degree(1, context=n), "context"),
    ],
)
def test_every_factor_is_a_count(call, name):
    for value in (0, 1.0, True):
        with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, got"):
            call(value)
    assert call(np.uint8(1)) == call(1)


@pytest.mark.parametrize("value", [0, -1, 2.0, True, float("nan"), "8", None])
def test_rows_that_are_no_count_are_refused(value):
    with pytest.raises(ValueError, match="rows must be a whole number"):
        Plan(value, 1, 1, 1)


def test_whole_numbers_of_numpy_are_taken_as_ours():
    plan = Plan(np.int64(8), np.int32(4), 2, 512)
    assert plan == Plan(8, 4, 2, 512) and type(plan.rows) is int


@pytest.mark.parametrize("fill", [0.0, 1.01, float("nan")])
def test_a_fill_that_is_no_share_is_refused(fill):
    with pytest.raises(ValueError, match="fill must be above 0 and at most 1"):
        Plan(1, 1, 1, 8).target_tokens_per_step(fill, 1.0)
    with pytest.raises(ValueError, match="target_share must be above 0 and at most 1"):
        Plan(1, 1, 1, 8).target_tokens_per_step(1.0, fill)
    assert Plan(1, 1, 1, 8).target_tokens_per_step(1, 1) == 8


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
        launch = plan.from_config(config, devices=2, length=64, tool="deepspeed")
        assert launch.plan == Plan(4, 8, 2, 64)
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
