"""Trainers whose config says the whole step: accumulation follows from it, and must divide.

    Settings, what was asked  ->  Launch

Most of them say the same six things under other names: those are a table. What is left has a
function of its own.
"""

import re
from dataclasses import replace

from batchlab.plan._formats import Format
from batchlab.plan._megatron import bridge, megatron
from batchlab.plan._mesh import Mesh, world_of
from batchlab.plan._settings import Asked, Degrees, Launch, Settings, quotient
from batchlab.plan._stages import staged

__all__ = ["MESHES"]


NEMO = Mesh(
    "NeMo", "model.micro_batch_size", "model.global_batch_size",
    ("model.encoder_seq_length", "model.data.seq_length"),
    "model.tensor_model_parallel_size", "model.pipeline_model_parallel_size",
    "model.context_parallel_size", ("trainer.devices", "trainer.num_nodes"),
)  # fmt: skip
AUTOMODEL = Mesh(
    "NeMo AutoModel", "step_scheduler.local_batch_size", "step_scheduler.global_batch_size", (),
    "distributed.tp_size", "distributed.pp_size", "distributed.cp_size", default_whole=32,
)  # fmt: skip


def _automodel(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """NeMo AutoModel 0.7: 32 sequences a step by default; packed where a size above 0 is given."""
    size = "packed_sequence.packed_sequence_size"
    packed = given.get(size) not in (None, 0, "0")
    mesh = replace(AUTOMODEL, length=(size,) if packed else ("dataset.seq_length",))
    launch = mesh.read(given, asked, beside)
    return replace(launch, unit="packs") if packed else launch


def _nemo(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """NeMo 2: its stages after pretraining, those of NeMo-Aligner, are refused."""
    for stage in ("dpo", "kto", "rpo", "ppo", "spin", "reinforce"):
        if given.has(f"model.{stage}"):
            raise ValueError(f"model.{stage}: what one step of that stage sees is not read")
    return NEMO.read(given, asked, beside)


def _torchtune(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """torchtune 0.6: `batch_size` is that of one device; a loss of preferences takes pairs."""
    for name in ("ppo_batch_size", "grpo_size"):
        if given.has(name):
            raise ValueError(f"{name}: what one step of a trainer that generates sees is not read")
    if given.has("tasks") and not given.has("optimizer"):
        raise ValueError("tasks: an evaluation trains nothing")
    rows = given.count("batch_size")
    degrees = Degrees(
        tensor=given.count("tensor_parallel_dim", 1), context=given.count("context_parallel_dim", 1)
    )
    world = world_of(given, asked, ("nproc_per_node", "nnodes"))
    accumulation = given.count("gradient_accumulation_steps", 1)
    length = given.agreed("length", asked.length, "tokenizer.max_seq_len")
    launch = Settings.split(world, degrees, rows, accumulation, length, "torchtune")
    if re.search("(DPO|RSO|SimPO|IPO)Loss", str(given.get("loss._component_"))):
        return staged(launch, "dpo")
    packed = given.is_on("dataset.packed", "packed")
    return replace(launch, unit="packs") if packed else launch


def _litgpt(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """litgpt 0.5: floors twice, so that the step may be smaller than it says."""
    rows, whole = given.count("train.micro_batch_size"), given.count("train.global_batch_size")
    world = world_of(given, asked, ("devices", "num_nodes"))
    length = given.agreed("length", asked.length, "train.max_seq_length")
    accumulation = whole // world // rows
    if not accumulation:
        raise ValueError(
            f"train.global_batch_size {whole:,} is less than {rows:,} rows on each of {world:,} "
            "devices"
        )
    launch = Settings.split(world, Degrees(), rows, accumulation, length, "litgpt")
    trained = launch.plan.sequences_per_step
    if trained == whole:
        return launch
    note = f"litgpt rounds down twice: a step sees {trained:,} sequences, not {whole:,}"
    return replace(launch, notes=(note,))


def _nanochat(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """nanochat: `total_batch_size` counts tokens."""
    if given.is_open("total_batch_size"):
        raise ValueError(
            "total-batch-size is left to nanochat: give the number of tokens that it prints"
        )
    rows, tokens = given.count("device_batch_size", 32), given.count("total_batch_size")
    length = given.agreed("length", asked.length, "max_seq_len", default=2048)
    world = world_of(given, asked, ("nproc_per_node", "nnodes"))
    accumulation = quotient(tokens, rows * length * world, "total-batch-size")
    return Settings.split(world, Degrees(), rows, accumulation, length, "nanochat")


def _both(section: str, *more: str) -> tuple[tuple[str, ...], ...]:
    """The two sizes of a section, with each of several names beside them."""
    sizes = (f"{section}.micro_batch_size", f"{section}.global_batch_size")
    return tuple((*sizes, name) for name in more)


MESHES = [
    Format(
        "megatron",
        tuple(("micro_batch_size", name) for name in (
            "tensor_model_parallel_size", "pipeline_model_parallel_size", "global_batch_size",
            "seq_length", "rampup_batch_size", "step_batch_size_schedule",
        )),
        frozenset({"micro_batch_size", "global_batch_size"}),
        megatron,
    ),
    Format(
        "megatron-bridge",
        (
            *_both("train", "model.tensor_model_parallel_size", "model.seq_length",
                   "dataset.seq_length", "dataset.packed_sequence_specs"),
            ("train_config.micro_batch_size", "train_config.global_batch_size"),
        ),
        frozenset(),
        bridge,
    ),
    Format(
        "nemo",
        (("exp_manager", "model.micro_batch_size"), ("trainer.devices", "model.micro_batch_size")),
        frozenset(),
        _nemo,
    ),
    Format("automodel", (("step_scheduler.local_batch_size",),), frozenset(), _automodel),
    Format(
        "torchtune", (("batch_size", "_component_"),),
        frozenset({"batch_size", "gradient_accumulation_steps"}), _torchtune,
    ),
    Format(
        "litgpt",
        _both("train", "devices", "out_dir", "checkpoint_dir", "data"),
        frozenset(),
        _litgpt,
    ),
    Format(
        "nanochat",
        tuple(("device_batch_size", name) for name in ("total_batch_size", "max_seq_len", "depth")),
        frozenset({"device_batch_size", "total_batch_size"}),
        _nanochat,
    ),
]  # fmt: skip
