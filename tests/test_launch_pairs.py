"""Pairs and completions where a name, a loss or a section says so, beside the same without it."""

import pytest

from batchlab.plan import Plan, from_config

SIZES = "--per_device_train_batch_size 4 --gradient_accumulation_steps 2 --max_length 64"


@pytest.mark.parametrize(
    ("started", "rows"),
    [
        ("dpo_training.py", 8),
        ("llava_dpo.py", 8),
        ("fastchat/train/train_dpo.py", 8),
        ("train_simpo.py", 8),
        ("-m tools.train_orpo", 8),
        ("reward_training.py", 8),
        ("train_kto.py", 4),
        ("train.py", 4),
        ("adopt_pretrained.py", 4),
    ],
)
def test_the_name_of_a_script_says_its_stage(tmp_path, started, rows):
    """4 examples of each of 2 devices, twice: 16 pairs are 32 sequences."""
    path = tmp_path / "run.sh"
    path.write_text(f"torchrun --nproc_per_node 2 {started} {SIZES}\n")
    assert from_config(path).plan == Plan(rows, 2, 2, 64)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"python online_dpo_train.py {SIZES}", "online_dpo_train: what one step of this trainer"),
        (f"python ppo_training.py {SIZES}", "ppo_training: what one step of this trainer"),
        (f"python train.py {SIZES} --missing_eos_penalty 1.0", "missing_eos_penalty: what one"),
        (f"python train.py {SIZES} --task DPO", "task is of a stage of preferences"),
        (f"python train.py {SIZES} --dpo_beta 0.1", "dpo_beta is of a stage of preferences"),
        (f"python train_dpo.py train_kto.py {SIZES}", "it starts dpo and kto"),
    ],
)
def test_a_stage_that_is_not_read_is_refused(tmp_path, line, message):
    path = tmp_path / "run.sh"
    path.write_text(line)
    with pytest.raises(ValueError, match=message):
        from_config(path, devices=2)


RECIPE = """
model: {_component_: torchtune.models.llama3_1.lora_llama3_1_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 64}
dataset: {_component_: torchtune.datasets.preference_dataset}
batch_size: 4
gradient_accumulation_steps: 2
loss: {_component_: torchtune.rlhf.loss.DPOLoss, beta: 0.1}
"""
LEVANTER = """
model: {type: llama, seq_len: 64}
trainer: {train_batch_size: 16, per_device_parallelism: 4, model_axis_size: 1}
beta: 0.1
"""
NEOX = """
{"pipe_parallel_size": 1, "model_parallel_size": 1, "seq_length": 64, "train_iters": 9,
 "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,
 "batch_scheduling": {"enabled": true, "min": 8, "max": 64}}
"""
TITAN = """
[batch_size_scheduler]
start_batch_size = 8
[training]
local_batch_size = 4
global_batch_size = 16
seq_len = 64
"""


def written(tmp_path, text, name):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_loss_of_preferences_takes_pairs(tmp_path):
    path = written(tmp_path, RECIPE, "dpo.yaml")
    assert from_config(path, devices=2).plan == Plan(8, 2, 2, 64)
    path.write_text(RECIPE.replace("rlhf.loss.DPOLoss, beta: 0.1", "modules.loss.CELoss"))
    assert from_config(path, devices=2).plan == Plan(4, 2, 2, 64)
    path.write_text(RECIPE + "ppo_batch_size: 4\n")
    with pytest.raises(ValueError, match="ppo_batch_size: what one step of a trainer that gen"):
        from_config(path, devices=2)


def test_levanter_with_a_beta_takes_pairs(tmp_path):
    path = written(tmp_path, LEVANTER, "dpo.yaml")
    assert from_config(path, devices=2).plan == Plan(8, 2, 2, 64)
    path.write_text(LEVANTER.replace("beta: 0.1", ""))
    assert from_config(path, devices=2).plan == Plan(4, 2, 2, 64)
    path.write_text(LEVANTER + "max_seq_len: 32\n")
    with pytest.raises(ValueError, match="contradicts itself on length: max_seq_len 32, model"):
        from_config(path, devices=2)
    path.write_text(LEVANTER + "train_seq_len: 32\n")
    assert from_config(path, devices=2).plan.length == 32


@pytest.mark.parametrize(
    ("text", "name", "took"),
    [(NEOX, "a.yml", '"enabled": true'), (TITAN, "a.toml", "[batch_size_scheduler]")],
)
def test_a_step_that_changes_while_it_trains_is_refused(tmp_path, text, name, took):
    path = written(tmp_path, text, name)
    with pytest.raises(ValueError, match="changes the step while it trains"):
        from_config(path, devices=2)
    path.write_text(text.replace(took, took.replace("true", "false").replace("batch_", "log_")))
    assert from_config(path, devices=2).plan == Plan(4, 2, 2, 64)


OPENRLHF = """set -x
read -r -d '' training_commands <<EOF
openrlhf.cli.{program} \\
   --{a}train_batch_size 16 \\
   --{b}micro_train_batch_size 4 \\
   --{c}max_len 64
EOF
deepspeed --num_gpus 2 --module $training_commands
"""


@pytest.mark.parametrize(
    ("program", "rows"), [("train_dpo", 8), ("train_rm", 8), ("train_sft", 4), ("train_kto", 4)]
)
def test_openrlhf_without_a_rollout_says_the_whole_step(tmp_path, program, rows):
    """16 of 2 devices, 4 at once: two micro-batches; before 0.10.2 the names had no sections."""
    old = OPENRLHF.format(program=program, a="", b="", c="")
    new = old.replace("--train_batch_size", "--train.batch_size")
    new = new.replace("--micro_train_batch_size", "--train.micro_batch_size")
    for text in (old, new.replace("--max_len", "--data.max_len")):
        path = written(tmp_path, text, "run.sh")
        assert from_config(path).plan == Plan(rows, 2, 2, 64)
        path.write_text(text.replace(program, "train_more"))
        with pytest.raises(ValueError, match="its stage is missing: which of train_sft"):
            from_config(path)


