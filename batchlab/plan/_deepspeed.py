"""DeepSpeed and those that inherit its three sizes: micro-batch x accumulation x replicas.

    Settings, what was asked  ->  Launch

Two of the three sizes suffice, and the third follows; where all are there, they must agree.
"""

from dataclasses import replace
from math import prod

from batchlab.plan._launchers import replaced, world_of_all
from batchlab.plan._plan import data_parallel_degree
from batchlab.plan._settings import Asked, Degrees, Launch, Settings, quotient
from batchlab.plan._stages import staged

__all__ = ["check_product", "deepspeed", "degrees_of_all", "gpt_neox"]


DEGREES = {  # where configs say over how many devices a replica is spread; factors of one degree
    "tensor": (
        ("tensor_parallel.autotp_size",),
        ("tensor_model_parallel_size",),  # mcore_adapter, below LLaMA-Factory
        ("parallelism_config.tp_size", "parallelism_config.parallelism_config_tp_size"),
    ),
    "pipeline": (("pipeline_model_parallel_size",),),
    "context": (
        ("context_parallel_size",),
        ("sequence_parallel_size",),  # ms-swift
        ("parallelism_config.cp_size", "parallelism_config.parallelism_config_cp_size"),
        ("parallelism_config.sp_size", "parallelism_config.parallelism_config_sp_size"),
    ),
}


def degrees_of_all(configs: tuple[Settings, ...]) -> Degrees:
    """Degrees of all files together; 1 where none says one."""
    found = {"tensor": 1, "pipeline": 1, "context": 1}
    for degree, factors in DEGREES.items():
        for names in factors:
            values = {one.count(name) for one in configs for name in names if one.has(name)}
            if len(values) > 1:
                raise ValueError(
                    f"the configs contradict each other on {names[0]}: {sorted(values)}"
                )
            found[degree] *= prod(values)  # of one value, or none
    return Degrees(**found)


def deepspeed(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """DeepSpeed 0.19: its own file says neither the length nor the devices."""
    configs = (given, *beside)
    world = world_of_all(configs, asked)
    launch = _of_three(given, asked, world, degrees_of_all(configs), "DeepSpeed")
    return replace(launch, notes=replaced(configs, world))


def gpt_neox(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """GPT-NeoX 2.0: its own parallel sizes, of which 0 means none, above DeepSpeed's batch."""
    if given.is_on("batch_scheduling.enabled"):
        raise ValueError(
            "batch_scheduling changes the step while it trains: take it out, and give the sizes of "
            "the stage that you ask about"
        )
    names = {"tensor": "model", "pipeline": "pipe", "context": "context"}
    sizes = {kind: f"{name}_parallel_size" for kind, name in names.items()}
    degrees = {k: 1 if given.get(n) in (0, "0") else given.count(n, 1) for k, n in sizes.items()}
    steps = given.count("gradient_accumulation_steps", 1)
    if given.has("gas") and given.count("gas") != steps:
        raise ValueError(
            f"gas is {given.count('gas'):,} and gradient_accumulation_steps is {steps:,}: GPT-NeoX "
            "overwrites the first with the second; give gradient_accumulation_steps"
        )
    nodes = () if given.is_open("num_nodes") else ("num_gpus", "num_nodes")
    world = given.agreed("devices", asked.devices, "global_num_gpus", product=nodes)
    launch = _of_three(given, asked, world, Degrees(**degrees), "GPT-NeoX")
    stage = given.get("train_impl") or "normal"
    if stage == "kto":
        raise ValueError("train_impl is kto: what one step of it sees is not read")
    return launch if stage == "normal" else staged(launch, str(stage))


def _of_three(given: Settings, asked: Asked, world: int, degrees: Degrees, source: str) -> Launch:
    """The launch of two sizes or of three."""
    replicas = data_parallel_degree(world, **vars(degrees))
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    total, rows, accumulation = (given.count(n) if given.has(n) else 0 for n in names)
    if not total and not rows:
        raise ValueError(
            f"{names[0]} and {names[1]} are missing: without one the step is not known"
        )
    if rows and not accumulation:
        accumulation = quotient(total, rows * replicas, names[0]) if total else 1
    elif not rows:
        accumulation = accumulation or 1
        rows = quotient(total, accumulation * replicas, names[0])
    length = given.agreed("length", asked.length, "max_length", "seq_length")
    launch = Settings.split(world, degrees, rows, accumulation, length, source)
    if total:
        check_product(total, launch)
    return launch


def check_product(total: int, launch: Launch) -> None:
    """Refuse a whole batch that is not the product of its parts."""
    plan = launch.plan
    if total != plan.sequences_per_step:
        of = "devices" if plan.data_parallel == launch.devices else "replicas"
        raise ValueError(
            f"train_batch_size {total:,} is not {plan.rows:,} (micro) x {plan.accumulation:,} "
            f"(accumulation) x {plan.data_parallel:,} ({of}) = {plan.sequences_per_step:,}"
        )
