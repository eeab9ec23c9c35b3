"""Trainers from scratch, in files as their authors write them; every batch by hand."""

import pytest

from batchlab.plan import Plan, from_config

FOUNDRY = """
variables:
  global_seed: 17
  max_seq_len: 2048
max_seq_len: ${variables.max_seq_len}
model: {name: mpt_causal_lm, d_model: 2048, max_seq_len: "${max_seq_len}"}
train_loader: {name: text, dataset: {split: train, max_seq_len: "${max_seq_len}"}, drop_last: true}
optimizer: {name: decoupled_adamw, lr: 2.0e-4}
max_duration: 24800ba
global_train_batch_size: 512
device_eval_batch_size: 4
device_train_microbatch_size: 4
precision: amp_bf16
fsdp_config: {sharding_strategy: FULL_SHARD}
"""
LEVANTER = """
data: {id: dlwh/wikitext_103_detokenized}
model: {type: llama, seq_len: 4096, hidden_dim: 4096}
trainer:
  tracker: {type: wandb, project: levanter}
  mp: p=f32,c=bfloat16
  train_batch_size: 2048
  num_train_steps: 500000
optimizer: {learning_rate: 3.0e-4}
"""
MAXTEXT = """
base_config: base.yml
run_name: gpu_train_test
hardware: gpu
per_device_batch_size: 4
model_name: llama2-7b
max_target_length: 4096
dcn_data_parallelism: -1
ici_fsdp_parallelism: -1
"""
TITAN = """
[model]
name = "llama3"
flavor = "8B"
[optimizer]
lr = 3e-4
[training]
batch_size = 2
seq_len = 8192
steps = 1000
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 4
[experimental]
context_parallel_degree = 2
pipeline_parallel_degree = 1
"""


def of(tmp_path, text, name="config.yaml", **asked):
    (tmp_path / name).write_text(text)
    return from_config(tmp_path / name, **asked)


@pytest.mark.parametrize(
    ("change", "devices", "wanted", "unit"),
    [
        (("", ""), 8, Plan(4, 16, 8, 2048), "sequences"),  # 512 / 8 = 64 = 4 x 16
        (("", ""), 64, Plan(4, 2, 64, 2048), "sequences"),
        (("microbatch_size: 4", "microbatch_size: 16"), 64, Plan(8, 1, 64, 2048), "sequences"),
        (("  max_seq_len: 2048\nmax_seq_len: ${variables.max_seq_len}", "  x: 1\nmax_seq_len: 64"),
         8, Plan(4, 16, 8, 64), "sequences"),
        (("split: train", "packing_ratio: auto"), 8, Plan(4, 16, 8, 2048), "packs"),
    ],
)  # fmt: skip
def test_llm_foundry_cuts_the_share_of_a_device(tmp_path, change, devices, wanted, unit):
    launch = of(tmp_path, FOUNDRY.replace(*change), devices=devices)
    assert (launch.plan, launch.unit) == (wanted, unit)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("microbatch_size: 4", "microbatch_size: auto"), 'size is "auto", or left out: give'),
        (("microbatch_size: 4", "microbatch_size: 5"), "64 is not a multiple of 5"),
        (("batch_size: 512", "batch_size: 500"), "500 is not a multiple of 8"),
        (("precision: amp_bf16", "tp_config: {x: 1}"), "tp_config: which devices"),
    ],
)
def test_llm_foundry_with_a_step_that_nobody_knows(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        of(tmp_path, FOUNDRY.replace(*change), devices=8)
    with pytest.raises(ValueError, match="give devices="):
        of(tmp_path, FOUNDRY)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (("", ""), Plan(16, 1, 128, 4096)),  # 2,048 / 128, all at once
        (("mp: p", "per_device_parallelism: -1\n  mp: p"), Plan(16, 1, 128, 4096)),
        (("mp: p", "per_device_parallelism: 4\n  mp: p"), Plan(4, 4, 128, 4096)),
        # two devices share a replica: 64 replicas of 32 rows, 4 at once
        (("mp: p", "model_axis_size: 2\n  per_device_parallelism: 4\n  mp: p"),
         Plan(4, 8, 64, 4096)),
        (("optimizer:", "train_seq_len: 2048\noptimizer:"), Plan(16, 1, 128, 2048)),
        (("seq_len", "max_seq_len"), Plan(16, 1, 128, 4096)),
    ],
)  # fmt: skip
def test_levanter_takes_the_whole_batch_over_its_replicas(tmp_path, change, wanted):
    assert of(tmp_path, LEVANTER.replace(*change, 1), devices=128).plan == wanted


