"""Build: a reader of launch configs. What cannot be known is refused, by name."""

from math import prod

from batchlab.exercises import Exercise
from batchlab.exercises.effective import near, offers_none
from batchlab.exercises.effective.replicas import replicas

SIGNS = {  # as on the page
    "TrainingArguments": ["per_device_train_batch_size"],
    "DeepSpeed": ["train_batch_size", "train_micro_batch_size_per_gpu"],
    "Megatron": ["tensor_model_parallel_size"],
    "axolotl": ["base_model"],
}
hf = {"rows": "per_device_train_batch_size", "accumulation": "gradient_accumulation_steps"}
WORDS = {
    "TrainingArguments": hf,
    "DeepSpeed": {**hf, "rows": "train_micro_batch_size_per_gpu", "whole": "train_batch_size"},
    "Megatron": {
        "rows": "micro_batch_size",
        "whole": "global_batch_size",
        "tensor": "tensor_model_parallel_size",
        "context": "context_parallel_size",
        "pipeline": "pipeline_model_parallel_size",
    },
    "axolotl": {
        **hf,
        "rows": "micro_batch_size",
        "tensor": "tensor_parallel_size",
        "context": "context_parallel_size",
    },
}


def read_launch(config, devices):
    """(rows, accumulation, replicas) of a launch config, or a ValueError that names what is open."""
    tools = [tool for tool, signs in SIGNS.items() if any(sign in config for sign in signs)]
    if len(tools) != 1:
        raise ValueError(f"no tool or several: {tools}; the keys are {', '.join(config)}")
    if tools == ["axolotl"] and config.get("sample_packing"):
        raise ValueError("sample_packing: micro_batch_size is a budget of tokens")
    words, said = WORDS[tools[0]], {}
    for what, key in words.items():
        said[what] = config.get(key)
        if key in config and (type(said[what]) is not int or said[what] < 1):
            raise ValueError(f"{key} is {said[what]!r}, not a whole number of at least 1")
    degrees = (said.get(what) or 1 for what in ("tensor", "pipeline", "context"))
    copies = replicas(devices, *degrees)
    rows, accumulation, whole = (said.get(what) for what in ("rows", "accumulation", "whole"))
    if rows is None and tools != ["DeepSpeed"]:
        raise ValueError(f"{words['rows']} is missing")
    if whole is not None and (rows is None or accumulation is None):
        part = (rows or accumulation or 1) * copies
        if whole % part:
            below = whole // part * part
            near = f"{below} and {below + part}" if below else f"{part}"
            raise ValueError(f"a whole of {whole} does not divide; the nearest: {near}")
        rows, accumulation = (rows, whole // part) if rows else (whole // part, accumulation or 1)
    if rows is None:
        raise ValueError(f"{words['rows']} is missing")
    accumulation = accumulation or 1
    follows = rows * accumulation * copies
    if whole not in (None, follows):
        raise ValueError(f"a whole of {whole} is written, {follows} follows")
    return rows, accumulation, copies


def written(tool, rows, accumulation, copies, degrees=(1, 1, 1)):
    """The config of a tool that says this, and its devices."""
    tensor, pipeline, context = degrees if tool == "Megatron" else (degrees[0], 1, degrees[2])
    whole = rows * accumulation * copies
    values = {"rows": rows, "accumulation": accumulation, "whole": whole}
    values |= {"tensor": tensor, "pipeline": pipeline, "context": context}
    config = {"base_model": "a"} if tool == "axolotl" else {}
    config |= {key: values[what] for what, key in WORDS[tool].items()}
    one = tensor * pipeline * context if tool in ("Megatron", "axolotl") else 1
    return config, copies * one


def drawn(rng):
    """Each tool, what DeepSpeed may leave out, keys to be ignored; then what is to be refused."""
    for _ in range(8):
        rows, accumulation, copies, *degrees = (int(v) for v in rng.integers(2, 12, 6))
        for tool, words in WORDS.items():
            config, devices = written(tool, rows, accumulation, copies, degrees)
            yield {**config, "learning_rate": 3e-4, "max_steps": -1}, devices
            strange = {key for some in WORDS.values() for key in some.values()}
            strange -= {*words.values(), *(sign for signs in SIGNS.values() for sign in signs)}
            yield {**config, str(rng.choice(sorted(strange))): None}, devices
            bad = ("8", 8.0, True, None, [4], 0, -int(rng.integers(1, 99)), "auto", 2.5)
            for key in words.values():
                yield {**config, key: bad[int(rng.integers(len(bad)))]}, devices
        deep, devices = written("DeepSpeed", rows, accumulation, copies)
        for left in [*deep]:
            yield {key: value for key, value in deep.items() if key != left}, devices
        yield {**deep, "train_batch_size": deep["train_batch_size"] + 1}, devices
        yield {**deep, "train_batch_size": deep["train_batch_size"] - 1}, devices
        yield {**deep, "gradient_accumulation_steps": 1}, devices
        for whole in (deep["train_batch_size"] + 1, int(rng.integers(1, rows * copies))):
            yield {"train_batch_size": whole, "train_micro_batch_size_per_gpu": rows}, devices
            mega = {"micro_batch_size": rows, "tensor_model_parallel_size": 1}
            yield {**mega, "global_batch_size": whole}, devices
        config, devices = written("Megatron", rows, accumulation, copies, degrees)
        del config["global_batch_size"]
        yield config, devices
        yield config, 2 * devices
        yield config, devices + 1
    yield {}, 8
    large = {"train_batch_size": 70_001 * 80_021 * 90_001, "train_micro_batch_size_per_gpu": 70_001}
    yield {**large, "gradient_accumulation_steps": 80_021}, 90_001
    yield {**large, "train_batch_size": 4_200_001, "train_micro_batch_size_per_gpu": 500}, 400


def mentions(config, devices):
    """What the refusal of a config must name."""
    tools = [tool for tool, signs in SIGNS.items() if {*signs} & {*config}]
    if len(tools) != 1:
        signs = [sign for tool in tools for sign in SIGNS[tool] if sign in config]
        return tuple(signs or config)
    (tool,), words = tools, WORDS[tools[0]]
    if tool == "axolotl" and config.get("sample_packing"):
        return ("sample_packing",)
    bad = [k for k in words.values() if k in config and not _counts(config[k])]
    if bad or words["rows"] not in config and tool != "DeepSpeed":
        return (bad or [words["rows"]])[:1]
    said = {what: config.get(key) for what, key in words.items()}
    one = prod(said.get(what) or 1 for what in ("tensor", "pipeline", "context"))
    if devices % one:
        return near(devices, one)
    part = (said["rows"] or 1) * (said.get("accumulation") or 1) * (devices // one)
    all_three = said["rows"] and said.get("accumulation")
    return (said["whole"], part) if all_three else near(said["whole"], part)


def _counts(value):
    return type(value) is int and value > 0


def misnamed(said, config, devices):
    named = mentions(config, devices)
    if len(named) == 1 and type(named[0]) is int and offers_none(said, named[0]):
        return "0 sequences are no offer: name only the whole above"
    return ""


RUN_A = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 8}
RUN_B = {"micro_batch_size": 4, "global_batch_size": 256, "tensor_model_parallel_size": 8}
DEEP = {"train_batch_size": 256, "train_micro_batch_size_per_gpu": 4}
AXOLOTL = {
    "base_model": "a",
    "micro_batch_size": 2,
    "gradient_accumulation_steps": 8,
    "tensor_parallel_size": 2,
    "sample_packing": False,
}
exercise = Exercise(
    read_launch,
    points=3,
    given=("SIGNS", "WORDS", "replicas"),
    hints=(
        "which of rows, accumulation and whole does the tool write, and which follows?",
        "first the tool, then the values, then the replicas, then the one that is missing",
        "with two of the three: the third is whole / (the other x replicas), if nothing is left",
    ),
    asked=lambda config, devices: f"{config} on {devices} GPUs",
    parts=("rows", "accumulation", "replicas"),
    mentions=mentions,
    misnamed=misnamed,
    shown=[
        (RUN_A, 64),
        ({**AXOLOTL, "context_parallel_size": 3}, 12),
        (RUN_B, 64),
        ({"train_batch_size": 512, "gradient_accumulation_steps": 4}, 16),
        ({"train_batch_size": 48}, 16),
        ({**RUN_A, "tensor_parallel_size": 2, "pipeline_model_parallel_size": None}, 64),
        ({**RUN_A, "sample_packing": True}, 64),
        ({"train_batch_size": 90, "gradient_accumulation_steps": 3}, 16),
        ({"micro_batch_size": 4, "tensor_model_parallel_size": 1, "global_batch_size": 15}, 8),
        ({**DEEP, "gradient_accumulation_steps": 8}, 16),
        ({**DEEP, "gradient_accumulation_steps": 1}, 16),
        ({"batch_size": 2, "gradient_accumulation_steps": 16}, 4),
        ({**RUN_A, "train_micro_batch_size_per_gpu": 4, "train_batch_size": 8}, 64),
        ({}, 8),
        ({**RUN_A, "gradient_accumulation_steps": "auto"}, 64),
        ({**RUN_A, "gradient_accumulation_steps": 8.0}, 64),
        ({**RUN_A, "gradient_accumulation_steps": True}, 64),
        ({**RUN_A, "gradient_accumulation_steps": None}, 64),
        ({**RUN_A, "gradient_accumulation_steps": 0}, 64),
        ({"base_model": "a", "gradient_accumulation_steps": 8}, 64),
        ({"base_model": "a", "micro_batch_size": 2, "sample_packing": True}, 8),
    ],
    drawn=drawn,
    passed="Right: four tools, one equation, and what cannot be known is refused, by name.",
)
TOOLS, DIVIDE, LAST = "if len(tools) != 1:", "if whole % part:", "if whole not in (None, follows):"
PARTS, COPIES = "(rows or accumulation or 1) * copies", "copies = replicas(devices, *degrees)"
SAID, VALUE = "        said[what] = config.get(key)\n", "type(said[what]) is not int or "
OPEN = "if whole is not None and (rows is None or accumulation is None):"
WHICH, PACKED = "    words, said = ", 'if tools == ["axolotl"] and config.get("sample_packing"):'
ALL = "if None not in (said['rows'], said.get('accumulation'), whole) and whole != follows:"
MISSING = """    if rows is None and tools != ["DeepSpeed"]:
        raise ValueError(f"{words['rows']} is missing")
"""
for _thought, *_changes in [
    (
        "accumulation forgotten: it is written there",
        (OPEN, "accumulation = None\n    " + OPEN),
        (LAST, "if False:"),
    ),
    (
        "a GPU is not a replica: the degrees divide",
        (COPIES, "copies = devices"),
    ),
    (
        "the accumulation is 1 only where nothing decides it: here the whole does",
        (OPEN, "if whole is not None and rows is None:"),
        (LAST, ALL),
    ),
    (
        "the replicas are forgotten: each takes its own rows",
        (PARTS, "(rows or (accumulation or 1) * copies)"),
        (LAST, ALL),
    ),
    (
        "the whole is taken for the accumulation",
        (OPEN, "accumulation = accumulation or whole\n    " + OPEN),
        (LAST, "if False:"),
    ),
    (
        "train_batch_size is the whole step, not the micro-batch",
        (OPEN, "if rows is None:\n        rows, whole = whole, None\n    " + OPEN),
    ),
    (
        "divided by accumulation only: 16 replicas share the whole",
        (PARTS, "(rows * copies if rows else accumulation or copies)"),
        (LAST, ALL),
    ),
    (
        "divided by the replicas only: accumulation is 4",
        (PARTS, "(rows or 1) * copies"),
        (LAST, ALL),
    ),
    (
        "the accumulation is 1 where nothing decides it: the rows follow",
        (OPEN, "if rows is None and accumulation is None:\n        rows = 1\n    " + OPEN),
    ),
    (
        "axolotl writes its degrees in words of its own: tensor_parallel_size",
        (
            "    degrees = ",
            "    said |= {w: config.get(k) for w, k in WORDS['Megatron'].items() if w in ('tensor', 'context', 'pipeline')}\n    degrees = ",
        ),
    ),
    (
        "context forgotten: axolotl writes context_parallel_size",
        ('"pipeline", "context"', '"pipeline"'),
        (COPIES, "copies = replicas(devices, *degrees, 1)"),
    ),
    (
        "keys of another tool count: ignore what is not among the WORDS of this one",
        (WHICH, "    WORDS_ = {**WORDS['axolotl'], **WORDS[tools[0]]}\n" + WHICH),
        ("WORDS[tools[0]], {}\n    for", "WORDS_, {}\n    for"),
    ),
    (
        "values of ignored keys are judged: look at the WORDS of the tool alone",
        (
            "    degrees = ",
            "    for some in WORDS.values():\n"
            "        for key in some.values():\n"
            "            if key in config and type(config[key]) is not int:\n"
            "                raise ValueError(key)\n"
            "    degrees = ",
        ),
    ),
    (
        "sample_packing is a key of axolotl: other tools ignore it",
        (PACKED, 'if config.get("sample_packing"):'),
    ),
    (
        "sample_packing is false there: nothing is open",
        (PACKED, 'if tools == ["axolotl"] and "sample_packing" in config:'),
    ),
    ("a silent floor: refuse a whole that does not divide", (DIVIDE, "if False:"), (LAST, ALL)),
    (
        "rounded: refuse a whole that does not divide",
        (DIVIDE, "if False:"),
        (
            "(rows, whole // part) if rows else (whole // part,",
            "(rows, round(whole / part)) if rows else (round(whole / part),",
        ),
        (LAST, ALL),
    ),
    (
        "at least one micro-batch: too small a whole is refused, too",
        (DIVIDE, "if whole % part and whole > part:"),
        ("whole // part) if rows", "whole // part or 1) if rows"),
        (LAST, ALL),
    ),
    ("a contradiction is not seen: compare the whole with what follows", (LAST, "if False:")),
    (
        "a 1 is written, which is not the same as not written",
        (OPEN, "accumulation = None if whole and accumulation == 1 else accumulation\n    " + OPEN),
    ),
    (
        "no tool shows its sign: refuse, and name every key of the config",
        (TOOLS, "tools = tools or ['Megatron']\n    if len(tools) != 1:"),
        (MISSING, "    if rows is None and tools != ['DeepSpeed']:\n        rows = 1\n"),
    ),
    (
        "two tools: nobody knows which of them runs; refuse, and name every sign",
        (TOOLS, "if not tools:"),
    ),
    (
        "an empty config shows no sign, either: refuse",
        (TOOLS, "if not config:\n        return 1, 1, devices\n    if len(tools) != 1:"),
    ),
    (
        'another tool fills in "auto" later: refuse it, and name its key',
        (
            SAID,
            "        said[what] = config.get(key)\n        if said[what] == 'auto':\n            said[what] = None\n            continue\n",
        ),
    ),
    (
        "no int, and taken for one by int(): refuse it, and name its key",
        (VALUE, "isinstance(said[what], bool | str | None) or said[what] % 1 or "),
        (
            "    return rows, accumulation, copies",
            "    return int(rows), int(accumulation), copies",
        ),
    ),
    (
        "True is an int for isinstance: a yes is no count",
        (VALUE, "not isinstance(said[what], int) or "),
    ),
    (
        "null is written, which is not the same as not written: refuse it",
        ("if key in config and (", "if said[what] is not None and ("),
    ),
    (
        "0 is written, which is not the same as not written: refuse it",
        ("said[what] < 1)", "said[what] < 0)"),
    ),
    (
        "rows that are missing are 1 for nobody: name the key that is missing",
        (MISSING, "    if rows is None and tools != ['DeepSpeed']:\n        rows = 1\n"),
    ),
    (
        "with sample_packing a micro-batch of axolotl is a budget of tokens: refuse",
        (PACKED, "if False:"),
    ),
]:
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    (
        "floats: a count is an int",
        "a count is an int",
        (
            "(rows, whole // part) if rows else (whole // part,",
            "(rows, whole / part) if rows else (whole / part,",
        ),
    ),
    ("0 sequences are no offer: name only the whole above", "", ("if below else", "if True else")),
    ("a refusal without neighbours", "without 48", ("; the nearest: {near}", "")),
    (
        "not every sign is named",
        "the message",
        (
            TOOLS,
            "if len(tools) > 1:\n        raise ValueError(f'the signs of {tools}: {SIGNS[tools[0]][0]}')\n    if not tools:",
        ),
    ),
    ("changes the config", "changed", (SAID, "        said[what] = config.pop(key, None)\n")),
]:
    exercise.edit(_thought, _changes, says=_says)


