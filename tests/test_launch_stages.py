"""Stages of preferences and rewards, in files as their authors write them; batches by hand.

A pair is two sequences, read as one it was half a step; GRPO's rows are completions.
"""

import pytest

from batchlab.plan import Plan, Rollout, from_config

AXOLOTL = """
base_model: meta-llama/Meta-Llama-3-8B-Instruct
load_in_8bit: true
chat_template: llama3
{stage}
datasets:
  - {{path: fozziethebeat/alpaca_messages_2k_dpo_test, type: chat_template.default}}
sequence_len: 4096
sample_packing: false
adapter: lora
gradient_accumulation_steps: 4
micro_batch_size: 2
num_epochs: 4
optimizer: adamw_bnb_8bit
flash_attention: true
"""
FACTORY = """
### model
model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
### method
stage: {stage}
do_train: true
finetuning_type: lora
lora_target: all
### dataset
dataset: dpo_en_demo
template: llama3
cutoff_len: 2048
{more}
### train
per_device_train_batch_size: 1
gradient_accumulation_steps: 8
learning_rate: 5.0e-6
"""
HANDBOOK = """
model_name_or_path: alignment-handbook/zephyr-7b-sft-full
dataset_mixer: {{HuggingFaceH4/ultrafeedback_binarized: 1.0}}
dataset_splits: [train_prefs, test_prefs]
bf16: true
{more}
gradient_accumulation_steps: 2
max_length: 1024
optim: adamw_torch
per_device_train_batch_size: 8
per_device_eval_batch_size: 8
warmup_ratio: 0.1
"""


def of(tmp_path, text, name="config.yaml", **asked):
    path = tmp_path / name
    path.write_text(text)
    return from_config(path, **asked)


@pytest.mark.parametrize(
    ("stage", "factors", "shown"),
    [
        # 8 GPUs x 2 x 4 = 64 pairs = 128 sequences
        ("rl: dpo", (4, 4, 8), "64 pairs of 2 sequences"),
        ("rl: ipo\nrl_beta: 0.1", (4, 4, 8), "64 pairs"),
        ("rl: orpo\norpo_alpha: 0.1\nremove_unused_columns: false", (4, 4, 8), "64 pairs"),
        ("rl: simpo\nrl_beta: 0.1\ncpo_alpha: 1.0\nsimpo_gamma: 0.5", (4, 4, 8), "64 pairs"),
        ("rl: kto_pair", (4, 4, 8), "64 pairs"),
        ("model_type: AutoModelForSequenceClassification\nnum_labels: 1\nreward_model: true",
         (4, 4, 8), "64 pairs"),
        # one completion with a thumb up or down
        ("rl: kto\nkto_desirable_weight: 0.2", (2, 4, 8), "an example is one completion"),
        ("rl:", (2, 4, 8), "axolotl: 8 devices are 8 replicas"),
        ("rl: false", (2, 4, 8), "axolotl: 8 devices are 8 replicas"),
    ],
)  # fmt: skip
def test_axolotl_says_its_stage(tmp_path, stage, factors, shown):
    launch = of(tmp_path, AXOLOTL.format(stage=stage), devices=8)
    assert launch.plan == Plan(*factors, 4096) and shown in launch.describe()


def test_axolotl_with_rewards_counts_completions(tmp_path):
    """4 GPUs x 2 x 4 = 32 completions a step and a rollout: 8 prompts x 4."""
    stage = "rl: grpo\ntrl: {beta: 0.001, max_completion_length: 256, num_generations: 4}"
    launch = of(tmp_path, AXOLOTL.format(stage=stage), devices=4, length=1024)
    assert launch.plan == Plan(2, 4, 4, 1024) and launch.rollout == Rollout(8, 4, 1)
    assert launch.unit == "completions"
    with pytest.raises(ValueError, match="length is not in this config"):
        of(tmp_path, AXOLOTL.format(stage=stage), devices=4)
    for stage, message in {
        "rl: ebft": "the stage 'ebft': what one step of it sees is not read",
        "process_reward_model: true\nrl: prm": "the stage 'prm'",
    }.items():
        with pytest.raises(ValueError, match=message):
            of(tmp_path, AXOLOTL.format(stage=stage), devices=4)
    packed = AXOLOTL.format(stage="rl: dpo").replace("packing: false", "packing: true")
    with pytest.raises(ValueError, match="sample_packing with the stage dpo"):
        of(tmp_path, packed, devices=4)


@pytest.mark.parametrize(
    ("stage", "more", "factors", "unit"),
    [
        # 4 GPUs x 1 x 8 = 32 examples; pairs are 64 sequences
        ("dpo", "pref_beta: 0.1\npref_loss: sigmoid", (2, 8, 4, 2048), "sequences"),
        ("dpo", "pref_loss: orpo\npacking: true", (2, 8, 4, 2048), "sequences"),
        ("rm", "", (2, 8, 4, 2048), "sequences"),
        ("kto", "pref_beta: 0.1", (1, 8, 4, 2048), "sequences"),
        ("sft", "", (1, 8, 4, 2048), "sequences"),
        ("sft", "packing: true", (1, 8, 4, 2048), "packs"),
        ("pt", "", (1, 8, 4, 2048), "packs"),
        ("pt", "packing: true", (1, 8, 4, 2048), "packs"),
        ("pt", "packing: false", (1, 8, 4, 2048), "sequences"),
        ("ppo", "max_new_tokens: 512\nreward_model: r", (1, 8, 4, 2560), "completions"),
    ],
)
def test_llama_factory_says_its_stage(tmp_path, stage, more, factors, unit):
    launch = of(tmp_path, FACTORY.format(stage=stage, more=more), devices=4)
    assert (launch.plan, launch.unit) == (Plan(*factors), unit)


