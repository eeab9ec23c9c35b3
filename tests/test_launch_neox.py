"""GPT-NeoX configs as their authors write them; every batch is derived by hand beside its file."""

import pytest

from batchlab.plan import Plan, from_config

SIZES = """
  # parallelism settings ( change these for your cluster )
  "pipe-parallel-size": {pipe},
  "model-parallel-size": {model},

  "num-layers": 44, "hidden-size": 6144, "num-attention-heads": 64,
  "seq-length": {length}, "max-position-embeddings": {length},
  "pos-emb": "rotary", "no-weight-tying": true,
  "optimizer": {{"type": "Adam", "params": {{"lr": 0.97e-4, "betas": [0.9, 0.95]}}}},
  "zero_optimization": {{"stage": 1, "overlap_comm": True, "reduce_scatter": True}},
"""
TAIL = '\n  "train-iters": 150000, "fp16": {"enabled": true, "loss_scale": 0},\n}\n'


def written(tmp_path, batch, *, model=1, pipe=1, length=2048):
    """A file of braces, comments, dashes and Python's True, which is YAML all the same."""
    path = tmp_path / "neox.yml"
    path.write_text("{" + SIZES.format(model=model, pipe=pipe, length=length) + batch + TAIL)
    return path


CASES = {  # (batch lines, model, pipe, GPUs): rows x accumulation x replicas, sequences a step
    # 96 GPUs / (2 x 4) = 12 replicas; 4 x 32 x 12 = 1,536, as the paper of the 20B says
    "twenty billion": (
        '"train_micro_batch_size_per_gpu": 4,\n  "gradient_accumulation_steps": 32,',
        (2, 4, 96), (4, 32, 12), 1536,
    ),
    # 256 GPUs / 4 = 64 replicas of 16 sequences
    "twelve billion": (
        '"train_micro_batch_size_per_gpu": 16, "gas": 1, "data-impl": "mmap",',
        (4, 1, 256), (16, 1, 64), 1024,
    ),
    # a pipe of 0 runs without the pipeline module: no division
    "no pipe": ('"train-micro-batch-size-per-gpu": 32,', (1, 0, 8), (32, 1, 8), 256),
    "no model either": ('"train_micro_batch_size_per_gpu": 4,', (0, 0, 2), (4, 1, 2), 8),
    "both names of a number": (
        '"train_micro_batch_size_per_gpu": 8, "gas": 4, "gradient_accumulation_steps": 4,',
        (2, 2, 16), (8, 4, 4), 128,
    ),
    # DeepSpeed's third size: 1,024 = 8 x 16 x 8
    "whole and micro": (
        '"train_batch_size": 1024, "train_micro_batch_size_per_gpu": 8,',
        (4, 1, 32), (8, 16, 8), 1024,
    ),
    "whole and accumulation": (
        '"train_batch_size": 512, "gradient_accumulation_steps": 2,',
        (2, 1, 64), (8, 2, 32), 512,
    ),
    "all three": (
        '"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4,\n'
        '  "gradient_accumulation_steps": 4,',
        (2, 1, 32), (4, 4, 16), 256,
    ),
    # 64 GPUs / (2 context) = 32 replicas
    "context": (
        '"train_micro_batch_size_per_gpu": 1, "context_parallel_size": 2,',
        (1, 1, 64), (1, 1, 32), 32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_neox_step_counts_replicas_and_not_gpus(tmp_path, name):
    batch, (model, pipe, gpus), factors, sequences = CASES[name]
    path = written(tmp_path, batch, model=model, pipe=pipe)
    launch = from_config(path, devices=gpus)
    assert launch.source == "GPT-NeoX" and launch.plan == Plan(*factors, 2048)
    assert launch.plan.sequences_per_step == sequences


def test_read_as_deepspeed_the_step_was_eight_times_as_large(tmp_path):
    batch, (model, pipe, gpus), _, sequences = CASES["twenty billion"]
    path = written(tmp_path, batch, model=model, pipe=pipe)
    mistake = from_config(path, devices=gpus, tool="deepspeed")
    assert mistake.plan.sequences_per_step == 12_288 == 8 * sequences


def test_a_neox_file_may_know_its_gpus_or_its_nodes(tmp_path):
    micro = '"train_micro_batch_size_per_gpu": 2, '
    path = written(tmp_path, micro + '"num_gpus": 8, "num_nodes": 4, "launcher": "slurm",', model=2)
    assert from_config(path).plan == Plan(2, 1, 16, 2048)
    path = written(tmp_path, micro + '"global_num_gpus": 64,', model=2)
    assert from_config(path).plan.data_parallel == 32
    path = written(tmp_path, micro + '"num_gpus": 8, "num_nodes": -1, "hostfile": "/job/hosts",')
    with pytest.raises(ValueError, match="devices is not in this config"):
        from_config(path)
    assert from_config(path, devices=24).plan.data_parallel == 24


def test_a_name_that_neox_overwrites_is_not_taken_for_the_accumulation(tmp_path):
    """`gas` alone trains without accumulation: 32 would be a step that nobody ran."""
    path = written(tmp_path, '"train_micro_batch_size_per_gpu": 4, "gas": 32,')
    with pytest.raises(ValueError, match="gas is 32 and gradient_accumulation_steps is 1: GPT-Neo"):
        from_config(path, devices=8)


def test_what_neox_would_not_start_is_refused(tmp_path):
    path = written(tmp_path, '"train_micro_batch_size_per_gpu": 4,', model=2, pipe=4)
    with pytest.raises(ValueError, match="100 devices do not divide into replicas of 8"):
        from_config(path, devices=100)
    path = written(tmp_path, '"train_batch_size": 96, "train_micro_batch_size_per_gpu": 4,', pipe=2)
    with pytest.raises(ValueError, match="train_batch_size 96 is not a multiple of 64"):
        from_config(path, devices=32)
    path = written(tmp_path, '"train_impl": "kto", "train_micro_batch_size_per_gpu": 4,')
    with pytest.raises(ValueError, match="train_impl is kto"):
        from_config(path, devices=8)


def test_pairs_of_neox_are_two_sequences_each(tmp_path):
    """8 GPUs / 2 = 4 replicas x 2 micro-batches x 4 pairs = 32 pairs, 64 sequences."""
    batch = '"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2,'
    for stage in ("dpo", "rm"):
        launch = from_config(
            written(tmp_path, f'{batch} "train_impl": "{stage}",', model=2), devices=8
        )
        assert launch.plan == Plan(8, 2, 4, 2048)
        assert "a step sees 32 pairs of 2 sequences" in launch.describe()
    assert from_config(written(tmp_path, f'{batch} "train_impl": "normal",'), devices=8).notes == ()
