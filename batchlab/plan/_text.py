"""Launch configs as people keep them: JSON, YAML, TOML, Python, flags, or the script of a run.

    path, words or mapping  ->  nested mapping of settings

A script is read and not run: its variables are put in, what it computes is left as it stands.
"""

import ast
import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from batchlab import reading
from batchlab.plan._settings import GROUP, PROGRAM, Twice
from batchlab.plan._shell import split, whole, words_of

__all__ = ["Config", "is_line", "settings_of"]

Config = Mapping[str, Any] | Sequence[str] | str | Path
SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch")
SWIFT = re.compile(r"(?:.*/)?swift (pt|sft|rlhf)|.*[ /]swift/cli/(\w+)\.py", re.DOTALL)
DEEPEST = 20  # sections inside sections; what is deeper is no setting


def settings_of(config: Config) -> tuple[str, dict[str, Any]]:
    """Name and settings of one config; text is a path, or flags where it begins with a dash."""
    if isinstance(config, str) and not config.lstrip().startswith("-"):
        config = Path(config)
    if isinstance(config, Path):
        return str(config), _nested(_of_file(config), str(config))
    if isinstance(config, str):
        return "the flags", _nested(_of_words(split(config)), "the flags")
    if isinstance(config, Mapping):
        return "the config", _nested(config, "the config")
    if not all(isinstance(word, str) for word in config):
        raise ValueError("flags must be a list of words")
    return "the flags", _nested(_of_words(config), "the flags")


def is_line(config: Config) -> bool:
    """Whether a config is a command line or a script with one, and not a file of settings."""
    if isinstance(config, str) and config.lstrip().startswith("-"):
        return True
    if isinstance(config, str | Path):
        path = Path(config)
        settings = path.suffix in (".yaml", ".yml", ".toml", ".py")
        return path.suffix in SCRIPTS or (not settings and _of_shell(reading.text_of(path)))
    return not isinstance(config, Mapping)


def _of_shell(text: str) -> bool:
    return text.lstrip().startswith(("#!", "-"))


def _of_file(path: Path) -> Mapping[Any, Any]:
    if not path.exists():
        raise ValueError(f"{path}: no such config file")
    text = reading.text_of(path)
    if path.suffix in (".yaml", ".yml"):
        found = _of_yaml(text, path)
    elif path.suffix == ".toml":
        import tomllib

        try:
            found = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not TOML ({_first_line(error)})") from None
    elif path.suffix == ".py":
        found = _of_python(text, path)
    elif path.suffix in SCRIPTS or _of_shell(text):
        try:
            return _of_words(words_of(text))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    elif path.suffix in (".json", ""):
        try:
            found = reading.parsed(text, unique_names=True)
        except reading.NotJson as error:
            raise ValueError(f"{path}, line {error.line}: {error}") from None
    else:
        raise ValueError(
            f"{path}: configs are read from .json, .yaml, .toml, .py, .sh, or a file of flags"
        )
    if not isinstance(found, Mapping):
        raise ValueError(f"{path}: a mapping of settings is needed, got {reading.shown(found)}")
    return found