def test_llama_factory_packs_by_itself_and_it_is_said(tmp_path):
    launch = of(tmp_path, FACTORY.format(stage="pt", more=""), devices=4)
    assert "stage pt packs by itself: rows are blocks of 2,048 tokens" in launch.describe()


def test_llama_factory_makes_a_buffer_of_completions(tmp_path):
    """32 completions a step, a buffer of 2 steps, 4 passes: 8 steps to a rollout of 64."""
    more = "max_new_tokens: 512\nppo_buffer_size: 2"
    launch = of(tmp_path, FACTORY.format(stage="ppo", more=more), devices=4)
    assert launch.rollout == Rollout(64, 1, 4) and launch.steps_per_rollout == 8
    with pytest.raises(ValueError, match="length is not in this config"):
        of(tmp_path, FACTORY.format(stage="ppo", more=""), devices=4)
    with pytest.raises(ValueError, match="the stage 'grpo': what one step of it sees"):
        of(tmp_path, FACTORY.format(stage="grpo", more=""), devices=4)


@pytest.mark.parametrize(
    "more",
    [
        "beta: 0.01\nloss_type: sigmoid\nmax_prompt_length: 512",  # DPO
        "beta: 0.05\nmax_prompt_length: 1792\nlr_scheduler_type: inverse_sqrt",  # ORPO
        "beta: 0.1\nuse_peft: true\nload_in_4bit: true",
        "loss_type: ipo",
    ],
)
def test_the_handbook_trains_on_pairs_beside_beta(tmp_path, more):
    """8 GPUs x 8 x 2 = 128 pairs = 256 sequences; without beta it is plain fine-tuning."""
    launch = of(tmp_path, HANDBOOK.format(more=more), devices=8)
    assert launch.plan == Plan(16, 2, 8, 1024) and "128 pairs" in launch.describe()
    plain = of(tmp_path, HANDBOOK.format(more=""), devices=8)
    assert plain.plan == Plan(8, 2, 8, 1024)


SIZES = "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_length 512"


@pytest.mark.parametrize(
    ("line", "rows", "source"),
    [
        ("trl dpo --model_name_or_path Qwen/Qwen2-0.5B-Instruct", 4, "TRL DPO"),
        ("trl reward --model_name_or_path Qwen/Qwen2-0.5B", 4, "TRL REWARD"),
        ("trl kto --model_name_or_path Qwen/Qwen2-0.5B", 2, "TRL KTO"),
        ("trl sft --model_name_or_path Qwen/Qwen2-0.5B", 2, "TRL SFT"),
        ("python examples/scripts/orpo.py --model_name_or_path=gpt2", 4, "TRL ORPO"),
        ("accelerate launch examples/scripts/cpo.py --loss_type simpo", 4, "TRL CPO"),
        ("torchrun -m dpo --max_prompt_length 256", 4, "TRL DPO"),
        ("python -m trl.scripts.dpo --beta 0.1", 4, "TRL DPO"),
        ("ACCELERATE_LOG_LEVEL=info accelerate launch scripts/run_dpo.py", 4, "TRL DPO"),
        ("python train.py --simpo_gamma 0.5", 4, "TRL CPO"),
        ("python train.py --desirable_weight 1.33", 2, "TRL KTO"),
        ("swift rlhf --rlhf_type dpo --train_type lora", 4, "TRL DPO"),
        ("swift rlhf --rlhf_type rm", 4, "TRL REWARD"),
    ],
)
def test_a_command_line_names_its_stage(tmp_path, line, rows, source):
    launch = of(tmp_path, f"#!/bin/bash\n{line} \\\n  {SIZES}\n", "run.sh", devices=2)
    assert (launch.plan, launch.source) == (Plan(rows, 4, 2, 512), source)


def test_the_command_of_rloo_and_grpo_makes_completions(tmp_path):
    """2 x 4 x 2 GPUs = 16 completions: 8 prompts x 2 for RLOO, 2 x 8 for GRPO."""
    lines = {"trl rloo": Rollout(8, 2, 1), "trl grpo": Rollout(2, 8, 1)}
    for line, rollout in lines.items():
        launch = of(tmp_path, f"{line} --max_prompt_length 9 {SIZES}", "run.sh", devices=2)
        assert launch.rollout == rollout and launch.plan == Plan(2, 4, 2, 512)
    launch = of(tmp_path, f"trl rloo --num_generations 4 {SIZES}", "run.sh", devices=2)
    assert launch.rollout == Rollout(4, 4, 1) and launch.source == "TRL RLOO"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("python train.py --beta 0.1", "beta is of a stage of preferences or rewards"),
        ("python train.py --reward_funcs think", "reward_funcs is of a stage"),
        ("python ppo.py", "ppo: what one step of this trainer sees is not read"),
        ("python sft.py\npython dpo.py", "it starts dpo and trl: give the line of one of them"),
        ("trl gkd", "gkd: what one step of this trainer sees is not read"),
        ("python train.py --num_ppo_epochs 4", "num_ppo_epochs: what one step"),
        ("swift rlhf --rlhf_type gkd", "rlhf_type gkd: what one step"),
    ],
)
def test_a_stage_that_nobody_named_is_refused(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        of(tmp_path, f"{line} {SIZES}", "run.sh", devices=2)


def test_a_named_stage_settles_it():
    config = {"per_device_train_batch_size": 2, "beta": 0.1}
    for tool, rows in {"dpo": 4, "reward": 4, "kto": 2, "grpo": 2, "training-arguments": 2}.items():
        extra = {"num_generations": 2} if tool == "grpo" else {}
        assert from_config(config | extra, tool=tool, devices=1, length=8).plan.rows == rows
