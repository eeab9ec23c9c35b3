"""What the settings of each trainer mean: rows, accumulation, length and how devices are split.

    Settings, what was asked  ->  Launch

One function a tool, after the source of the version that its line names. The same word means
different things in different tools, so that a reader knows the tool before it reads a number.

Words
    signs    names that together only this tool's configs have
    beside   settings of a launcher that come in a file of their own: accelerate, DeepSpeed
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from batchlab.plan._deepspeed import (
    check_product,
    deepspeed,
    degrees_of_all,
    gpt_neox,
)
from batchlab.plan._launchers import replaced, world_of_all
from batchlab.plan._settings import PROGRAM, Asked, Degrees, Launch, Settings, quotient
from batchlab.plan._stages import generated, stage_word, staged

__all__ = ["FORMATS", "HF", "Format", "packs", "training_arguments"]

LENGTHS = ("max_length", "max_seq_length", "model_max_length", "cutoff_len", "block_size")
Read = Callable[[Settings, Asked, tuple[Settings, ...]], Launch]


@dataclass(frozen=True)
class Format:
    """One kind of config: how it is recognised, which words of a batch it owns, how it is read."""

    name: str
    signs: tuple[tuple[str, ...], ...]
    words: frozenset[str]
    read: Read
    covers: tuple[str, ...] = field(default=())  # formats whose signs it has as well


def training_arguments(
    given: Settings, asked: Asked, beside: tuple[Settings, ...], *, rows: int = 8, steps: int = 1
) -> Launch:
    """transformers 5.23 `TrainingArguments`; `rows` and `steps` are defaults of 8 and 1."""
    if given.is_on("do_predict") and not given.is_on("do_train"):
        raise ValueError("do_predict without do_train: such a run trains nothing")
    micro, whole = "train_micro_batch_size_per_gpu", "train_batch_size"
    steps_of = "gradient_accumulation_steps"
    per_device = "per_device_train_batch_size"
    rows = _filled(given, per_device, beside, (micro, f"deepspeed_config.{micro}"), rows)
    accumulation = _filled(
        given, steps_of, beside, (steps_of, f"deepspeed_config.{steps_of}"), steps
    )
    world = world_of_all((given, *beside), asked)
    degrees = degrees_of_all((given, *beside))
    length = given.agreed("length", asked.length, *LENGTHS)
    launch = Settings.split(world, degrees, rows, accumulation, length, "TrainingArguments")
    for one in beside:
        if not one.is_open(whole):
            check_product(one.count(whole), launch)
    return replace(launch, notes=replaced((given, *beside), world))


def _filled(
    given: Settings, name: str, beside: tuple[Settings, ...], names: tuple[str, ...], default: int
) -> int:
    """A number of the script or of its launcher's files; all that set it set it alike."""
    found = [(name, given.count(name))] if given.has(name) else []
    found += [(n, one.count(n)) for one in beside for n in names if not one.is_open(n)]
    for (here, value), (other, number) in pairwise(found):
        if number != value:
            raise ValueError(f"{here} is {value:,}, and {other} beside it is {number:,}")
    return next((number for _, number in found), default)


