"""Configs of every tool say one step, or what they lack; a word is read as its tool means it."""

import json

import numpy as np
import pytest

from batchlab import plan
from batchlab.plan import Plan
from batchlab.plan._launch import TOOLS, Ramp, from_config

AXOLOTL = """
base_model: NousResearch/Meta-Llama-3-8B
micro_batch_size: 2
gradient_accumulation_steps: 8
sequence_len: 4096
tensor_parallel_size: 2
datasets: [{path: tatsu-lab/alpaca, type: alpaca}]
"""
LLAMA_FACTORY = """
stage: sft
finetuning_type: full
template: llama3
cutoff_len: 4096
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
neat_packing: true
"""
TRL = """
model_name_or_path: Qwen/Qwen2.5-0.5B
dataset_text_field: text
per_device_train_batch_size: 4
gradient_accumulation_steps: 4
packing: true
"""
TITAN = """
[training]
local_batch_size = 1
global_batch_size = 256
seq_len = 8192
[parallelism]
data_parallel_shard_degree = -1
tensor_parallel_degree = 4
pipeline_parallel_degree = 1
context_parallel_degree = 2
"""
TORCHTUNE = """
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
dataset: {_component_: torchtune.datasets.alpaca_dataset, packed: True}
batch_size: 2
gradient_accumulation_steps: 16
"""
MEGATRON = """#!/bin/bash
# Runs the "175B" parameter model
GPUS_PER_NODE=8
NUM_NODES=16  # of them
export WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
TP=${TP_SIZE:-8}
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
)
TRAINING_ARGS=(
    --micro-batch-size 2
    --global-batch-size 512  # sequences
    --bf16
)
MODEL_ARGS="
    --tensor-model-parallel-size ${TP} \\
    --pipeline-model-parallel-size 4
    --seq-length 2048
"
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \\
    ${TRAINING_ARGS[@]} \\
    $MODEL_ARGS
"""
NEMO = """
trainer: {devices: 8, num_nodes: 4, accumulate_grad_batches: 1}
exp_manager: {name: gpt}
model:
  micro_batch_size: 1
  global_batch_size: 128
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 2
  encoder_seq_length: 4096
"""
AUTOMODEL = """
step_scheduler: {global_batch_size: 64, local_batch_size: 2}
model: {_target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained}
distributed: {tp_size: 1, cp_size: 1}
packed_sequence: {packed_sequence_size: 0}
dataset: {seq_length: 2048}
"""
LITGPT = """
devices: 3
train: {global_batch_size: 64, micro_batch_size: 4, max_seq_length: 512}
"""
VERL = """
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\
    data.train_batch_size=1024 data.max_prompt_length=512 data.max_response_length=1024 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=256 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \\
    actor_rollout_ref.rollout.n=8 trainer.n_gpus_per_node=8 trainer.nnodes=2
"""
EXAMPLES = {  # the worked examples of the sources: file, what is added, plan, unit
    "axolotl.yaml": (AXOLOTL, {"devices": 8}, Plan(2, 8, 4, 4096), "sequences"),
    "factory.yaml": (LLAMA_FACTORY, {"devices": 4}, Plan(1, 8, 4, 4096), "packs"),
    "trl.yaml": (TRL, {"devices": 8}, Plan(4, 4, 8, 1024), "packs"),
    "titan.toml": (TITAN, {"devices": 64}, Plan(1, 32, 8, 8192), "sequences"),
    "tune.yaml": (TORCHTUNE, {"devices": 4}, Plan(2, 16, 4, 8192), "packs"),
    "ds.json": (
        '{"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4}',
        {"devices": 16, "length": 512},
        Plan(4, 4, 16, 512),
        "sequences",
    ),
    "megatron.sh": (MEGATRON, {}, Plan(2, 64, 4, 2048), "sequences"),
    "nemo.yaml": (NEMO, {}, Plan(1, 32, 4, 4096), "sequences"),
    "automodel.yaml": (AUTOMODEL, {"devices": 8}, Plan(2, 4, 8, 2048), "sequences"),
    "litgpt.yaml": (LITGPT, {}, Plan(4, 5, 3, 512), "sequences"),
    "verl.sh": (VERL, {}, Plan(4, 32, 16, 1536), "completions"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_worked_examples_of_each_tool(tmp_path, name):
    text, added, wanted, unit = EXAMPLES[name]
    path = tmp_path / name
    path.write_text(text)
    launch = plan.from_config(path, **added)
    assert launch.plan == wanted and launch.unit == unit
    assert plan.from_config(str(path), **added) == launch


def test_the_totals_are_those_of_the_sources(tmp_path):
    """B of the table of sources: sequences, packs or completions of one optimizer step."""
    totals = dict(zip(EXAMPLES, (64, 32, 128, 256, 128, 256, 512, 128, 64, 60, 2048), strict=True))
    for name, (_, _, wanted, _) in EXAMPLES.items():
        assert wanted.sequences_per_step == totals[name], name


def test_axolotl_is_not_megatron(tmp_path):
    """Read as Megatron, its accumulation was lost: an eighth of the step, without a word."""
    (tmp_path / "a.yaml").write_text(AXOLOTL)
    launch = plan.from_config(tmp_path / "a.yaml", devices=8)
    assert launch.source == "axolotl" and launch.plan.accumulation == 8 and launch.tensor == 2
    plain = {"base_model": "x", "micro_batch_size": 2, "batch_size": 16}
    launch = from_config(plain, devices=1)
    assert launch.plan == Plan(2, 8, 1, 512), "batch_size is of one GPU; 512 is its default"
    with pytest.raises(ValueError, match="batch_size 15 is not a multiple of 2"):
        from_config(plain | {"batch_size": 15}, devices=1)
    packed = from_config(plain | {"sample_packing": True}, devices=1)
    assert packed.unit == "packs" and "one row of 2 x 512 tokens" in packed.describe()


def test_unsloth_has_its_own_defaults():
    assert from_config({}, tool="unsloth", devices=1, length=2048).plan == Plan(4, 2, 1, 2048)
    assert from_config({}, tool="training-arguments", devices=1, length=8).plan == Plan(8, 1, 1, 8)


def test_accelerate_knows_the_processes_and_the_script_the_rest(tmp_path):
    path = tmp_path / "accelerate.yaml"
    path.write_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_processes: 16\n"
        "num_machines: 2\ndeepspeed_config:\n  gradient_accumulation_steps: 4\n"
    )
    with pytest.raises(ValueError, match="give the arguments of the script as a second config"):
        from_config(path)
    script = "--per_device_train_batch_size 2 --max_length 512"
    for configs in ((path, script), (script, path)):
        assert from_config(*configs).plan == Plan(2, 4, 16, 512)
    with pytest.raises(ValueError, match="gradient_accumulation_steps is 8, and deepspeed_config"):
        from_config(path, script + " --gradient_accumulation_steps 8")
    asked = from_config(path, script, devices=8)
    assert asked.devices == 8 and "in place of num_processes 16" in asked.describe()
    path.write_text(
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nnum_processes: 16\n"
        "parallelism_config: {parallelism_config_tp_size: 2, parallelism_config_cp_size: 4}\n"
    )
    launch = from_config(path, script)
    assert (launch.plan.data_parallel, launch.tensor, launch.context) == (2, 2, 4)


def test_deepspeed_with_auto_is_filled_by_the_arguments_beside_it(tmp_path):
    auto = {
        "zero_optimization": {"stage": 2},
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
    }
    (tmp_path / "ds.json").write_text(json.dumps(auto))
    script = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8, "max_length": 64}
    wanted = Plan(2, 8, 4, 64)
    assert from_config(tmp_path / "ds.json", script, devices=4).plan == wanted
    assert from_config(script, tmp_path / "ds.json", devices=4).plan == wanted
    assert from_config(script | {"deepspeed": auto}, devices=4).plan == wanted
    with pytest.raises(ValueError, match=r'ds.json: train_batch_size is "auto".* as a second one'):
        from_config(tmp_path / "ds.json", devices=4, length=64)
    with pytest.raises(
        ValueError, match="size is 2, and train_micro_batch_size_per_gpu beside it is 4"
    ):
        from_config(script, auto | {"train_micro_batch_size_per_gpu": 4}, devices=4)
    with pytest.raises(ValueError, match=r"train_batch_size 256 is not 2 .micro. x 8"):
        from_config(script, auto | {"train_batch_size": 256}, devices=4)
    with pytest.raises(ValueError, match=r"train_batch_size and train_micro_.* are missing"):
        from_config({"zero_optimization": {}}, devices=4, length=8)