def _of_python(text: str, path: Path) -> dict[str, Any]:
    """What a file of settings gives its names, as nanoGPT has them; nothing of it is run."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{path}: not Python ({_first_line(error)})") from None
    found: dict[str, Any] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(name := node.targets[0], ast.Name):
            found.pop(name.id, None)
            if isinstance(node.value, ast.Constant):
                found[name.id] = node.value.value
            else:
                with contextlib.suppress(ValueError, ZeroDivisionError, RecursionError):
                    found[name.id] = whole(node.value, {k: str(v) for k, v in found.items()})
    return found


def _of_yaml(text: str, path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise ValueError(f"{path}: reading YAML needs the package pyyaml") from None
    try:
        _refuse_repeated(yaml.compose(text, Loader=yaml.SafeLoader), path)
        loader: Any = type("Loader", (yaml.SafeLoader,), {})
        loader.add_multi_constructor("!", lambda *_: None)  # !include of another file: not read
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        why = getattr(error, "problem", None) or _first_line(error)
        raise ValueError(f"{path}{where}: not YAML ({why})") from None
    except _Repeated as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # its constructors of dates and numbers raise what they like
        raise ValueError(f"{path}: not YAML ({_first_line(error)})") from None


class _Repeated(Exception):
    """A mapping that names a setting twice."""


def _refuse_repeated(root: Any, path: Path) -> None:
    """YAML forbids a name twice in one mapping; its reader takes the last one silently."""
    waiting, seen = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or node is None or isinstance(node.value, str):
            continue
        seen.add(id(node))
        names: set[str] = set()
        for item in node.value:
            key, value = item if isinstance(item, tuple) else (None, item)
            waiting.append(value)
            if key is not None and isinstance(key.value, str) and key.value != "<<":
                if key.value in names:
                    line = key.start_mark.line + 1
                    raise _Repeated(f"{path}, line {line}: {key.value!r} stands there twice")
                names.add(key.value)


def _nested(found: Mapping[Any, Any], name: str) -> dict[str, Any]:
    """Names without dashes; a name with dots is taken apart into its sections."""
    for key in found:
        if not isinstance(key, str):
            raise ValueError(f"{name}: a setting is a word, got {reading.shown(key)}")
    section: dict[str, Any] = _section(found, name, {}, 0)
    return section


def _section(found: Mapping[Any, Any], name: str, made: dict[int, Any], depth: int) -> Any:
    """One section; `made` holds those that are there already, as YAML may repeat one by name."""
    if id(found) in made or depth > DEEPEST:
        return made.get(id(found), {})
    settings = made[id(found)] = {}
    for key, value in found.items():
        if not isinstance(key, str):
            continue  # inside a section: a table of labels, and no setting
        if isinstance(value, Mapping):
            value = _section(value, name, made, depth + 1)
        *sections, last = key.lstrip("-+~").replace("-", "_").split(".")
        inside: Any = settings
        for section in sections:
            inside = inside.setdefault(section, {})
            if not isinstance(inside, dict):
                raise ValueError(f"{name}: {section} is a value and a section ({key:.80})")
        inside[last] = inside[last] | value if _both_sections(inside.get(last), value) else value
    return settings


def _both_sections(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and isinstance(other, dict)


def _of_words(words: Iterable[str]) -> dict[str, Any]:
    """--name value, --name=value and name.inside=value; a flag without a value is True."""
    found: dict[str, list[Any]] = {}
    programs: list[str] = []
    name = before = None
    for word in words:
        started, before = _program(word, before), word
        if started:
            programs.append(started)
            name = None
            continue
        if re.match(r"--?[A-Za-z]", word):
            name, _, value = word.lstrip("-").partition("=")
            name = name.replace("-", "_")
            found.setdefault(name, []).append([value] if value else [])
            name = None if value else name
        elif setting := _setting(word, alone=name is None):
            found.setdefault(setting[1], []).append([setting[2]])
            name = None
        elif name is not None:
            found[name][-1].append(word)
    settings = {
        f"{name}.{GROUP}" if any(one.startswith(f"{name}.") for one in found) else name: _one_of(
            name, values
        )
        for name, values in found.items()
    }
    return settings | ({PROGRAM: tuple(programs)} if programs else {})


def _setting(word: str, *, alone: bool) -> re.Match[str] | None:
    """name=value; behind a flag it is one of its values, unless the name has a section."""
    sections = "*" if alone else "+"
    return re.fullmatch(rf"[+~]*([A-Za-z_]\w*(?:\.\w+){sections})=(.*)", word, re.DOTALL)


def _program(word: str, before: str | None) -> str | None:
    """The name of what a word starts: a script, a module after -m, a command after trl or swift."""
    if before == "trl" and word.isidentifier():
        return word
    if swift := SWIFT.fullmatch(f"{before} {word}"):
        return f"swift_{swift[1] or swift[2]}"
    if before == "-m" or re.match(r"\w+\.cli\.\w+$", word):
        return word.rpartition(".")[2]
    script = re.fullmatch(r"(?:.*/)?(\w+)\.py", word)
    return script[1] if script else None


def _one_of(name: str, values: list[list[str]]) -> Any:
    plain = [True if not v else v[0] if len(v) == 1 else tuple(v) for v in values]
    different = [value for at, value in enumerate(plain) if value not in plain[:at]]
    return different[0] if len(different) == 1 else Twice(different)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
