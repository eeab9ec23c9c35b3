"""Lines that start a run: the launcher's processes are the devices, and a line wins over a file."""

import pytest

from batchlab.plan import Plan, from_config

SIZES = "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_length 512"
ACCELERATE = """
compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
mixed_precision: bf16
num_machines: 1
num_processes: 8
"""
RECIPE = """
model_name_or_path: mistralai/Mistral-7B-v0.1
dataset_mixer: {argilla/capybara: 1.0}
beta: 0.05
gradient_accumulation_steps: 4
max_length: 2048
per_device_train_batch_size: 8
"""


def written(tmp_path, text, name="run.sh"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("line", "devices"),
    [
        ("torchrun --nproc_per_node=4 train.py", 4),
        ("torchrun --nproc-per-node 4 --master_port 29501 train.py", 4),
        ("torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend c10d train.py", 16),
        ("python -m torch.distributed.launch --nproc_per_node 8 --use_env train.py", 8),
        ("GPUS=8\nNODES=4\ntorchrun --nproc_per_node $GPUS --nnodes ${NODES} train.py", 32),
        ("deepspeed --num_gpus 8 train.py --deepspeed ds_config_zero3.json", 8),
        ("deepspeed --num_gpus=4 --num_nodes=2 --hostfile=hosts train.py", 8),
        ("deepspeed --include localhost:0,1,2 --master_port 61000 train.py", 3),
        ("deepspeed --include=worker-0:0,1@worker-1:0,1,2 train.py", 5),
        ("accelerate launch --num_processes 4 --num_machines 1 --multi_gpu train.py", 4),
        ("accelerate launch --config_file fsdp.yaml --num_processes=7 train.py", 7),
    ],
)
def test_the_launcher_says_the_devices(tmp_path, line, devices):
    """2 rows x 4 micro-batches on each of them; asked for again, it is the same."""
    path = written(tmp_path, f"#!/bin/bash\nset -e\n{line} \\\n    {SIZES} \\\n    --bf16 True\n")
    launch = from_config(path)
    assert launch.devices == devices and launch.plan == Plan(2, 4, devices, 512)
    assert from_config(path, devices=devices) == launch


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("torchrun --nproc_per_node gpu train.py", "devices is not in this config"),
        ("torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES train.py",
         r"nnodes is '\$SLURM_NNODES', which the script takes from outside .* give devices="),
        ("deepspeed --hostfile hosts --num_gpus 8 train.py", "devices is not in this config"),
        ("deepspeed --include localhost train.py", "devices is not in this config"),
        ("deepspeed train.py", "devices is not in this config"),
        ("accelerate launch train.py", "devices is not in this config"),
    ],
)  # fmt: skip
def test_what_only_the_machine_knows_is_asked_for(tmp_path, line, message):
    path = written(tmp_path, f"{line} {SIZES}\n")
    with pytest.raises(ValueError, match=message):
        from_config(path)
    assert from_config(path, devices=24).plan.data_parallel == 24


def test_what_is_asked_and_what_a_line_says_agree(tmp_path):
    path = written(tmp_path, f"torchrun --nproc_per_node 4 train.py {SIZES}\n")
    with pytest.raises(ValueError, match=r"devices is 8 here .--devices. and 4 in the config"):
        from_config(path, devices=8)
    path = written(tmp_path, f"torchrun --nproc_per_node 4 a.py --world_size 8 {SIZES}\n")
    with pytest.raises(ValueError, match="contradicts itself on devices"):
        from_config(path)


def test_a_megatron_script_of_a_cluster_takes_the_devices_that_are_asked():
    flags = "--nproc_per_node 8 --nnodes $N --micro-batch-size 1 --seq-length 8"
    with pytest.raises(ValueError, match=r"nnodes is '\$N', which the script takes from outside"):
        from_config(flags)
    assert from_config(flags, devices=16).plan.data_parallel == 16


def test_a_line_wins_over_the_file_of_its_launcher(tmp_path):
    file = written(tmp_path, ACCELERATE, "accelerate.yaml")
    line = f"accelerate launch --config_file accelerate.yaml --num_processes 6 train.py {SIZES}\n"
    launch = from_config(file, written(tmp_path, line))
    assert launch.plan == Plan(2, 4, 6, 512)
    said = "6 devices, in place of num_processes 8 in the launcher's file"
    assert said in launch.describe().splitlines()
    asked = from_config(file, SIZES, devices=7)
    assert asked.devices == 7 and "7 devices, in place of num_processes 8" in asked.describe()
    plain = from_config(file, SIZES)
    assert plain.devices == 8 and plain.notes == ()


def test_a_line_wins_over_the_recipe_that_it_starts(tmp_path):
    """6 GPUs x 1 x 8 = 48 pairs, and not 8 GPUs x 8 x 4."""
    recipe = written(tmp_path, RECIPE, "config_full.yaml")
    file = written(tmp_path, ACCELERATE, "accelerate.yaml")
    line = (
        "accelerate launch --config_file accelerate.yaml --num_processes=6 scripts/run_orpo.py "
        "config_full.yaml --per_device_train_batch_size=1 --gradient_accumulation_steps=8\n"
    )
    line = written(tmp_path, line)
    for configs in ((recipe, line, file), (file, recipe, line), (line, recipe, file)):
        launch = from_config(*configs)
        assert launch.plan == Plan(2, 8, 6, 2048) and launch.source == "TRL ORPO"
    notes = launch.describe()
    assert "per_device_train_batch_size 1 of the command line, in place of 8" in notes
    assert "48 pairs of 2 sequences" in notes
    alone = from_config(recipe, file)
    assert alone.plan == Plan(16, 4, 8, 2048), "without the line"


@pytest.mark.parametrize(
    ("name", "file", "line", "wanted"),
    [
        ("axolotl.yaml",
         "base_model: x\nmicro_batch_size: 4\ngradient_accumulation_steps: 2\nsequence_len: 2048\n",
         "accelerate launch --num_processes 4 -m axolotl.cli.train axolotl.yaml "
         "--micro-batch-size 1", Plan(1, 2, 4, 2048)),
        ("llama.toml",
         "[training]\nlocal_batch_size = 8\nseq_len = 8192\n[parallelism]\n"
         "tensor_parallel_degree = 1\n",
         "torchrun --nproc_per_node=8 train.py --training.local_batch_size 2 "
         "--parallelism.tensor_parallel_degree 2", Plan(2, 1, 4, 8192)),
        ("tune.yaml",
         "tokenizer: {_component_: t, max_seq_len: 4096}\nbatch_size: 2\n",
         "tune run --nproc_per_node 2 full_finetune_distributed --config tune.yaml",
         Plan(2, 1, 2, 4096)),
        ("sft.yaml",
         "stage: pt\nfinetuning_type: full\ncutoff_len: 1024\nper_device_train_batch_size: 2\n",
         "torchrun --nproc_per_node 8 src/train.py sft.yaml --gradient_accumulation_steps 2",
         Plan(2, 2, 8, 1024)),
    ],
)  # fmt: skip
def test_a_line_wins_over_the_file_of_any_tool(tmp_path, name, file, line, wanted):
    paths = written(tmp_path, file, name), written(tmp_path, line + "\n")
    assert from_config(*paths).plan == wanted
