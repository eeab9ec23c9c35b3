"""Trainers from scratch beside Megatron: llm-foundry, levanter, MaxText, torchtitan.

    Settings, what was asked  ->  Launch

What differs is whom a size counts for: all devices, one of them, or a replica of several.
"""

import re
from dataclasses import replace
from fractions import Fraction
from math import prod

from batchlab.plan._formats import Format
from batchlab.plan._mesh import Mesh, world_of
from batchlab.plan._plan import data_parallel_degree
from batchlab.plan._settings import Asked, Degrees, Launch, Settings, quotient
from batchlab.plan._stages import staged

__all__ = ["PRETRAINERS"]

STARTED = ("nproc_per_node", "nnodes")
TITAN = Mesh(
    "torchtitan", "training.local_batch_size", "training.global_batch_size",
    ("training.seq_len",), "parallelism.tensor_parallel_degree",
    "parallelism.pipeline_parallel_degree", "parallelism.context_parallel_degree", STARTED,
)  # fmt: skip


def _titan(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """torchtitan: the shard degree is a number, or -1 for all devices that are left."""
    if given.has("batch_size_scheduler"):
        raise ValueError(
            "batch_size_scheduler changes the step while it trains: take it out, and give the "
            "global_batch_size of the stage that you ask about"
        )
    if given.has("grpo"):
        raise ValueError("grpo: what one step of that stage sees is not read")
    mesh = TITAN
    if given.has("training.batch_size"):  # before local_batch_size, without accumulation
        tensor, pipeline, context = (
            _place(given, f"{kind}_parallel_degree") for kind in ("tensor", "pipeline", "context")
        )
        mesh = replace(
            TITAN, rows="training.batch_size", tensor=tensor, pipeline=pipeline, context=context
        )
    shard = _place(given, "data_parallel_shard_degree", "data_parallel_degree")
    if not given.is_open(shard):
        replicate = _place(given, "data_parallel_replicate_degree")
        names = (shard, replicate, mesh.tensor, mesh.pipeline, mesh.context)
        devices = prod(given.count(name, 1) for name in names)
        if asked.devices not in (None, devices):
            raise ValueError(
                f"devices is {asked.devices:,} here (--devices), and the degrees of the config "
                f"multiply to {devices:,}"
            )
        asked = replace(asked, devices=devices)
    return mesh.read(given, asked, beside)


def _place(given: Settings, *words: str) -> str:
    """The section in which a version of torchtitan keeps a degree."""
    sections = ("parallelism", "training", "experimental")
    names = [f"{section}.{word}" for word in words for section in sections]
    found = [name for name in names if given.has(name)]
    if len(found) > 1:
        raise ValueError(f"{' and '.join(found)}: which of them is read depends on the version")
    return found[0] if found else names[0]


def _foundry(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """llm-foundry 0.22: a whole batch over all devices, cut into micro-batches on each."""
    if given.has("tp_config"):
        raise ValueError("tp_config: which devices share a replica is not read")
    world = world_of(given, asked, STARTED)
    whole, micro = "global_train_batch_size", "device_train_microbatch_size"
    share = quotient(given.count(whole), world, whole)
    if given.get(micro) in ("auto", None):
        raise ValueError(f'{micro} is "auto", or left out: give the number that Composer prints')
    rows = min(given.count(micro), share)
    accumulation = quotient(share, rows, f"the share of a device, {whole} / devices,")
    inside = "variables.max_seq_len"
    length = given.agreed("length", asked.length, inside if given.has(inside) else "max_seq_len")
    launch = Settings.split(world, Degrees(), rows, accumulation, length, "llm-foundry")
    ratio = given.get("train_loader.dataset.packing_ratio")
    return launch if ratio in (None, 1, 1.0) else replace(launch, unit="packs")


def _levanter(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """levanter 1.2: rows of a device are `per_device_parallelism`, or all of its share."""
    whole, each = "trainer.train_batch_size", "trainer.per_device_parallelism"
    if isinstance(given.get(whole), list | tuple):
        raise ValueError(
            f"{whole} changes while it trains: give the size of the stage you ask about"
        )
    if given.has("trainer.mesh"):
        raise ValueError("trainer.mesh: which devices share a replica is not read")
    degrees = Degrees(tensor=given.count("trainer.model_axis_size", 1))
    world = world_of(given, asked, ())
    replicas = data_parallel_degree(world, **vars(degrees))
    share = quotient(given.count(whole), replicas, whole)
    rows = share if given.is_open(each) else given.count(each)
    accumulation = quotient(share, rows, "the share of a replica,")
    names = ["max_seq_len", "model.max_seq_len", "model.seq_len"]
    if given.has("train_seq_len"):  # shorter than the model may be
        names = ["train_seq_len"]
    length = given.agreed("length", asked.length, *names)
    launch = Settings.split(world, degrees, rows, accumulation, length, "levanter")
    pairs = any(given.has(name) for name in ("dpo_data", "reference_model_path", "beta"))
    return staged(launch, "dpo") if pairs else launch


def _nanogpt(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """nanoGPT: accumulation counts the micro-batches of all devices; 40 of 12 rows by default."""
    world = world_of(given, asked, STARTED)
    of_all = given.count("gradient_accumulation_steps", 40)
    accumulation = quotient(of_all, world, "gradient_accumulation_steps")
    length = given.agreed("length", asked.length, "block_size", default=1024)
    rows = given.count("batch_size", 12)
    launch = Settings.split(world, Degrees(), rows, accumulation, length, "nanoGPT")
    note = f"its {of_all:,} micro-batches are shared by all devices (each had as many until 2023)"
    return replace(launch, notes=(note,))


def _maxtext(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """MaxText: `per_device_batch_size` is of every chip, of those that share a replica as well."""
    if not given.has("per_device_batch_size"):
        raise ValueError("per_device_batch_size is missing: without it the step is not known")
    size = str(given.first("per_device_batch_size"))
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", size):
        raise ValueError(f"per_device_batch_size must be a number, got {size:.40}")

    def degree(*kinds: str) -> int:
        names = [f"{net}_{kind}_parallelism" for net in ("ici", "dcn") for kind in kinds]
        for name in names:
            if given.get(name) in (-1, "-1"):
                raise ValueError(f"{name} is -1, what is left of the devices: give its number")
        return prod(given.count(name, 1) for name in names)

    if degree("pipeline") > 1:
        raise ValueError("pipeline parallelism of MaxText cuts micro-batches of its own: not read")
    degrees = Degrees(
        tensor=degree("tensor", "tensor_transpose", "tensor_sequence"),
        context=degree("sequence", "context"),
    )
    world = world_of(given, asked, ())
    rows = Fraction(size) * degrees.tensor * degrees.context
    if rows.denominator > 1 or rows < 1:
        raise ValueError(f"per_device_batch_size {size} makes {rows} rows of a replica: none has")
    accumulation = given.count("gradient_accumulation_steps", 1)
    length = given.agreed("length", asked.length, "max_target_length")
    return Settings.split(world, degrees, int(rows), accumulation, length, "MaxText")


PRETRAINERS = [
    Format(
        "torchtitan",
        (
            ("training.local_batch_size",),
            ("training.batch_size", "training.seq_len", "model.flavor"),
        ),
        frozenset(),
        _titan,
    ),
    Format(
        "llm-foundry",
        tuple(
            ("global_train_batch_size", name)
            for name in (
                "device_train_microbatch_size",
                "train_loader",
            )
        ),
        frozenset({"global_train_batch_size", "device_train_microbatch_size"}),
        _foundry,
    ),
    Format("levanter", (("trainer.train_batch_size",),), frozenset(), _levanter),
    Format(
        "nanogpt",
        (("batch_size", "block_size"), ("gradient_accumulation_steps", "block_size", "max_iters")),
        frozenset({"batch_size", "gradient_accumulation_steps"}),
        _nanogpt,
    ),
    Format(
        "maxtext",
        (("per_device_batch_size", "max_target_length"),),
        frozenset({"per_device_batch_size", "gradient_accumulation_steps"}),
        _maxtext,
    ),
]