def test_two_configs_that_do_not_belong_together_are_refused():
    script = {"per_device_train_batch_size": 2}
    megatron = {"micro_batch_size": 2, "seq_length": 8}
    with pytest.raises(ValueError, match="do not go together"):
        from_config(script, megatron)
    with pytest.raises(ValueError, match="do not go together"):
        from_config(script, script)
    with pytest.raises(ValueError, match="megatron takes nothing from a second config"):
        from_config(megatron, {"train_batch_size": 8, "zero_optimization": {}})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"base_model": "x", "micro_batch_size": 2, "cutoff_len": 8},
            "signs of axolotl and of llama-factory",
        ),
        ({"base_model": "x", "micro_batch_size": 2, "seq_length": 8}, "of axolotl and of megatron"),
        ({"per_device_train_batch_size": 2, "train_batch_size": 8}, "train_batch_size is a word"),
        ({"per_device_train_batch_size": 2, "micro_batch_size": 8}, "micro_batch_size is a word"),
        ({"micro_batch_size": 2, "seq_length": 8, "gradient_accumulation_steps": 8},
         "looks like megatron, and gradient_accumulation_steps is a word of training-arguments"),
        ({"micro_batch_size": 2, "gradient_accumulation_steps": 8}, "gradient_accumulation_steps "),
        ({"batch_size": 2}, "batch_size alone may be of axolotl, dpo-paper, nanogpt, torchtune"),
        ({"learning_rate": 1}, "none of per_device_train_batch_size"),
        ({}, "the keys are none"),
    ],
)  # fmt: skip
def test_mixtures_and_strangers_are_refused(config, message):
    with pytest.raises(ValueError, match=message):
        from_config(config, devices=1, length=8)


