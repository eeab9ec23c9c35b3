"""Fine-tuning tools beside TRL: LLaMA-Factory, ms-swift, the trainer of the DPO paper.

Settings, what was asked  ->  Launch
"""

from dataclasses import replace
from math import ceil

from batchlab.plan._formats import HF, Format, packs, training_arguments
from batchlab.plan._launchers import world_of_all
from batchlab.plan._mesh import Mesh, world_of
from batchlab.plan._settings import GROUP, Asked, Degrees, Launch, Rollout, Settings, quotient
from batchlab.plan._stages import stage_word, staged

__all__ = ["TUNERS"]

FACTORY_1 = Mesh(
    "LLaMA-Factory v1", "micro_batch_size", "global_batch_size", ("cutoff_len",),
    "dist_config.tp_size", "dist_config.pp_size", "dist_config.cp_size",
    ("nproc_per_node", "nnodes"),
)  # fmt: skip


def _llama_factory(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """LLaMA-Factory 0.9.5: TrainingArguments, with `cutoff_len` (2,048) for the length."""
    stage = stage_word(given, "stage")
    if stage == "ppo":
        return _factory_ppo(given, asked, beside)
    if not given.has("cutoff_len") and asked.length is None:
        asked = replace(asked, length=2048)
    launch = replace(training_arguments(given, asked, beside), source="LLaMA-Factory")
    if stage not in ("pt", "sft"):
        return staged(launch, stage)
    packed = given.is_on("packing", "neat_packing")
    if stage == "pt" and not given.has("packing"):
        note = f"stage pt packs by itself: rows are blocks of {launch.plan.length:,} tokens"
        launch, packed = replace(launch, notes=(*launch.notes, note)), True
    return packs(launch, packed)


def _factory_ppo(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """LLaMA-Factory 0.9.5 PPO: one completion a prompt; a buffer holds several steps of them."""
    if asked.length is None and given.has("cutoff_len", "max_new_tokens"):
        asked = replace(asked, length=given.count("cutoff_len") + given.count("max_new_tokens"))
    values = {name: value for name, value in given.values.items() if name != "cutoff_len"}
    launch = training_arguments(Settings(values), asked, beside)
    prompts = launch.plan.sequences_per_step * given.count("ppo_buffer_size", 1)
    rollout = Rollout(prompts, 1, given.count("ppo_epochs", 4))
    return replace(launch, source="LLaMA-Factory PPO", unit="completions", rollout=rollout)


def _factory_v1(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """LLaMA-Factory 0.9.5, v1: names of its own; the whole step is one micro-batch by default."""
    if "dynamic" in str(given.get("batching_strategy")):
        raise ValueError("batching_strategy: micro-batches are cut by tokens and not by rows")
    return FACTORY_1.read(given, asked, beside)


def _swift(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """ms-swift 4: accumulation fills a step up to 16 sequences where it is not given."""
    rows, of_step = given.count("per_device_train_batch_size", 1), "gradient_accumulation_steps"
    steps = ceil(16 / (rows * world_of_all((given, *beside), asked)))
    launch = training_arguments(given, asked, beside, rows=1, steps=steps)
    if not given.has(of_step):
        note = f"{of_step} {launch.plan.accumulation:,} is filled in by ms-swift, up to 16 a step"
        launch = replace(launch, notes=(*launch.notes, note))
    return packs(replace(launch, source="ms-swift"), given.is_on("packing"))


def _dpo_paper(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """direct-preference-optimization: accumulation and devices *cut* its `batch_size`."""
    loss = given.first(f"loss.{GROUP}") or given.first("loss")
    if loss is None:
        raise ValueError("loss is missing: sft, dpo or ipo")
    if loss not in ("sft", "dpo", "ipo"):
        raise ValueError(f"loss {loss!r:.40}: what one step of it sees is not read")
    world = world_of(given, asked, ())
    spread = {
        "FSDPTrainer": Degrees(),
        "BasicTrainer": Degrees(pipeline=world),  # layers of one replica on all devices
        "TensorParallelTrainer": Degrees(tensor=world),
    }
    if (trainer := given.first("trainer") or "BasicTrainer") not in spread:
        raise ValueError(f"trainer must be one of {', '.join(spread)}, got {trainer!s:.40}")
    replicas = 1 if vars(spread[trainer]) != vars(Degrees()) else world
    whole, steps = given.count("batch_size"), given.count("gradient_accumulation_steps", 1)
    rows = quotient(whole, steps * replicas, "batch_size")
    length = given.agreed("length", asked.length, "max_length", default=512)
    launch = Settings.split(world, spread[trainer], rows, steps, length, "DPO of its paper")
    note = f"batch_size {whole:,} is the whole step: accumulation and devices cut it"
    return staged(replace(launch, notes=(note,)), loss)


TUNERS = [
    Format(
        "llama-factory",
        (("cutoff_len",), ("neat_packing",), ("stage", "finetuning_type"), ("stage", "template")),
        HF,
        _llama_factory,
        ("training-arguments", "trl"),
    ),
    Format(
        "llama-factory-v1",
        tuple(
            ("micro_batch_size", "cutoff_len", name) for name in ("train_dataset", "dist_config")
        ),
        frozenset({"micro_batch_size", "global_batch_size"}),
        _factory_v1,
        ("llama-factory", "megatron"),
    ),
    Format("swift", (), HF, _swift),  # its names are those of TRL: found by its command
    Format(
        "dpo-paper", (("loss", "datasets", "exp_name", "batch_size"),),
        frozenset({"batch_size", "gradient_accumulation_steps"}), _dpo_paper,
    ),
]  # fmt: skip