def test_levanter_with_a_schedule_or_a_mesh_is_refused(tmp_path):
    schedule = "[{start: 0, value: 32}, {start: 100, value: 64}]"
    with pytest.raises(ValueError, match="train_batch_size changes while it trains"):
        of(tmp_path, LEVANTER.replace("2048", schedule), devices=8)
    with pytest.raises(ValueError, match=r"trainer\.mesh: which devices"):
        of(tmp_path, LEVANTER.replace("mp: p", "mesh: {axes: {model: 2}}\n  mp: p"), devices=8)


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (("", ""), Plan(4, 1, 16, 4096)),
        (("size: 4", "size: 4.0\ngradient_accumulation_steps: 8"), Plan(4, 8, 16, 4096)),
        # four chips share a replica, and each still brings its 4 rows
        (("size: 4", "size: 4\nici_tensor_parallelism: 4"), Plan(16, 1, 4, 4096)),
        (("size: 4", "size: 0.5\nici_tensor_parallelism: 4"), Plan(2, 1, 4, 4096)),
        (("size: 4", "size: 1\nici_context_parallelism: 2"), Plan(2, 1, 8, 4096)),
    ],
)
def test_maxtext_counts_every_chip(tmp_path, change, wanted):
    launch = of(tmp_path, MAXTEXT.replace(*change), devices=16)
    assert launch.plan == wanted and launch.source == "MaxText"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("size: 4", "size: 0.5"), "makes 1/2 rows of a replica"),
        (("size: 4", "size: many"), "per_device_batch_size must be a number, got many"),
        (("size: 4", "size: 4\nici_tensor_parallelism: -1"), "ici_tensor_parallelism is -1"),
        (("size: 4", "size: 4\ndcn_pipeline_parallelism: 2"), "pipeline parallelism of MaxText"),
    ],
)
def test_maxtext_with_a_step_that_nobody_knows(tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        of(tmp_path, MAXTEXT.replace(*change), devices=16)


def test_an_older_torchtitan_file_keeps_its_degrees_elsewhere(tmp_path):
    """64 devices / (4 x 2) = 8 replicas of 2 rows: no accumulation."""
    launch = of(tmp_path, TITAN, "llama3_8b.toml", devices=64)
    assert launch.plan == Plan(2, 1, 8, 8192) and (launch.tensor, launch.context) == (4, 2)
    shard = TITAN.replace("shard_degree = -1", "shard_degree = 16")
    assert of(tmp_path, shard, "a.toml").plan == Plan(2, 1, 16, 8192)
    twice = TITAN + "tensor_parallel_degree = 2\n"
    with pytest.raises(ValueError, match="which of them is read depends on the version"):
        of(tmp_path, twice, "b.toml", devices=64)


NANO = """# config for training GPT-2 down to a loss of 2.85
wandb_log = True
wandb_run_name='gpt2-124M'
batch_size = 12
block_size = 1024
gradient_accumulation_steps = 5 * 8
max_iters = 600000
learning_rate = 6e-4 # with a comment
"""


def test_nanogpt_shares_its_micro_batches(tmp_path):
    """12 x 1,024 x 40: 491,520 tokens on 8 devices and on 1; a multiple of the devices or none."""
    path = tmp_path / "train_gpt2.py"
    path.write_text(NANO)
    assert from_config(path, devices=8).plan == Plan(12, 5, 8, 1024)
    assert from_config(path, devices=1).plan == Plan(12, 40, 1, 1024)
    assert "shared by all devices" in from_config(path, devices=8).describe()
    with pytest.raises(ValueError, match="gradient_accumulation_steps 40 is not a multiple of 3"):
        from_config(path, devices=3)
    line = "torchrun --standalone --nproc_per_node=4 train.py --batch_size=6"
    (tmp_path / "run.sh").write_text(line)
    assert from_config(path, tmp_path / "run.sh").plan == Plan(6, 10, 4, 1024)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("batch_size = 12", "batch_size = int(2.0)"), None),  # what is computed is the default
        (("max_iters = 600000", "import os; os.abort()"), None),  # nothing of it is run
        (("= 12", "= 'a'"), "batch_size must be a whole number"),
        (("= 12", "= ("), "not Python"),
    ],
)
def test_a_file_of_python_is_read_and_not_run(tmp_path, change, message):
    path = tmp_path / "train.py"
    path.write_text(NANO.replace(*change))
    if message is None:
        assert from_config(path, devices=8, tool="nanogpt").plan.rows == 12
        return
    with pytest.raises(ValueError, match=message):
        from_config(path, devices=8)


def test_the_blocks_of_run_clm_are_its_rows():
    flags = "--per_device_train_batch_size 4 --block_size 512 --do_train"
    assert from_config(flags, devices=2).plan == Plan(4, 1, 2, 512)