VERL = """python3 -m verl.trainer.main_ppo data.train_batch_size=16 data.max_prompt_length=32 \\
    data.max_response_length=32 trainer.n_gpus_per_node=2 trainer.nnodes=1 \\
    actor_rollout_ref.actor.ppo_mini_batch_size=8 actor_rollout_ref.rollout.n=4 \\
    actor_rollout_ref.actor.ppo_micro_batch_size{end}=8 max_turns=2
"""


def test_an_old_micro_batch_of_verl_counts_all_replicas(tmp_path):
    """8 prompts x 4 are 32 completions, 16 a device: 4 x 4 of them, or 2 x 8."""
    path = written(tmp_path, VERL.format(end=""), "run.sh")
    assert from_config(path).plan == Plan(4, 4, 2, 64)
    path.write_text(VERL.format(end="_per_gpu"))
    assert from_config(path).plan == Plan(8, 2, 2, 64)
    path.write_text(VERL.format(end="_per_gpu").replace("rollout.n=4", "rollout.n_agent=4"))
    with pytest.raises(ValueError, match=r"rollout\.n_agent: how a fork of verl counts"):
        from_config(path)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"base_model": "b", "micro_batch_size": 2, "sequence_len": 8, "megatrain_devices": [0, 1]},
         "megatrain_devices share each micro-batch"),
        ({"trainer": {"devices": 2}, "model": {"micro_batch_size": 1, "global_batch_size": 8,
                                               "encoder_seq_length": 8, "dpo": {"beta": 0.1}}},
         "model.dpo: what one step of that stage"),
        ({"training": {"local_batch_size": 1, "seq_len": 8}, "grpo": {"kl_beta": 0.0}},
         "grpo: what one step of that stage"),
        ({"depth": 26, "device_batch_size": 16}, "total-batch-size is left to nanochat"),
        ({"global_train_batch_size": 8, "train_loader": {"name": "text"}, "max_seq_len": 8},
         'is "auto", or left out'),
    ],
)  # fmt: skip
def test_what_a_section_changes_is_refused(config, message):
    with pytest.raises(ValueError, match=message):
        from_config(config, devices=2)


def test_a_batch_of_somebodys_own_script_is_not_taken_for_that_of_one_gpu(tmp_path):
    """alpaca-lora: 128 of all devices; read as axolotl's, 8 devices would see 1,024."""
    line = "torchrun --nproc_per_node 8 finetune.py --base_model x --batch_size 128"
    path = written(tmp_path, f"{line} --micro_batch_size 4", "run.sh")
    with pytest.raises(ValueError, match="alpaca-lora and what was made of it that of all"):
        from_config(path)
    config = {"base_model": "x", "batch_size": 128, "micro_batch_size": 4, "sequence_len": 64}
    assert from_config(config, devices=8).plan == Plan(4, 32, 8, 64)


def test_verl_sft_says_the_whole_step(tmp_path):
    line = "torchrun --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=64"
    line += " data.micro_batch_size_per_gpu=2 data.max_length=512"
    path = written(tmp_path, line, "run.sh")
    assert from_config(path).plan == Plan(2, 8, 4, 512)
    path.write_text(f"{line} ulysses_sequence_parallel_size=2")
    assert from_config(path).plan == Plan(2, 16, 2, 512)
    path.write_text(f"{line}\n{line.replace('=64', '=32')}")
    with pytest.raises(
        ValueError, match=r"data\.train_batch_size is given twice: '64' .* and '32'"
    ):
        from_config(path)


def test_an_older_name_of_the_length_is_no_contradiction(tmp_path):
    line = "accelerate launch --num_processes 4 sft.py --packing False"
    line += " --per_device_train_batch_size 1"
    path = written(tmp_path, f"{line} --max_seq_length 4096", "run.sh")
    launch = from_config(path)
    assert launch.plan == Plan(1, 1, 4, 4096) and not launch.notes
    path.write_text(line)
    launch = from_config(path)
    assert launch.plan.length == 1024 and "TRL's default" in launch.notes[0]


@pytest.mark.parametrize("name", ["log_completions: true", "use_vllm: true", "vllm_mode: colocate"])
def test_a_file_that_generates_is_no_plain_fine_tuning(tmp_path, name):
    path = tmp_path / "config.yaml"
    rows = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
    path.write_text(f"{rows}max_completion_length: 64\n")
    with pytest.raises(ValueError, match="max_completion_length is of a stage"):
        from_config(path, devices=2)
    path.write_text(rows + name + "\n")
    with pytest.raises(ValueError, match=f"{name.split(':')[0]} is of a stage"):
        from_config(path, devices=2, length=64)


@pytest.mark.parametrize(("rows", "noted"), [(8, 0), (1, 1)])
def test_rows_that_may_be_prompts_are_noted(tmp_path, rows, noted):
    """2 devices of 1 row hold 2 of the 8 completions of a prompt, if rows are completions."""
    path = tmp_path / "run.sh"
    sizes = f"--per_device_train_batch_size {rows} --gradient_accumulation_steps 4"
    path.write_text(f"torchrun --nproc_per_node 2 grpo.py {sizes} --num_generations 8")
    launch = from_config(path, length=64)
    assert launch.plan == Plan(rows, 4, 2, length=64)
    assert sum("8 times as large" in note for note in launch.notes) == noted