def test_a_tool_that_is_named_settles_it():
    config = {"micro_batch_size": 2, "gradient_accumulation_steps": 8}
    assert from_config(config, tool="axolotl", devices=1).plan == Plan(2, 8, 1, 512)
    assert from_config(config, tool="megatron", devices=1, length=8).plan == Plan(2, 1, 1, 8)
    with pytest.raises(ValueError, match="unknown tool 'tetris'; there are training-arguments, "):
        from_config(config, tool="tetris")
    for tool in TOOLS:
        with pytest.raises(ValueError, match=r"missing|not in this config|give|left to"):
            from_config({}, tool=tool)


def test_a_torchtitan_run_multiplies_to_its_devices():
    flags = (
        "--training.local_batch_size 2 --training.seq_len=4096 "
        "--parallelism.data_parallel_shard_degree 4 --parallelism.data_parallel_replicate_degree 2 "
        "--parallelism.tensor_parallel_degree 2"
    )
    launch = from_config(flags)
    assert (launch.devices, launch.plan) == (16, Plan(2, 1, 8, 4096)), "-1: no accumulation"
    with pytest.raises(ValueError, match=r"devices is 8 here .--devices., and .* multiply to 16"):
        from_config(flags, devices=8)
    with pytest.raises(ValueError, match=r"training.global_batch_size 20 is not a multiple of 16"):
        from_config(flags + " --training.global_batch_size 20")


