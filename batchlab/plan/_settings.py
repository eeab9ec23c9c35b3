"""One launch config, asked by name; what it leaves open or cannot mean is refused by that name.

    nested mapping  ->  Settings  ->  counts, degrees, the Launch that they make

Words
    name   where a value stands: `micro_batch_size`, or `training.seq_len` inside a section
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from batchlab import reading, units
from batchlab.plan._plan import Plan, data_parallel_degree, nearest

__all__ = [
    "GROUP",
    "PROGRAM",
    "Asked",
    "Degrees",
    "Launch",
    "Rollout",
    "Settings",
    "Twice",
    "quotient",
]

PROGRAM = "_program"  # no option is called so: names of the scripts that a line starts
GROUP = "_group"  # loss=dpo beside loss.beta=0.1, as Hydra has it: what stands for the section
MOST = 2**40  # no count of a launch is larger: more is a slip of the keyboard


@dataclass(frozen=True)
class Asked:
    """What the caller adds to a config."""

    devices: int | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        for name in ("devices", "length"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _count(name, getattr(self, name)))


@dataclass(frozen=True)
class Degrees:
    """Over how many devices one replica is spread."""

    tensor: int = 1
    pipeline: int = 1
    context: int = 1


@dataclass(frozen=True)
class Rollout:
    """What is generated before it is trained on: `each` completions of every prompt.

    >>> Rollout(prompts=16, each=8, passes=1).completions
    128
    """

    prompts: int
    each: int
    passes: int

    @property
    def completions(self) -> int:
        return self.prompts * self.each


@dataclass(frozen=True)
class Launch:
    """One run as its config describes it."""

    plan: Plan
    devices: int
    tensor: int
    pipeline: int
    context: int
    source: str
    unit: str = "sequences"  # what a sequence of the plan is: packs, completions
    rollout: Rollout | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def steps_per_rollout(self) -> float | None:
        """Optimizer steps on what one rollout generated."""
        if self.rollout is None:
            return None
        return self.rollout.completions * self.rollout.passes / self.plan.sequences_per_step

    def describe(self) -> str:
        """The split in one line, then a line for each thing that a reader would not expect."""
        degrees = {"tensor": self.tensor, "pipeline": self.pipeline, "context": self.context}
        split = [f"{name} {degree}" for name, degree in degrees.items() if degree > 1]
        parallel = f" ({', '.join(split)} parallel)" if split else ""
        first = (
            f"{self.source}: {self.devices:,} devices{parallel} are "
            f"{self.plan.data_parallel:,} replicas"
        )
        if self.unit != "sequences":
            first += f"; a sequence is a {self.unit.removesuffix('s')}"
        lines = [first, *self.notes]
        if self.rollout is not None:
            made = self.rollout
            lines.insert(
                1,
                f"a rollout is {made.prompts:,} prompts x {made.each:,} = {made.completions:,} "
                f"completions, {self.plan.sequences_per_step:,} to a step: "
                f"{self.steps_per_rollout:,g} optimizer steps",
            )
        return "\n".join(lines)


class Twice(tuple[Any, ...]):
    """The values of a name that a command line gives more than once, with different values."""


class Settings:
    """A launch config; sections are asked with a dot."""

    def __init__(self, values: Mapping[str, Any]):
        self.values = values

    def get(self, name: str) -> Any:
        """The value of a name, or None."""
        found: Any = self.values
        for part in name.split("."):
            if not isinstance(found, Mapping):
                return None
            found = found.get(part)
        return found

    def has(self, *names: str) -> bool:
        """Whether all of these names have a value."""
        return all(self.get(name) is not None for name in names)

    def mentions(self, word: str) -> bool:
        """Whether any section, at any depth, has this name."""
        waiting: list[Any] = [self.values]
        seen = set()
        while waiting:
            here = waiting.pop()
            if isinstance(here, Mapping) and id(here) not in seen:
                seen.add(id(here))
                if word in here:
                    return True
                waiting += here.values()
        return False

    def is_open(self, name: str) -> bool:
        """Whether a name is left to the launcher: not there, "auto", null or -1."""
        return self.get(name) in (None, "auto", -1, "-1", "null")

    def is_on(self, *names: str) -> bool:
        """Whether any of these names is switched on."""
        return any(str(self.get(name)).lower() in ("true", "1", "yes") for name in names)

    def count(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 1."""
        value = self.get(name)
        if value is None:
            if default is None:
                raise ValueError(f"{name} is missing: without it the step is not known")
            return default
        return _count(name, value)

    def agreed(
        self,
        what: str,
        given: int | None,
        *names: str,
        product: tuple[str, ...] = (),
        default: int | None = None,
    ) -> int:
        """A value that the caller gives or the config holds; where both do, they agree.

        The config holds it under one of `names`, or as a `product` whose first factor is there.
        """
        known = [name for name in names if not self.is_open(name)]
        factors = product if product and not self.is_open(product[0]) else ()
        if outside := [name for name in (*known, *factors) if self.is_from_outside(name)]:
            if given is not None:
                return given
            shown = repr(self.first(outside[0])[:40])
            raise ValueError(
                f"{outside[0]} is {shown}, which the script takes from outside of it: give "
                f"{what}= (--{what})"
            )
        values = {name: self.count(name) for name in known}
        if factors:
            values[" x ".join(product)] = prod(self.count(name, 1) for name in product)
        names = (*names, *([" x ".join(product)] if product else []))
        if len(set(values.values())) > 1:
            both = ", ".join(f"{name} {value:,}" for name, value in values.items())
            raise ValueError(f"the config contradicts itself on {what}: {both}")
        if not values:
            if given is None and default is None:
                raise ValueError(
                    f"{what} is not in this config ({', '.join(names) or 'no key of it says it'}): "
                    f"give {what}= (--{what})"
                )
            return int(given if given is not None else default)  # type: ignore[arg-type]
        name, inside = next(iter(values.items()))
        if given is not None and given != inside:
            raise ValueError(
                f"{what} is {given:,} here (--{what}) and {inside:,} in the config ({name})"
            )
        return inside

    def is_from_outside(self, name: str) -> bool:
        """Whether a variable stands there that the script does not set."""
        value = self.first(name)
        return isinstance(value, str) and "$" in value

    def first(self, name: str) -> Any:
        """The value of a name; of several words, the first."""
        return _first(self.get(name))

    @staticmethod
    def split(
        world: int, degrees: Degrees, rows: int, accumulation: int, length: int, source: str
    ) -> Launch:
        """The launch of these numbers."""
        replicas = data_parallel_degree(world, **vars(degrees))
        plan = Plan(rows, accumulation, replicas, length)
        return Launch(plan, world, **vars(degrees), source=source)