def _trl(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """TRL 1.16 SFT: rows are cut at 1,024 tokens unless `max_length` says otherwise."""
    notes: tuple[str, ...] = ()
    if not any(name in given.values for name in LENGTHS) and asked.length is None:
        asked = replace(asked, length=1024)
        notes = (
            "rows are cut at 1,024 tokens, TRL's default: a script of your own may have another",
        )
    launch = replace(training_arguments(given, asked, beside), source="TRL SFT")
    return packs(replace(launch, notes=(*launch.notes, *notes)), given.is_on("packing"))


def _unsloth(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """Unsloth 2026.10: other defaults, 4 rows and 2 micro-batches."""
    launch = training_arguments(given, asked, beside, rows=4, steps=2)
    return packs(replace(launch, source="Unsloth"), given.is_on("packing"))


def packs(launch: Launch, packed: bool) -> Launch:
    return replace(launch, unit="packs") if packed else launch


def _axolotl(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    """axolotl 0.19: `batch_size`, where given, is rows x accumulation of one GPU."""
    if given.has("megatrain_devices"):
        raise ValueError("megatrain_devices share each micro-batch: such a run is not read")
    if given.has("hatchery"):
        raise ValueError("hatchery: a service trains, and what its step sees is not read")
    rows = given.count("micro_batch_size")
    if given.has("batch_size") and not given.has("gradient_accumulation_steps"):
        if given.get(PROGRAM):
            raise ValueError(
                "batch_size of a script: axolotl counts that of one GPU, alpaca-lora and what was "
                "made of it that of all: give gradient_accumulation_steps in its place"
            )
        accumulation = quotient(given.count("batch_size"), rows, "batch_size")
    else:
        accumulation = given.count("gradient_accumulation_steps", 1)
    degrees = Degrees(
        tensor=given.count("tensor_parallel_size", 1),
        context=given.count("context_parallel_size", 1)
        * given.count("sequence_parallel_degree", 1),
    )
    world = world_of_all((given, *beside), asked)
    stage = stage_word(given, "rl")
    stage = "reward" if given.is_on("reward_model") else stage
    if generates := stage in ("grpo", "gdpo"):  # its length is of a prompt and its completion
        length = given.agreed("length", asked.length)
    else:
        length = given.agreed("length", asked.length, "sequence_len", default=512)
    launch = Settings.split(world, degrees, rows, accumulation, length, "axolotl")
    if not given.is_on("sample_packing"):
        return generated(given, launch, "trl.") if generates else staged(launch, stage)
    if stage != "sft":
        raise ValueError(f"sample_packing with the stage {stage:.40}: axolotl packs no such rows")
    note = f"sample_packing: a micro-batch is one row of {rows:,} x {length:,} tokens"
    return replace(launch, unit="packs", notes=(note,))


def _preference(stage: str) -> Read:
    """TRL 1.16: `max_length` is that of a prompt with one of its answers."""

    def read(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
        launch = training_arguments(given, asked, beside)
        return staged(replace(launch, source=f"TRL {stage.upper()}"), stage)

    return read


def _accelerate(given: Settings, asked: Asked, beside: tuple[Settings, ...]) -> Launch:
    raise ValueError(
        "an accelerate config says how many processes there are, and not what each of them sees: "
        "give the arguments of the script as a second config"
    )


DEEPSPEED = frozenset(
    {"train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"}
)
HF = frozenset({"per_device_train_batch_size", "gradient_accumulation_steps"})
FORMATS = [
    Format("training-arguments", (("per_device_train_batch_size",),), HF, training_arguments),
    Format(
        "trl",
        (
            ("packing_strategy",), ("padding_free",), ("completion_only_loss",),
            ("assistant_only_loss",), ("dataset_text_field",),
            ("packing", "per_device_train_batch_size"),
        ),
        HF,
        _trl,
        ("training-arguments",),
    ),
    *(  # their names are shared: found by the script, or asked for by name
        Format(stage, (), HF, _preference(stage))
        for stage in ("dpo", "orpo", "cpo", "reward", "kto")
    ),
    Format("unsloth", (), HF, _unsloth),  # its names are those of TRL: only asked for by name
    Format(
        "axolotl",
        (("base_model", "micro_batch_size"), ("sequence_len", "micro_batch_size")),
        frozenset({"micro_batch_size", "gradient_accumulation_steps", "batch_size"}),
        _axolotl,
    ),
    Format(
        "deepspeed",
        (
            ("train_micro_batch_size_per_gpu",), ("zero_optimization",),
            *(("train_batch_size", name) for name in (  # other trainers have that one, too
                "fp16.enabled", "bf16.enabled", "steps_per_print", "wall_clock_breakdown",
            )),
        ),
        DEEPSPEED,
        deepspeed,
    ),
    Format(
        "gpt-neox",
        (
            ("pipe_parallel_size",),
            *(("train_micro_batch_size_per_gpu", name) for name in (
                "model_parallel_size", "num_layers", "train_iters",
            )),
        ),
        DEEPSPEED,
        gpt_neox,
        ("deepspeed",),
    ),
    Format("accelerate", (("compute_environment", "distributed_type"),), frozenset(), _accelerate),
]  # fmt: skip
