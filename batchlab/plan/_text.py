"""Launch configs as people keep them: JSON, YAML, TOML, flags, or the script that starts a run.

    path, words or mapping  ->  nested mapping of settings

A script is read and not run: its variables are put in, what it computes is left as it stands.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from batchlab import reading
from batchlab.plan._settings import PROGRAM, Twice

__all__ = ["Config", "is_line", "settings_of"]

Config = Mapping[str, Any] | Sequence[str] | str | Path
SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch")
LONGEST_SCRIPT = 200_000
DEEPEST = 20  # sections inside sections; what is deeper is no setting


def settings_of(config: Config) -> tuple[str, dict[str, Any]]:
    """Name and settings of one config; text is a path, or flags where it begins with a dash."""
    if isinstance(config, str) and not config.lstrip().startswith("-"):
        config = Path(config)
    if isinstance(config, Path):
        return str(config), _nested(_of_file(config), str(config))
    if isinstance(config, str):
        return "the flags", _nested(_of_words(_split(config)), "the flags")
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
        settings = path.suffix in (".yaml", ".yml", ".toml")
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
    elif path.suffix in SCRIPTS or _of_shell(text):
        try:
            return _of_words(_of_script(text))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    elif path.suffix in (".json", ""):
        try:
            found = reading.parsed(text, unique_names=True)
        except reading.NotJson as error:
            raise ValueError(f"{path}, line {error.line}: {error}") from None
    else:
        raise ValueError(
            f"{path}: configs are read from .json, .yaml, .toml, .sh, or a file of flags"
        )
    if not isinstance(found, Mapping):
        raise ValueError(f"{path}: a mapping of settings is needed, got {reading.shown(found)}")
    return found


def _of_yaml(text: str, path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise ValueError(f"{path}: reading YAML needs the package pyyaml") from None
    try:
        _refuse_repeated(yaml.compose(text, Loader=yaml.SafeLoader), path)
        return yaml.safe_load(text)
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
        if started := _program(word, before):
            programs.append(started)
        before = word
        if re.match(r"--?[A-Za-z]", word):
            name, _, value = word.lstrip("-").partition("=")
            name = name.replace("-", "_")
            found.setdefault(name, []).append([value] if value else [])
            name = None if value else name
        elif setting := re.match(r"[+~]*([A-Za-z_]\w*(?:\.\w+)+)=(.*)", word, re.DOTALL):
            found.setdefault(setting[1], []).append([setting[2]])
            name = None
        elif name is not None:
            found[name][-1].append(word)
    settings = {name: _one_of(name, values) for name, values in found.items()}
    return settings | ({PROGRAM: tuple(programs)} if programs else {})


def _program(word: str, before: str | None) -> str | None:
    """The name of what a word starts: a script, a module after -m, a command after trl."""
    if before == "trl" and word.isidentifier():
        return word
    if before == "-m":
        return word.rpartition(".")[2]
    script = re.fullmatch(r"(?:.*/)?(\w+)\.py", word)
    return script[1] if script else None


def _one_of(name: str, values: list[list[str]]) -> Any:
    plain = [True if not v else v[0] if len(v) == 1 else tuple(v) for v in values]
    different = [value for at, value in enumerate(plain) if value not in plain[:at]]
    return different[0] if len(different) == 1 else Twice(different)


ASSIGNED = re.compile(
    r"""(?:^|(?<=\s))(?P<name>[A-Za-z_]\w*)=(?:
        \((?P<array>[^)]*)\) | "(?P<quoted>(?:[^"\\]|\\.)*)" | '(?P<plain>[^']*)' |
        (?P<word>[^\s;\#]*)
    )""",
    re.DOTALL | re.VERBOSE,
)
USED = re.compile(r"\$(?:(\w+)|\{(\w+)(?:\[@\]|\[\*\])?(?::?-([^}$]*))?\})")


def _of_script(text: str) -> list[str]:
    """The words of all commands of a shell script, with its own variables put in."""
    if len(text) > LONGEST_SCRIPT:
        raise ValueError(f"a script of more than {LONGEST_SCRIPT:,} characters")
    text = re.sub(r"\\\r?\n", " ", text)
    text = re.sub(r"(^|\s)#[^\n]*", r"\1", text).replace(";", "\n")
    text = re.sub(r'"(\$\{\w+\[@\]\})"', r"\1", text)  # an array in quotes is several words
    values: dict[str, str] = {}
    words: list[str] = []
    at = 0
    for assigned in ASSIGNED.finditer(text):
        words += _split(_put_in(text[at : assigned.start()], values))
        parts = ("array", "quoted", "plain", "word")
        value = next(assigned[part] for part in parts if assigned[part] is not None)
        values[assigned["name"]] = _put_in(" ".join(value.split()), values)
        at = assigned.end()
    return words + _split(_put_in(text[at:], values))


def _put_in(piece: str, values: Mapping[str, str]) -> str:
    """A piece of a script with what is known of its variables; products are multiplied out."""

    def value(match: re.Match[str]) -> str:
        return values.get(match[1] or match[2], match[0] if match[3] is None else match[3])

    def product(match: re.Match[str]) -> str:
        factors = [values.get(one.strip(), one.strip()) for one in match[1].split("*")]
        if all(re.fullmatch("[0-9]{1,9}", one) for one in factors):
            return str(prod(map(int, factors)))
        return match[0]

    if sum(len(value(match)) for match in USED.finditer(piece)) > LONGEST_SCRIPT:
        raise ValueError(f"its variables make a script of more than {LONGEST_SCRIPT:,} characters")
    return re.sub(r"\$\(\(([\w\s*]{1,200})\)\)", product, USED.sub(value, piece))


def _split(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"not a command line ({error})") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]