def exact(whole, part):
    if whole % part:
        below = whole // part * part
        raise ValueError(f"{whole}: {f'{below:,} or ' if below else ''}{below + part:,}")
    return whole // part


@exercise.style
def case_by_case(config, devices):
    """case by case, as a list"""
    tools = [tool for tool in SIGNS if set(SIGNS[tool]) & set(config)]
    if not tools:
        raise ValueError(f"no tool writes {sorted(config)}")
    if len(tools) > 1:
        raise ValueError(f"signs of {tools}: {sorted(config)}")
    if tools == ["axolotl"] and config.get("sample_packing"):
        raise ValueError("sample_packing: rows are a budget of tokens")
    words = WORDS[tools[0]]
    for key in set(words.values()) & set(config):
        if type(config[key]) is not int or config[key] < 1:
            raise ValueError(f"{key}: {config[key]!r}")
    said = {what: config.get(key) for what, key in words.items()}
    degrees = [said.get(name) or 1 for name in ("tensor", "pipeline", "context")]
    n = replicas(devices, *degrees)
    rows = said["rows"]
    accumulation, whole = said.get("accumulation"), said.get("whole")
    if rows is None:
        if tools[0] != "DeepSpeed":
            raise ValueError(f"{words['rows']} is not written")
        accumulation = accumulation or 1
        rows = exact(whole, accumulation * n)
    elif accumulation is None:
        accumulation = exact(whole, rows * n) if whole else 1
    if whole and rows * accumulation * n != whole:
        raise ValueError(f"{whole} is written, {rows * accumulation * n} follows")
    return [rows, accumulation, n]


exercise.styles["the replicas by the library"] = lambda: exercise.text.replace(
    "    copies = replicas(devices, *degrees)",
    "    from batchlab import plan\n\n"
    "    degrees = dict(zip(('tensor', 'pipeline', 'context'), degrees))\n"
    "    copies = plan.data_parallel_degree(devices, **degrees)",
)
