"""What a launch config asks for: TrainingArguments, DeepSpeed JSON or Megatron flags.

    mapping, file or command line  ->  Launch: a Plan, and how the devices are split

A value that is missing or says "auto" is refused by name: nobody can know the batch of a run whose
config leaves it open.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchlab import units
from batchlab.plan._plan import Plan, data_parallel_degree, nearest

__all__ = ["Launch", "from_config"]

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Launch:
    """One run as its config describes it."""

    plan: Plan
    devices: int
    tensor: int
    pipeline: int
    context: int
    source: str

    def describe(self) -> str:
        split = [
            f"{name} {degree}"
            for name, degree in (
                ("tensor", self.tensor),
                ("pipeline", self.pipeline),
                ("context", self.context),
            )
            if degree > 1
        ]
        parallel = f" ({', '.join(split)} parallel)" if split else ""
        return (
            f"{self.source}: {self.devices:,} devices{parallel} are "
            f"{self.plan.data_parallel:,} replicas"
        )


def from_config(
    config: Config | Sequence[str] | str | Path,
    *,
    devices: int | None = None,
    length: int | None = None,
) -> Launch:
    """Read what one optimizer step sees from a launch config.

    A mapping, the path of a .json or .yaml file, or Megatron flags as text or list. `devices` and
    `length` add what the config does not hold; a contradiction with it is refused.

    >>> config = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8}
    >>> from_config(config, devices=2, length=2048).plan.sequences_per_step
    64
    """
    if isinstance(config, Path):
        config = _read(config)
    elif isinstance(config, str):
        config = _read(Path(config)) if not config.lstrip().startswith("-") else shlex.split(config)
    flags = _flags(config) if not isinstance(config, Mapping) else dict(config)
    given = {key.lstrip("-").replace("-", "_"): value for key, value in flags.items()}
    if "micro_batch_size" in given or "tensor_model_parallel_size" in given:
        return _megatron(given, devices, length)
    if "train_micro_batch_size_per_gpu" in given or "train_batch_size" in given:
        return _deepspeed(given, devices, length)
    if "per_device_train_batch_size" in given:
        return _training_arguments(given, devices, length)
    raise ValueError(
        "not a launch config that is understood: none of per_device_train_batch_size "
        "(TrainingArguments), train_micro_batch_size_per_gpu (DeepSpeed) and micro-batch-size "
        f"(Megatron) is in it; the keys are {', '.join(sorted(given)[:8]) or 'none'}"
    )


def _training_arguments(given: Config, devices: int | None, length: int | None) -> Launch:
    rows = _number(given, "per_device_train_batch_size")
    accumulation = _number(given, "gradient_accumulation_steps", 1)
    world = _agreed("devices", devices, given, ("world_size", "n_gpu", "num_processes"))
    degrees = _degrees(given)
    replicas = data_parallel_degree(world, **degrees)
    longest = _agreed("length", length, given, ("max_length", "max_seq_length", "model_max_length"))
    plan = Plan(rows, accumulation, replicas, longest)
    return Launch(plan, world, **degrees, source="TrainingArguments")


def _deepspeed(given: Config, devices: int | None, length: int | None) -> Launch:
    """DeepSpeed: train_batch_size = micro-batch x accumulation x replicas; two of three suffice."""
    world = _agreed("devices", devices, given, ("world_size",))
    degrees = _degrees(given)
    replicas = data_parallel_degree(world, **degrees)
    names = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
    total, rows, accumulation = (_number(given, name, 0) for name in names)
    if rows and not accumulation:
        accumulation = _quotient(total, rows * replicas, "train_batch_size") if total else 1
    elif not rows:
        accumulation = accumulation or 1
        rows = _quotient(total, accumulation * replicas, "train_batch_size")
    if total and total != rows * accumulation * replicas:
        of = "devices" if replicas == world else "replicas"
        raise ValueError(
            f"train_batch_size {total:,} is not {rows:,} (micro) x {accumulation:,} "
            f"(accumulation) x {replicas:,} ({of}) = {rows * accumulation * replicas:,}"
        )
    longest = _agreed("length", length, given, ("max_length", "seq_length"))
    plan = Plan(rows, accumulation, replicas, longest)
    return Launch(plan, world, **degrees, source="DeepSpeed")


def _megatron(given: Config, devices: int | None, length: int | None) -> Launch:
    rows = _number(given, "micro_batch_size")
    world = _agreed("devices", devices, given, ("world_size", "nproc"))
    degrees = _degrees(given)
    replicas = data_parallel_degree(world, **degrees)
    total = _number(given, "global_batch_size", rows * replicas)
    accumulation = _quotient(total, rows * replicas, "global-batch-size")
    longest = _agreed("length", length, given, ("seq_length",))
    return Launch(Plan(rows, accumulation, replicas, longest), world, **degrees, source="Megatron")


# Where a config says over how many devices one replica is spread: a key, or a key inside a key.
DEGREES = {
    "tensor": (
        ("tensor_model_parallel_size",),  # Megatron
        ("tensor_parallel", "autotp_size"),  # DeepSpeed
        ("parallelism_config", "tp_size"),  # accelerate, in TrainingArguments
    ),
    "pipeline": (("pipeline_model_parallel_size",),),
    "context": (("context_parallel_size",), ("parallelism_config", "cp_size")),
}


def _degrees(given: Config) -> dict[str, int]:
    """Tensor, pipeline and context parallel degrees; 1 where the config says nothing."""
    found = dict.fromkeys(DEGREES, 1)
    for name, places in DEGREES.items():
        for *outer, key in places:
            inside = given.get(outer[0]) if outer else given
            if isinstance(inside, Mapping) and key in inside:
                found[name] = _number(inside, key)
    return found


def _number(given: Config, key: str, default: int | None = None) -> int:
    value = given.get(key, default)
    if value is None:
        raise ValueError(f"{key} is missing: without it the step is not known")
    if value == "auto":
        raise ValueError(f'{key} is "auto": give the number that the launcher fills in')
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if key in given:
        value = units.whole(value, key)
    return int(value)


def _agreed(name: str, argument: int | None, given: Config, keys: Sequence[str]) -> int:
    """A value from the argument or from the config; both must agree."""
    key = next((key for key in keys if given.get(key) is not None), None)
    if argument is not None:
        argument = units.whole(argument, name)
    if key is None:
        if argument is None:
            raise ValueError(f"{name} is not in this config ({', '.join(keys)}): give {name}=")
        return argument
    inside = _number(given, key)
    if argument is not None and argument != inside:
        raise ValueError(f"{name} is {argument:,} here and {inside:,} in the config ({key})")
    return inside


def _quotient(total: int, part: int, name: str) -> int:
    if total == 0:
        raise ValueError(f"{name} is missing: without it the step is not known")
    if total % part:
        near = nearest(total, part)
        raise ValueError(f"{name} {total:,} is not a multiple of {part:,}; {near}")
    return total // part


def _read(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"{path}: no such config file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read ({error})") from None
    if path.suffix in (".yaml", ".yml"):
        try:
            import yaml
        except ImportError:
            raise ValueError(f"{path}: reading YAML needs the package pyyaml") from None
        try:
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"{path}: not YAML ({str(error).splitlines()[0]})") from None
    elif text.lstrip().startswith("-"):
        return _flags(shlex.split(text))
    else:
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from None
    if not isinstance(found, Mapping):
        raise ValueError(f"{path}: a mapping of settings is needed, got {type(found).__name__}")
    return found


def _flags(words: Sequence[str]) -> dict[str, Any]:
    """--name value and --name=value; a flag without a value is True."""
    found: dict[str, Any] = {}
    name = None
    for word in words:
        if word.startswith("--"):
            name, _, value = word.partition("=")
            found[name] = value or True
        elif name:
            found[name], name = word, None
    return found