def test_megatron_bridge_packs_into_micro_batches_of_one():
    config = {
        "train": {"micro_batch_size": 1, "global_batch_size": 128},
        "model": {"tensor_model_parallel_size": 2},
        "dataset": {"packed_sequence_specs": {"packed_sequence_size": 4096}, "seq_length": 2048},
    }
    launch = from_config(config, devices=16)
    assert (launch.plan, launch.unit) == (Plan(1, 16, 8, 4096), "packs")
    config["train"]["micro_batch_size"] = 2
    with pytest.raises(ValueError, match="must be 1 with packed_sequence_specs"):
        from_config(config, devices=16)
    older = {"train_config": config["train"], "model_config": config["model"]}
    assert from_config(older, devices=16, length=64).plan == Plan(2, 8, 8, 64)


def test_litgpt_rounds_down_and_it_is_said():
    config = {"train": {"global_batch_size": 64, "micro_batch_size": 4}, "devices": 3}
    launch = from_config(config, length=8)
    assert "a step sees 60 sequences, not 64" in launch.describe()
    assert from_config({**config, "devices": 4}, length=8).notes == ()
    with pytest.raises(ValueError, match="64 is less than 4 rows on each of 17 devices"):
        from_config({**config, "devices": 17}, length=8)
    with pytest.raises(ValueError, match=r"devices is not in this config .* give devices= .--dev"):
        from_config({**config, "devices": "auto"}, length=8)


def test_nanochat_counts_tokens():
    flags = "--device-batch-size=32 --total-batch-size=524288 --max-seq-len=2048"
    assert from_config(flags, devices=8).plan == Plan(32, 1, 8, 2048)
    assert from_config(flags, devices=2).plan.sequences_per_step == 256
    with pytest.raises(ValueError, match="total-batch-size 524,288 is not a multiple of 196,608"):
        from_config(flags, devices=3)
    with pytest.raises(ValueError, match="left to nanochat"):
        from_config(flags.replace("524288", "-1"), devices=8)


def test_a_megatron_ramp_is_said_and_a_schedule_refused():
    """126 increments of 2,380.95 samples each: at 150,000 samples 520 sequences."""
    flags = "--micro-batch-size 1 --global-batch-size 1024 --seq-length 8 --rampup-batch-size "
    launch = from_config(flags + "16 8 300000", devices=8)
    assert launch.plan.sequences_per_step == 1024
    assert "16 sequences at first, 8 more at a time over 300,000 samples" in launch.describe()
    ramp = Ramp(16, 8, 300_000, whole=1024)
    assert [ramp.at(n) for n in (0, 2380, 2381, 150_000, 300_000, 10**6)] == [
        16, 16, 24, 520, 1024, 1024,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="takes three numbers"):
        from_config(flags + "16 8", devices=8)
    with pytest.raises(ValueError, match="step-batch-size-schedule changes the step"):
        from_config(
            "--micro-batch-size 1 --seq-length 8 --step-batch-size-schedule '0:768 250B:1536'",
            devices=8,
        )


