"""What a launch config asks for, in the words of the tool that will read it.

    mapping, file, script or command line  ->  Launch: a Plan, and how the devices are split

The tool is recognised by names that only its configs have. What two tools could mean is refused,
and so is what is missing, says "auto" or does not divide: nobody can know the batch of a run whose
config leaves it open.
"""

from dataclasses import replace
from typing import Any

from batchlab.plan._formats import FORMATS, Format
from batchlab.plan._launchers import overlaid
from batchlab.plan._megatron import Ramp
from batchlab.plan._meshes import MESHES
from batchlab.plan._nemo_rl import NEMO_RL
from batchlab.plan._pretrainers import PRETRAINERS
from batchlab.plan._rollouts import ROLLOUTS
from batchlab.plan._settings import PROGRAM, Asked, Launch, Rollout, Settings
from batchlab.plan._stages import trl_stage
from batchlab.plan._text import Config, is_line, settings_of
from batchlab.plan._tuners import TUNERS

__all__ = ["TOOLS", "Launch", "Ramp", "Rollout", "from_config"]

TOOLS = {one.name: one for one in (*FORMATS, *TUNERS, *MESHES, *PRETRAINERS, *ROLLOUTS, *NEMO_RL)}
STAGED = {"training-arguments", "trl", "grpo"}  # what TRL calls its stages is looked up in these
SCRIPTS = {
    *STAGED,
    "unsloth",
    "swift",
    "llama-factory",
    "dpo",
    "orpo",
    "cpo",
    "reward",
    "kto",
    "rloo",
}
BESIDE = {"accelerate", "deepspeed"}
WORDS = frozenset().union(*(one.words for one in TOOLS.values()))


def from_config(
    config: Config,
    *beside: Config,
    devices: int | None = None,
    length: int | None = None,
    tool: str | None = None,
) -> Launch:
    """Read what one optimizer step sees from a launch config.

    config   a mapping, the path of a .json, .yaml, .toml, .py or .sh file, or flags
    beside   files of accelerate or DeepSpeed that belong to it: they fill in what it leaves "auto";
             or the line that starts it, which wins over it
    devices, length
             what the config does not hold; a contradiction with it is refused, one of devices with
             a launcher's file is won
    tool     one of `TOOLS`, where the config alone does not tell

    >>> config = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8}
    >>> from_config(config, devices=2, length=2048).plan.sequences_per_step
    64
    """
    asked = Asked(devices, length)
    if tool is not None and tool not in TOOLS:
        raise ValueError(f"unknown tool {tool!r}; there are {', '.join(TOOLS)}")
    read = [(*settings_of(one), is_line(one)) for one in (config, *beside)]
    named, notes = _with_line_over_file(read)
    known = [_recognised(*one, tool if at == 0 else None) for at, one in enumerate(named)]
    main = _main(known)
    given = named[main][1]
    others = [settings for at, (_, settings) in enumerate(named) if at != main]
    if isinstance(inside := given.get("deepspeed"), dict):
        others.append(Settings(inside))
    try:
        launch = known[main].read(given, asked, tuple(others))
        return replace(launch, notes=(*launch.notes, *notes))
    except ValueError as error:
        paths = " and ".join(name for name, _ in named if name not in ("the config", "the flags"))
        raise ValueError(f"{paths}: {error}" if paths else str(error)) from None


def _with_line_over_file(
    read: list[tuple[str, dict[str, Any], bool]],
) -> tuple[list[tuple[str, Settings]], list[str]]:
    """The configs, one command line and the one file of settings that it starts made one."""
    lines = [at for at, (_, _, is_line) in enumerate(read) if is_line]
    files = [at for at, (_, found, _) in enumerate(read) if at not in lines and not _beside(found)]
    named = [(name, Settings(found)) for name, found, _ in read]
    if len(lines) != 1 or len(files) != 1:
        return named, []
    (line,), (file,) = lines, files
    made, notes = overlaid(read[file][1], read[line][1])
    named[file] = (f"{read[file][0]} with {read[line][0]}", Settings(made))
    return [one for at, one in enumerate(named) if at != line], notes


def _beside(found: dict[str, Any]) -> bool:
    """Whether a file is that of a launcher: accelerate's, or DeepSpeed's own."""
    kinds = [one for one in TOOLS.values() if any(_has(Settings(found), s) for s in one.signs)]
    return bool(kinds) and {one.name for one in kinds} <= BESIDE


def _main(known: list[Format]) -> int:
    """Which of several configs is the script's, and the others those of its launcher."""
    own = [at for at, one in enumerate(known) if one.name not in BESIDE]
    own = own or [at for at, one in enumerate(known) if one.name == "deepspeed"]
    own = own or list(range(len(known)))
    names = [one.name for one in known]
    if len(own) > 1 or len(set(names)) < len(names):
        raise ValueError(f"{' and '.join(names)} do not go together: give one config of a script")
    (main,) = own
    if len(known) > 1 and names[main] not in {*SCRIPTS, "deepspeed"}:
        raise ValueError(f"{names[main]} takes nothing from a second config")
    return main


def _recognised(name: str, given: Settings, tool: str | None) -> Format:
    """The one tool whose config this is."""
    if tool is not None:
        return TOOLS[tool]
    found = [one for one in TOOLS.values() if any(_has(given, sign) for sign in one.signs)]
    covered = {name for one in found for name in one.covers}
    found = [one for one in found if one.name not in covered]
    if len(found) > 1:
        raise ValueError(
            f"{name}: it has the signs of {' and of '.join(one.name for one in found)}: which of "
            "them reads it? say tool= (--tool)"
        )
    if not found:
        raise ValueError(_unknown(name, given))
    (one,) = found
    if foreign := sorted((WORDS & given.values.keys()) - one.words):
        owners = _owners(foreign[0])
        raise ValueError(
            f"{name}: it looks like {one.name}, and {foreign[0]} is a word of "
            f"{', '.join(owners)}: take it out, or say tool= (--tool)"
        )
    if one.name not in STAGED:
        return one
    try:
        return TOOLS[_stage(one, given)]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _stage(one: Format, given: Settings) -> str:
    """The reader of the stage that a script or a name shows; completions are counted as such."""
    if one.name == "grpo":
        return "rloo" if "rloo" in (given.get(PROGRAM) or ()) else "grpo"
    return trl_stage(given) or one.name


def _owners(word: str) -> list[str]:
    """The tools that can be told from others and have this word."""
    return [one.name for one in TOOLS.values() if one.signs and word in one.words]


def _has(given: Settings, sign: tuple[str, ...]) -> bool:
    return all(given.mentions(part) if part == "_component_" else given.has(part) for part in sign)


def _unknown(name: str, given: Settings) -> str:
    if words := sorted(WORDS & given.values.keys()):
        owners = sorted(_owners(words[0]))
        return (
            f"{name}: {words[0]} alone may be of {', '.join(owners)}, or of a trainer that is not "
            "read: where one of them reads it, say tool= (--tool); else give the step "
            "itself: --rows, --accumulation, --data-parallel and --length"
        )
    if isinstance(file := given.first("config"), str):
        return f"{name}: the sizes of its step stand in {file:.80}: give that file beside it"
    keys = (
        " ".join(", ".join(sorted(given.values.keys() - {PROGRAM})[:8]).split()) or "none"
    )  # some hold line ends
    return (
        f"{name}: not a launch config that is understood: none of per_device_train_batch_size "
        "(TrainingArguments), train_micro_batch_size_per_gpu (DeepSpeed), micro_batch_size "
        f"(Megatron, axolotl) and their like is in it; the keys are {keys:.200}"
    )
