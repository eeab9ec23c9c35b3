"""How many processes torchrun, deepspeed or accelerate starts, and what a command line overrides.

    configs of a run  ->  processes
    file of settings, command line  ->  the settings that the run sees

A command line wins over a file, as it does in the launchers; what it replaced is said.
"""

import re
from collections.abc import Mapping
from typing import Any

from batchlab.plan._settings import PROGRAM, Asked, Settings, Twice

__all__ = ["overlaid", "replaced", "world_of_all"]

NAMES = ("world_size", "n_gpu", "num_processes")
MASON = "mason"  # open-instruct: starts as many processes on each of its nodes
LEFT_OPEN = ("auto", "gpu", "cpu")  # torchrun counts what it finds
SLOTS = re.compile(r"[\w.-]+:\d+(,\d+)*(@[\w.-]+:\d+(,\d+)*)*")  # deepspeed --include


def world_of_all(configs: tuple[Settings, ...], asked: Asked) -> int:
    """Processes of the whole run: as the script says, as asked, as its launcher's file says."""
    script, *files = configs
    if said := _said(script):
        return Settings(said).agreed("devices", asked.devices, *said)
    if asked.devices is None:
        for one in files:
            if said := _said(one):
                return Settings(said).agreed("devices", None, *said)
    return Settings({}).agreed("devices", asked.devices, *NAMES)


def replaced(configs: tuple[Settings, ...], world: int) -> tuple[str, ...]:
    """A line for each launcher's file whose number of processes the run does not take."""
    files = (_said(one).items() for one in configs[1:])
    return tuple(
        f"{world:,} devices, in place of {name} {value} in the launcher's file"
        for said in files
        for name, value in said
        if str(value) != str(world)
    )


def _said(one: Settings) -> dict[str, Any]:
    """What one config says of the number of processes, by name; variables as they stand."""
    said = {name: one.get(name) for name in NAMES if not one.is_open(name)}
    for each, nodes, default in (
        ("nproc_per_node", "nnodes", True),
        ("num_gpus", "num_nodes", False),
    ):
        if one.is_open(each) or one.first(each) in LEFT_OPEN:
            continue
        if not default and one.has("hostfile") and one.is_open(nodes):
            continue  # as many nodes as that file lists
        outside = [name for name in (each, nodes) if one.is_from_outside(name)]
        if outside:
            said[outside[0]] = one.get(outside[0])
        else:
            count = one.count(each) * (1 if one.is_open(nodes) else one.count(nodes))
            said[f"{each} x {nodes}"] = count
    if MASON in (one.get(PROGRAM) or ()) and one.has("num_nodes") and "num_processes" in said:
        whole = one.count("num_processes") * one.count("num_nodes")
        said = {"num_processes x num_nodes": whole}
    if isinstance(include := one.first("include"), str) and SLOTS.fullmatch(include):
        said["include"] = sum(part.count(",") + 1 for part in include.split("@"))
    return said


def overlaid(file: Mapping[str, Any], line: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The settings of a file with those of a command line, and what the line replaced."""
    made, notes = dict(file), []
    for name, value in line.items():
        inside = made.get(name)
        if isinstance(inside, Mapping) and isinstance(value, Mapping):
            made[name], more = overlaid(inside, value)
            notes += [f"{name}.{note}" for note in more]
            continue
        if inside is not None and name != PROGRAM and str(inside) != str(_shown(value)):
            notes.append(
                f"{name} {_shown(value)!s:.40} of the command line, in place of {inside!s:.40}"
            )
        made[name] = value
    return made, notes


def _shown(value: Any) -> Any:
    """The first of several words, as it is read."""
    several = isinstance(value, tuple) and value and not isinstance(value, Twice)
    return value[0] if several else value