@pytest.mark.parametrize(
    ("config", "devices", "completions", "prompts", "per_step", "steps"),
    [
        ({"per_device_train_batch_size": 4, "gradient_accumulation_steps": 4}, 8, 128, 16, 128, 1),
        (
            {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8,
             "steps_per_generation": 16, "num_iterations": 2, "num_generations": 4},
            4, 128, 32, 64, 4,
        ),
        (
            {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 8,
             "generation_batch_size": 128, "num_iterations": 2, "num_generations": 4},
            4, 128, 32, 64, 4,
        ),
    ],
)  # fmt: skip
def test_grpo_counts_completions(config, devices, completions, prompts, per_step, steps):
    launch = from_config(config, tool="grpo", devices=devices, length=512)
    assert launch.rollout.completions == completions and launch.rollout.prompts == prompts
    assert launch.plan.sequences_per_step == per_step and launch.steps_per_rollout == steps
    if "num_generations" in config:
        assert from_config(config, devices=devices, length=512) == launch
    assert f"{completions:,} completions, {per_step:,} to a step" in launch.describe()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"steps_per_generation": 4, "generation_batch_size": 8}, "exclude each other"),
        ({"num_generations": 3}, "the completions of a generation, 8 is not a multiple of 3"),
        ({"generation_batch_size": 12}, "generation_batch_size 12 is not a multiple of 8"),
    ],
)
def test_grpo_refuses_what_does_not_divide(more, message):
    config = {"per_device_train_batch_size": 4, "num_generations": 4} | more
    with pytest.raises(ValueError, match=message):
        from_config(config, devices=2, length=64)


def test_verl_counts_prompts_and_takes_several_updates_of_a_rollout(tmp_path):
    (tmp_path / "run.sh").write_text(VERL)
    launch = from_config(tmp_path / "run.sh")
    assert launch.rollout.completions == 8192 and launch.steps_per_rollout == 4
    assert launch.plan.rows * launch.plan.accumulation == 128, "completions of one rank"


def test_verl_with_a_budget_of_tokens_says_what_is_known():
    config = {
        "data": {"train_batch_size": 256},
        "actor_rollout_ref": {
            "actor": {
                "ppo_mini_batch_size": 64, "use_dynamic_bsz": True,
                "ppo_max_token_len_per_gpu": 16384, "ulysses_sequence_parallel_size": 2,
            },
            "rollout": {"n": 16},
        },
    }  # fmt: skip
    with pytest.raises(ValueError, match="cut by 32,768 tokens") as caught:
        from_config(config, devices=8, length=1500)
    assert "1,024 completions, 256 on each of 4 replicas" in str(caught.value)
    assert "of 1,500 tokens each, that takes at least 12 micro-batches" in str(caught.value)


@pytest.mark.parametrize("old", [False, True])
def test_openrlhf_by_its_names_with_sections_and_without(old):
    names = {
        "--rollout.batch_size 128": "--rollout_batch_size 128",
        "--rollout.n_samples_per_prompt 8": "--n_samples_per_prompt 8",
        "--train.batch_size 256": "--train_batch_size 256",
        "--train.micro_batch_size 4": "--micro_train_batch_size 4",
        "--data.max_len 2048": "--prompt_max_len 1024 --generate_max_len 1024",
    }
    flags = " ".join(names.values() if old else names)
    launch = from_config(flags, devices=8)
    assert launch.plan == Plan(4, 8, 8, 2048) and launch.steps_per_rollout == 4
    ring = from_config(
        flags + (" --ring_attn_size 2" if old else " --ds.ring_attn_size 2"), devices=8
    )
    assert ring.plan == Plan(4, 16, 4, 2048) and ring.context == 2
    with pytest.raises(ValueError, match="dynamic batches are cut by tokens"):
        dynamic = "--use_dynamic_batch" if old else "--train.dynamic_batch_enable"
        from_config(f"{flags} {dynamic}", devices=8)


def test_a_count_is_a_count_in_any_spelling():
    for value in (4, "4", np.int64(4)):
        assert (
            from_config({"per_device_train_batch_size": value}, devices=1, length=8).plan.rows == 4
        )


@pytest.mark.parametrize(
    "value",
    [0, -1, 2.0, "2.0", "1e3", True, "\u00b2", "\u0664", "", "x" * 500, [], {}, 10**30, "9" * 30],
)
def test_odd_values_are_one_short_line(value):
    with pytest.raises(
        ValueError, match=r"per_device_train_batch_size (must be|is larger)"
    ) as caught:
        from_config({"per_device_train_batch_size": value}, devices=1, length=8)
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)