def quotient(total: int, part: int, name: str) -> int:
    """Total / part, or a refusal that names the neighbours."""
    if total % part:
        raise ValueError(f"{name} {total:,} is not a multiple of {part:,}; {nearest(total, part)}")
    return total // part


def _first(value: Any) -> Any:
    """The first of several words: a flag may have more words behind it."""
    several = isinstance(value, list | tuple) and value and not isinstance(value, Twice)
    return value[0] if several else value


def _count(name: str, value: Any) -> int:
    if isinstance(value, Twice):
        raise ValueError(f"{name} is given twice: {' and '.join(map(reading.shown, value))}")
    value = _first(value)
    if value == "auto":
        raise ValueError(
            f'{name} is "auto": give the number that the launcher fills in, or the config that it '
            "takes it from as a second one"
        )
    if isinstance(value, str) and re.fullmatch("[0-9]+(_[0-9]+)*", value) and len(value) < 20:
        value = int(value)
    if isinstance(value, str) and "$" in value:
        raise ValueError(f"{name} is {value[:40]!r}, which the script takes from outside of it")
    number = value if not isinstance(value, bool) and hasattr(value, "__index__") else 0
    number = number.__index__()
    if number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {reading.shown(value)}")
    if number > MOST:
        raise ValueError(f"{name} is larger than {units.count(MOST)}: no run is")
    return int(number)
