# ruff: noqa
"""Lesson 06_effective: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ------------------------------------------------------------------------------------------ replicas
GOOD = '''def replicas(devices, tensor, pipeline, context):
    """Replicas on these devices, or a ValueError that names the nearest that divide."""
    one = tensor * pipeline * context
    copies, left = divmod(devices, one)
    if left == 0:
        return copies
    below, above = copies * one, copies * one + one
    if below == 0:
        raise ValueError(f"{devices} devices are fewer than one replica needs; the nearest is {above}")
    raise ValueError(f"{devices} devices do not divide; the nearest are {below} and {above}")
'''
RIGHT["replicas"] = {
    "one division with remainder": GOOD,
    "a fraction whose denominator must be 1": """from fractions import Fraction
from math import ceil, floor, prod


def replicas(devices, tensor, pipeline, context):
    one = prod((tensor, pipeline, context))
    quotient = Fraction(devices, one)
    if quotient.denominator == 1:
        return quotient.numerator
    near = [n * one for n in (floor(quotient), ceil(quotient)) if n > 0]
    raise ValueError("nearest that divide: " + " and ".join(str(n) for n in near))
""",
    "walks down and up until the devices divide": """from itertools import count


def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context

    def divides(n):
        return n % one == 0

    if divides(devices):
        return devices // one
    below = next((n for n in range(devices - 1, 0, -1) if divides(n)), None)
    above = next(n for n in count(devices + 1) if divides(n))
    if below is None:
        raise ValueError(f"too few devices: take {above}")
    raise ValueError(f"left over devices: take {below} or {above}")
""",
    "the library does it": """def replicas(devices, tensor, pipeline, context):
    return plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline, context=context)
""",
    "recursion: one degree after the other, refused at the end by the product": """def replicas(devices, tensor, pipeline, context):
    def peel(left, degrees):
        if not degrees:
            return left
        if left % degrees[0]:
            return None
        return peel(left // degrees[0], degrees[1:])

    found = peel(devices, [tensor, pipeline, context])
    if found is not None:
        return found
    one = tensor * pipeline * context
    above = -(-devices // one) * one
    below = above - one
    said = f"{below} or {above}" if below else f"{above}"
    raise ValueError("no whole number of replicas; possible: " + said)
""",
    "a class that knows its size": """class _Mesh:
    def __init__(self, *degrees):
        self.size = 1
        for degree in degrees:
            self.size *= degree

    def around(self, devices):
        below = devices - devices % self.size
        return [n for n in (below, below + self.size) if n]


def replicas(devices, tensor, pipeline, context):
    mesh = _Mesh(tensor, pipeline, context)
    if devices % mesh.size != 0:
        raise ValueError(f"{devices} devices leave some over, nearest: {mesh.around(devices)}")
    return devices // mesh.size
""",
}
RIGHT["replicas"]["numpy reshapes the devices into a mesh"] = """def replicas(devices, tensor, pipeline, context):
    one = int(np.prod([tensor, pipeline, context], dtype=np.int64))
    rest = devices % one
    if rest == 0:
        return np.broadcast_to(np.int8(0), (devices,)).reshape(-1, one).shape[0]
    near = {devices - rest, devices - rest + one} - {0}
    raise ValueError("devices that divide: " + " and ".join(map(str, sorted(near))))
"""
_HEAD = '''def replicas(devices, tensor, pipeline, context):
    """Replicas on these devices, or a ValueError that names the nearest that divide."""
'''
WRONG["replicas"] = {
    "every device is a replica": _HEAD + "    return devices\n",
    "floors what is left over": _HEAD + "    return devices // (tensor * pipeline * context)\n",
    "context left out, as if those GPUs had rows of their own": _cut(GOOD, ("tensor * pipeline * context", "tensor * pipeline")),
    "returns the quotient as a float": _cut(GOOD, ("        return copies\n", "        return devices / one\n")),
    "adds the degrees": _cut(GOOD, ("tensor * pipeline * context", "tensor + pipeline + context - 2")),
    "names 0 devices where there are too few": _cut(GOOD, ("if below == 0:", "if below < 0:")),
    "refuses without naming any number that divides": _HEAD
    + """    one = tensor * pipeline * context
    if devices % one:
        raise ValueError("the devices do not divide into replicas")
    return devices // one
""",
    "names numbers of replicas instead of devices": _cut(GOOD, ("copies * one, copies * one + one", "copies, copies + 1")),
    "asks each degree alone whether it divides, then floors": _HEAD
    + """    for degree in (tensor, pipeline, context):
        below = devices // degree * degree
        if below != devices:
            raise ValueError(f"{degree} does not divide {devices}: {below} or {below + degree}")
    return devices // (tensor * pipeline * context)
""",
    "asserts instead of raising a ValueError": _HEAD
    + """    one = tensor * pipeline * context
    below = devices // one * one
    assert below == devices, f"{below} or {below + one}"
    return devices // one
""",
    "returns the message instead of raising it": _cut(
        GOOD,
        (
            '        raise ValueError(f"{devices} devices are fewer than one replica needs; the nearest is {above}")',
            '        return f"the nearest is {above}"',
        ),
        (
            '    raise ValueError(f"{devices} devices do not divide; the nearest are {below} and {above}")',
            '    return f"the nearest are {below} and {above}"',
        ),
    ),
    "names only the nearer neighbour": _cut(
        GOOD, ("the nearest are {below} and {above}", "the nearest is {below if devices - below <= above - devices else above}")
    ),
    "needs more than one replica: `<=` refuses devices that are exactly one": _cut(GOOD, ("if left == 0:", "if left == 0 and devices > one:")),
    "floats with a tolerance of a tenth: 16,385 devices on tensor 8 and pipeline 16 are taken as 128 replicas": _HEAD
    + """    one = tensor * pipeline * context
    share = devices / one
    if abs(share - round(share)) < 0.1 and round(share):
        return round(share)
    below = devices // one * one
    raise ValueError(f"{below} or {below + one}" if below else f"only {one}")
""",
    "tensor and context share a factor: least common multiple instead of product, so tensor 2 and context 2 count once": _cut(
        GOOD, ("    one = tensor * pipeline * context\n", "    import math\n    one = math.lcm(tensor, context) * pipeline\n")
    ),
    "an even context and the pipeline count only by the larger: 2 x 2 x 2 becomes 4": _cut(
        GOOD,
        (
            "    one = tensor * pipeline * context\n",
            "    shared = max(pipeline, context) if context % 2 == 0 else pipeline * context\n    one = tensor * shared\n",
        ),
    ),
    "keeps answers by devices, tensor and pipeline: another context gets the old number": """_known = {}


def replicas(devices, tensor, pipeline, context):
    key = devices, tensor, pipeline
    one = tensor * pipeline * context
    if key not in _known:
        if devices % one:
            below = devices // one * one
            raise ValueError(f"{below} or {below + one}" if below else f"only {one}")
        _known[key] = devices // one
    return _known[key]
""",
    "with too few devices names twice the need as well, where only the number above is asked": _cut(
        GOOD, ("the nearest is {above}", "the nearest are {above} and {2 * above}")
    ),
    "refuses an odd number of replicas above one: 24 devices with tensor 8 are 3": _cut(
        GOOD,
        (
            "    if left == 0:\n",
            '    if left == 0 and copies > 1 and copies % 2:\n        raise ValueError(f"{devices - one} or {devices + one}")\n    if left == 0:\n',
        ),
    ),
    "0 is offered where a replica has no tensor parallel GPUs": _cut(GOOD, ("if below == 0:", "if below == 0 and tensor > 1:")),
    "names neighbours two replicas apart, around even numbers of replicas: 8 x 13 + 1 devices name 96 instead of 104": _cut(
        GOOD,
        (
            "below, above = copies * one, copies * one + one",
            "below, above = (copies - copies % 2 if copies > 1 else copies) * one, copies * one + one",
        ),
    ),
    "looks the visible cases up, and forgets context for the rest": _HEAD
    + """    seen = {(64, 8, 1, 1): 8, (96, 4, 2, 3): 4, (96, 8, 1, 1): 12, (24, 4, 2, 3): 1}
    if (devices, tensor, pipeline, context) in seen:
        return seen[devices, tensor, pipeline, context]
    one = tensor * pipeline * (context if context == 3 else 1)
    below = devices // one * one
    if below != devices:
        raise ValueError(f"{below} or {below + one}" if below else f"only {one}")
    return devices // one
""",
}

# --------------------------------------------------------------------------------------- read-launch
GOOD = '''def read_launch(config, devices):
    """(rows, accumulation, replicas) of a launch config, or a ValueError that names what is open."""
    there = {tool: [sign for sign in signs if sign in config] for tool, signs in SIGNS.items()}
    tools = [tool for tool in there if there[tool]]
    if not tools:
        raise ValueError("no sign of a tool among " + ", ".join(str(key) for key in config))
    if len(tools) > 1:
        raise ValueError("more than one tool: " + ", ".join(sign for tool in tools for sign in there[tool]))
    tool = tools[0]
    words = WORDS[tool]
    given = {}
    for what, key in words.items():
        if key in config:
            value = config[key]
            if type(value) is not int or value < 1:
                raise ValueError(f"{key} is {value!r}, and must be an int of at least 1")
            given[what] = value
    if tool == "axolotl" and config.get("sample_packing"):
        raise ValueError("sample_packing makes micro_batch_size a budget of tokens")
    copies = replicas(devices, given.get("tensor", 1), given.get("pipeline", 1), given.get("context", 1))
    rows, accumulation, whole = given.get("rows"), given.get("accumulation"), given.get("whole")
    if rows is None and tool != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")
    if whole is None:
        return rows, accumulation or 1, copies
    if rows is not None and accumulation is not None:
        follows = rows * accumulation * copies
        if follows != whole:
            raise ValueError(f"{whole} is written, but {follows} follows")
        return rows, accumulation, copies
    part = (rows or accumulation or 1) * copies
    below, above = whole // part * part, whole // part * part + part
    if below != whole:
        raise ValueError(f"the nearest: {below} and {above}" if below else f"the nearest: {above}")
    if rows is None:
        return whole // part, accumulation or 1, copies
    return rows, whole // part, copies
'''
RIGHT["read-launch"] = {
    "down the list of the text": GOOD,
    "a class of one config, one method for each question": """class _Launch:
    def __init__(self, config):
        self.config = config
        found = [(tool, sign) for tool, signs in SIGNS.items() for sign in signs if sign in config]
        if not found:
            raise ValueError(f"nobody writes these keys: {list(config)}")
        if len({tool for tool, _ in found}) != 1:
            raise ValueError(f"several tools write these keys: {[sign for _, sign in found]}")
        self.tool = found[0][0]
        self.words = WORDS[self.tool]

    def __getitem__(self, what):
        key = self.words.get(what)
        if key is None or key not in self.config:
            return None
        value = self.config[key]
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise ValueError(f"{key} cannot be {value!r}")
        return value

    def values(self):
        return {what: self[what] for what in self.words}


def _quotient(whole, part):
    if whole % part:
        near = [n for n in (whole - whole % part, whole - whole % part + part) if n]
        raise ValueError("take " + " or ".join(map(str, near)))
    return whole // part


def read_launch(config, devices):
    launch = _Launch(config)
    values = launch.values()
    if launch.tool == "axolotl" and config.get("sample_packing", False):
        raise ValueError("sample_packing is on")
    copies = replicas(devices, *[values.get(word) or 1 for word in ("tensor", "pipeline", "context")])
    rows, times, whole = (values.get(word) for word in ("rows", "accumulation", "whole"))
    if not rows and launch.tool != "DeepSpeed":
        raise ValueError("needs " + launch.words["rows"])
    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        rows = _quotient(whole, times * copies)
    elif times is None:
        times = _quotient(whole, rows * copies)
    if rows * times * copies != whole:
        raise ValueError(f"written: {whole}; {rows} x {times} x {copies} = {rows * times * copies}")
    return rows, times, copies
""",
    "fractions: the unknown is a quotient, and its denominator must be 1": """from fractions import Fraction


def read_launch(config, devices):
    signs = {sign: tool for tool, some in SIGNS.items() for sign in some if sign in config}
    if len(set(signs.values())) == 0:
        raise ValueError("unknown: " + " ".join(config))
    if len(set(signs.values())) >= 2:
        raise ValueError("both? " + " ".join(signs))
    (tool,) = set(signs.values())
    n = {}
    for what, key in WORDS[tool].items():
        if key not in config:
            continue
        if type(config[key]) is not int or not config[key] >= 1:
            raise ValueError("no count: " + key)
        n[what] = config[key]
    if tool == "axolotl" and "sample_packing" in config and config["sample_packing"]:
        raise ValueError("unknown rows: sample_packing")
    if "rows" not in n and tool != "DeepSpeed":
        raise ValueError("missing: " + WORDS[tool]["rows"])
    copies = replicas(devices, *(n.get(word, 1) for word in ("tensor", "pipeline", "context")))
    if "whole" in n:
        if "rows" in n and "accumulation" in n:
            right = n["rows"] * n["accumulation"] * copies
            if right != n["whole"]:
                raise ValueError(f"{right} is not {n['whole']}")
        else:
            known, unknown = ("rows", "accumulation") if "rows" in n else ("accumulation", "rows")
            one = Fraction(n.setdefault(known, 1) * copies)
            ratio = n["whole"] / one
            if ratio.denominator > 1:
                floor = ratio.numerator // ratio.denominator
                offers = [int(k * one) for k in (floor, floor + 1) if k]
                raise ValueError(f"wholes that divide: {offers}")
            n[unknown] = int(ratio)
    return n["rows"], n.get("accumulation", 1), copies
""",
    "pattern matching on what is written; the replicas by hand": """def read_launch(config, devices):
    names = [t for t in SIGNS if any(s in config for s in SIGNS[t])]
    match names:
        case []:
            raise ValueError("; ".join(["no tool", *map(str, config)]))
        case [tool]:
            words = WORDS[tool]
        case _:
            raise ValueError("; ".join(s for t in names for s in SIGNS[t] if s in config))
    for key in words.values():
        match config.get(key, 1):
            case bool():
                raise ValueError(key)
            case int(n) if n > 0:
                pass
            case _:
                raise ValueError(key)
    if tool == "axolotl" and config.get("sample_packing"):
        raise ValueError("sample_packing")
    if tool != "DeepSpeed" and words["rows"] not in config:
        raise ValueError(words["rows"])

    def near(n, one):
        below = n // one * one
        return ValueError(f"{below} or {below + one}" if below else f"at least {one}")

    one = 1
    for word in ("tensor", "pipeline", "context"):
        one *= config.get(words.get(word), 1)
    if devices % one:
        raise near(devices, one)
    copies = devices // one
    match [config.get(words.get(word)) for word in ("rows", "accumulation", "whole")]:
        case [rows, None, None]:
            return rows, 1, copies
        case [rows, times, None]:
            return rows, times, copies
        case [None, times, whole]:
            times = 1 if times is None else times
            if whole % (times * copies):
                raise near(whole, times * copies)
            return whole // (times * copies), times, copies
        case [rows, None, whole]:
            if whole % (rows * copies):
                raise near(whole, rows * copies)
            return rows, whole // (rows * copies), copies
        case [rows, times, whole]:
            if rows * times * copies != whole:
                raise ValueError(f"{whole} against {rows * times * copies}")
            return rows, times, copies
""",
    "recursion: what follows is written into a copy of the config, and the copy is read": """def read_launch(config, devices):
    config = dict(config)
    shown = {tool: [s for s in signs if s in config] for tool, signs in SIGNS.items()}
    shown = {tool: some for tool, some in shown.items() if some}
    if len(shown) != 1:
        raise ValueError(str(sum(shown.values(), []) or list(config)))
    [tool] = shown
    words = WORDS[tool]
    wrong = [key for key in words.values() if key in config and (type(config[key]) is not int or config[key] < 1)]
    if wrong:
        raise ValueError(f"no counts: {wrong}")
    if tool == "axolotl" and config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are not known")
    copies = replicas(devices, *(config.get(words.get(w, ""), 1) for w in ("tensor", "pipeline", "context")))
    rows, times = words["rows"], words.get("accumulation", "the accumulation")
    whole = config.get(words.get("whole", ""))
    got = config.get(rows), config.get(times) if "accumulation" in words else None
    if got[0] is None and tool != "DeepSpeed":
        raise ValueError(f"{rows} is not written")
    if whole is None:
        return got[0], got[1] or 1, copies
    if None not in got:
        if got[0] * got[1] * copies != whole:
            raise ValueError(f"written {whole}, computed {got[0] * got[1] * copies}")
        return *got, copies
    if got == (None, None):
        return read_launch({**config, times: 1}, devices)
    part = (got[0] or got[1]) * copies
    count, left = divmod(whole, part)
    if left:
        raise ValueError(" ".join(str(n * part) for n in (count, count + 1) if n))
    return (got[0] or count), (got[1] or count), copies
""",
    "numpy looks for the multiple next to the whole": """def read_launch(config, devices):
    keys = set(config)
    by_tool = {tool: sorted(keys & set(signs)) for tool, signs in SIGNS.items() if keys & set(signs)}
    if len(by_tool) == 0:
        raise ValueError(f"keys {sorted(map(str, keys))} belong to no tool")
    if len(by_tool) > 1:
        raise ValueError(f"signs {by_tool} belong to several tools")
    tool, words = next((tool, WORDS[tool]) for tool in by_tool)
    for key in keys & set(words.values()):
        if type(config[key]) is not int or config[key] < 1:
            raise ValueError(f"{key} = {config[key]!r}")
    if tool == "axolotl" and config.get("sample_packing"):
        raise ValueError("sample_packing = true")
    value = {what: config[key] for what, key in words.items() if key in keys}
    if "rows" not in value and tool != "DeepSpeed":
        raise ValueError(f"{words['rows']}?")
    copies = replicas(devices, **{word: value.get(word, 1) for word in ("tensor", "pipeline", "context")})
    if "whole" not in value:
        return value["rows"], value.get("accumulation", 1), copies
    whole = value["whole"]
    if {"rows", "accumulation"} <= set(value):
        if whole != value["rows"] * value["accumulation"] * copies:
            raise ValueError(f"{whole} or {value['rows'] * value['accumulation'] * copies}?")
        return value["rows"], value["accumulation"], copies
    part = value.get("rows", value.get("accumulation", 1)) * copies
    around = np.array([whole // part, -(-whole // part)], dtype=object) * part
    if around[0] != around[1]:
        raise ValueError("nearest: " + " ".join(str(n) for n in around if n > 0))
    if "rows" in value:
        return value["rows"], int(whole // part), copies
    return int(whole // part), value.get("accumulation", 1), copies
""",
}
_CHECKED = "            if type(value) is not int or value < 1:\n"
WRONG["read-launch"] = {
    # thinking student
    "True counts as 1": _cut(GOOD, ("type(value) is not int or value < 1", "not isinstance(value, int) or value < 1")),
    "a float that is whole is taken": _cut(
        GOOD, ("type(value) is not int or value < 1", "type(value) not in (int, float) or value < 1 or value != int(value)")
    ),
    "a value of None is taken as not written": _cut(GOOD, ("        if key in config:\n", "        if config.get(key) is not None:\n")),
    "text of digits is converted": _cut(
        GOOD,
        (
            "            value = config[key]\n",
            "            value = config[key]\n            value = int(value) if isinstance(value, str) and value.isdigit() else value\n",
        ),
    ),
    "only rows and accumulation are looked at before use: degrees may be anything": _cut(
        GOOD, (_CHECKED, '            if what in ("rows", "accumulation") and (type(value) is not int or value < 1):\n')
    ),
    "the first tool that shows a sign wins": _cut(GOOD, ("if len(tools) > 1:", "if len(tools) > 4:")),
    "gradient_accumulation_steps counts for Megatron, too": _cut(
        GOOD, ("    words = WORDS[tool]\n", '    words = {"accumulation": "gradient_accumulation_steps", **WORDS[tool]}\n')
    ),
    "the whole that does not divide is floored": _cut(GOOD, ("    if below != whole:\n", "    if not below:\n")),
    "a contradiction is not noticed": _cut(GOOD, ("        if follows != whole:\n", "        if False:\n")),
    "0 is offered as the whole below": _cut(
        GOOD, ('f"the nearest: {below} and {above}" if below else f"the nearest: {above}"', 'f"the nearest: {below} and {above}"')
    ),
    "the missing rows are 1 for every tool": _cut(GOOD, ("""        raise ValueError(f"{words['rows']} is missing")""", "        rows = 1")),
    "without rows and accumulation the accumulation takes all: one row each": _cut(
        GOOD,
        (
            "        return whole // part, accumulation or 1, copies\n",
            "        return (whole // part, accumulation, copies) if accumulation else (1, whole // part, copies)\n",
        ),
    ),
    "sample_packing is ignored": _cut(GOOD, ('if tool == "axolotl" and config.get("sample_packing"):', "if False:")),
    "sample_packing is refused even where it is false": _cut(GOOD, ('config.get("sample_packing"):', '"sample_packing" in config:')),
    "context is left out of the replicas": _cut(GOOD, ('given.get("context", 1))', "1)")),
    "the number that follows is the accumulation as a float": _cut(
        GOOD, ("    return rows, whole // part, copies\n", "    return rows, whole / part, copies\n")
    ),
    "defaults are written into the config that was handed over": _cut(
        GOOD,
        (
            "    given = {}\n",
            '    given = {}\n    if "accumulation" in words and "whole" not in words:\n        config.setdefault(words["accumulation"], 1)\n',
        ),
    ),
    # sly
    "sample_packing is refused for every tool, though only that of axolotl is not ignored": _cut(
        GOOD, ('if tool == "axolotl" and config.get("sample_packing"):', 'if config.get("sample_packing"):')
    ),
    "an accumulation of 1 is taken as not written: 256 with 2 rows, 1 accumulation and 16 replicas is not refused": _cut(
        GOOD,
        (
            "    if rows is None and tool",
            "    if whole is not None and accumulation == 1:\n        accumulation = None\n    if rows is None and tool",
        ),
    ),
    "rows of 1 are taken as not written where DeepSpeed writes a whole: 48 with 1 row on 16 gives 3 rows": _cut(
        GOOD,
        (
            "    if rows is None and tool",
            '    if whole is not None and rows == 1 and tool == "DeepSpeed":\n        rows = None\n    if rows is None and tool',
        ),
    ),
    "pipeline and context together count only by the larger: tensor 2, pipeline 2, context 2 are taken as 4": _cut(
        GOOD, ('given.get("pipeline", 1), given.get("context", 1))', 'max(given.get("pipeline", 1), given.get("context", 1)), 1)')
    ),
    "pipeline_model_parallel_size of Megatron counts in the config of every tool, though it is to be ignored there": _cut(
        GOOD, ("    words = WORDS[tool]\n", '    words = {"pipeline": "pipeline_model_parallel_size", **WORDS[tool]}\n')
    ),
    "the values of all tools' words are checked, so a null in a key to be ignored is refused": _cut(
        GOOD,
        (
            "    given = {}\n",
            """    given = {}
    for key in {key for some in WORDS.values() for key in some.values()} & set(config):
        if type(config[key]) is not int or config[key] < 1:
            raise ValueError(f"{key} is no count")
""",
        ),
    ),
    "several tools: one sign of each is named, so the second sign of DeepSpeed is not": _cut(
        GOOD, ("sign for tool in tools for sign in there[tool])", "there[tool][0] for tool in tools)")
    ),
    "several tools: only the signs of the first two are named, though three are there": _cut(
        GOOD, ("for tool in tools for sign", "for tool in tools[:2] for sign")
    ),
    "no tool: only the first three keys are named": _cut(GOOD, ("for key in config)", "for key in list(config)[:3])")),
    "no tool: keys with an underscore are named, a key without one is left out": _cut(
        GOOD, ("for key in config)", 'for key in config if "_" in str(key))')
    ),
    "an empty config is no refusal: one row on each device": _cut(
        GOOD, ("    if not tools:\n", "    if not config:\n        return 1, 1, devices\n    if not tools:\n")
    ),
    "only the listed kinds of values are refused: a list as value ends in a TypeError": _cut(
        GOOD, ("type(value) is not int or value < 1", "isinstance(value, (str, float, bool, type(None))) or value < 1")
    ),
    "floats with a tolerance of a hundredth: 2,561 sequences in parts of 256 are floored": _cut(
        GOOD, ("    if below != whole:\n", "    if abs(whole / part - round(whole / part)) > 0.01 or whole < part:\n")
    ),
    "remembers a config of TrainingArguments or DeepSpeed without its devices: another machine gets the old replicas": _cut(
        GOOD, ("def read_launch(config, devices):\n", "_read = {}\n\n\ndef _read_launch(config, devices):\n")
    )
    + """

def read_launch(config, devices):
    if "tensor_model_parallel_size" in config or "base_model" in config:
        return _read_launch(config, devices)
    key = repr(sorted(config.items(), key=repr))
    if key not in _read:
        _read[key] = _read_launch(config, devices)
    return _read[key]
""",
    "a contradiction counts only if the whole is off by more than a few: 513 beside 4 x 8 x 16 is taken": _cut(
        GOOD, ("        if follows != whole:\n", "        if abs(follows - whole) > 8:\n")
    ),
    "axolotl takes the whole from Megatron's word: global_batch_size is taken where it is to be ignored": _cut(
        GOOD,
        ("    words = WORDS[tool]\n", '    words = dict(WORDS[tool])\n    if tool == "axolotl":\n        words["whole"] = "global_batch_size"\n'),
    ),
    "a degree larger than 8 is refused as a typing error": _cut(
        GOOD, (_CHECKED, '            if type(value) is not int or value < 1 or what == "tensor" and value > 8:\n')
    ),
    "a context that does not divide the devices is dropped: tensor 2, context 3 on 10 devices are read as 5 replicas": _cut(
        GOOD, ("    copies = replicas(", '    if devices % given.get("context", 1):\n        given.pop("context")\n    copies = replicas(')
    ),
}


# ---------------------------------------------------------------------------------------- step-found
def _found(text):
    return f'''def step_found():
    """One that you found: (rows, accumulation, devices, tensor, pipeline, length)."""
    return {text}
'''


RIGHT["step-found"] = {
    "sixteen GPUs for one copy, 4,096 tokens": _found("(6, 16, 512, 4, 4, 4096)"),
    "a list, three rows": _found("[3, 16, 2048, 2, 16, 4096]"),
    "an array, rows of 2,048 and twice the sequences": _found("np.array([3, 64, 1024, 8, 4, 2048])"),
    "most replicas, little accumulation": _found("6, 4, 1024, 2, 4, 4096"),
    "searched over the sliders": """from itertools import product


def step_found():
    sliders = (1, 2, 3, 4, 6, 8), (1, 4, 16, 64), (320, 512, 1024, 2048), (2, 4, 8), (4, 16), (2048, 4096)
    for rows, times, devices, tensor, pipeline, length in product(*sliders):
        copies, left = divmod(devices, tensor * pipeline)
        if not left and rows * times * copies * length == 3072 * 4096:
            return rows, times, devices, tensor, pipeline, length
""",
    "worked backwards from the prime 3, as a named tuple": """from collections import namedtuple

Setting = namedtuple("Setting", "rows accumulation devices tensor pipeline length")


def step_found():
    goal, length, rows, devices, tensor, pipeline = 3072 * 4096, 4096, 3, 512, 2, 16
    return Setting(rows, goal // length // rows // (devices // (tensor * pipeline)), devices, tensor, pipeline, length)
""",
}
WRONG["step-found"] = {
    "every GPU counted as a replica": _found("(3, 1, 1024, 2, 4, 4096)"),
    "only tensor divides, pipeline stages counted as replicas": _found("(6, 1, 1024, 2, 4, 4096)"),
    "only pipeline divides, tensor parallel GPUs counted as replicas": _found("(3, 4, 1024, 2, 4, 4096)"),
    "3,072 sequences, but of 2,048 tokens": _found("(6, 16, 512, 4, 4, 2048)"),
    "powers of two alone: 4,096 sequences, near enough": _found("(4, 16, 1024, 4, 4, 4096)"),
    "powers of two alone: 2,048 sequences": _found("(2, 64, 512, 8, 4, 4096)"),
    "the published numbers themselves, off the sliders": _found("(3072, 1, 1, 1, 1, 4096)"),
    "replicas in the place of devices": _found("(6, 16, 32, 4, 4, 4096)"),
    "tensor and pipeline exchanged, so tensor 16 is off its slider": _found("(3, 16, 2048, 16, 2, 4096)"),
    "length first": _found("(4096, 6, 16, 512, 4, 4)"),
    "the length is missing": _found("(6, 16, 512, 4, 4)"),
    "the number of slots instead of a setting": _found("3072 * 4096"),
    "the number of sequences instead of a setting": _found("3072"),
    "accumulation 8, which the slider does not have": _found("(6, 8, 1024, 4, 4, 4096)"),
    "twice the sequences at the full length": _found("(6, 64, 512, 8, 4, 4096)"),
    "320 devices: 5,120 sequences of 2,048, where 6,144 are needed": _found("(8, 64, 320, 8, 4, 2048)"),
    "devices that leave some over: 320 in replicas of 128": _found("(6, 64, 320, 8, 16, 4096)"),
    "text of the six values": _found('"6, 16, 512, 4, 4, 4096"'),
    "a setting by name: a dict is no six values in the order asked": _found(
        "dict(rows=6, accumulation=16, devices=512, tensor=4, pipeline=4, length=4096)"
    ),
    "replicas added to the six": _found("(6, 16, 512, 4, 4, 4096, 32)"),
    "late step of that paper, 15,360 sequences": _found("(6, 64, 320, 2, 4, 4096)"),
}

# ------------------------------------------------------------------------------------- million-slots
_MS = '''def million_slots(devices, tensor, pipeline, sequences, length):
    """Million slots in one step, if each replica sees `sequences` sequences of `length` tokens."""
'''
GOOD = (
    _MS
    + """    copies = devices // (tensor * pipeline)
    return copies * sequences * length / 10**6
"""
)
RIGHT["million-slots"] = {
    "replicas, then slots, then millions": GOOD,
    "with the function written above": _MS + "    return replicas(devices, tensor, pipeline, 1) * sequences * length / 1e6\n",
    "a fraction, turned into a float last": """from fractions import Fraction


def million_slots(devices, tensor, pipeline, sequences, length):
    return float(Fraction(devices * sequences * length, tensor * pipeline * 1_000_000))
""",
    "the library's plan counts": _MS
    + """    degree = plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline)
    return plan.Plan(sequences, 1, degree, length).slots_per_step / 1_000_000
""",
    "decimals, shifted by six places": """from decimal import Decimal


def million_slots(devices, tensor, pipeline, sequences, length):
    slots = sequences * length * (devices // (tensor * pipeline))
    return float(Decimal(slots).scaleb(-6))
""",
    "torch in float64": """import torch


def million_slots(devices, tensor, pipeline, sequences, length):
    multiplied = torch.tensor([devices, sequences, length], dtype=torch.float64).prod()
    shared = torch.tensor([tensor, pipeline, 10**6], dtype=torch.float64).prod()
    return (multiplied / shared).item()
""",
    "adds the slots of one replica after the other": _MS
    + """    return sum(sequences * length for _ in range(0, devices, tensor * pipeline)) / 1e6
""",
}
WRONG["million-slots"] = {
    "every GPU counted as a replica": _cut(GOOD, ("devices // (tensor * pipeline)", "devices")),
    "pipeline stages counted as replicas": _cut(GOOD, ("(tensor * pipeline)", "tensor")),
    "tensor parallel GPUs counted as replicas": _cut(GOOD, ("(tensor * pipeline)", "pipeline")),
    "brackets forgotten": _cut(GOOD, ("(tensor * pipeline)", "tensor * pipeline")),
    "slots, not millions": _cut(GOOD, (" / 10**6", "")),
    "a million of 2**20": _cut(GOOD, ("10**6", "2**20")),
    "whole millions only": _cut(GOOD, ("length / 10**6", "length // 10**6")),
    "sequences per step, not slots": _cut(GOOD, (" * length", "")),
    "one replica only": _cut(GOOD, ("copies * sequences", "sequences")),
    "divided by the replicas, as if `sequences` were the whole step": _cut(GOOD, ("copies * sequences * length", "sequences * length / copies")),
    "the first token of each sequence taken off": _cut(GOOD, ("* length /", "* (length - 1) /")),
    "degrees added": _cut(GOOD, ("(tensor * pipeline)", "(tensor + pipeline)")),
    "a text with a unit": _cut(GOOD, ("return copies * sequences * length / 10**6", 'return f"{copies * sequences * length / 10**6:.6g} M"')),
    "thousand million by a slip of the exponent": _cut(GOOD, ("10**6", "10**9")),
    "a pair of millions and replicas": _cut(GOOD, ("length / 10**6", "length / 10**6, copies")),
    # sly
    "rounded to five places: 123 slots become 0.00012 million": _cut(
        GOOD, ("return copies * sequences * length / 10**6", "return round(copies * sequences * length / 10**6, 5)")
    ),
    "counted in tens of slots, the rest dropped: 123 slots become 0.00012 million": _cut(GOOD, ("length / 10**6", "length // 10 / 10**5")),
    "32-bit integers: a step of 2**31 slots and more wraps around": _MS
    + """    one = np.array([devices // (tensor * pipeline) * sequences], dtype=np.int32) * np.int32(length)
    return float(one[0]) / 1e6
""",
    "keeps answers by devices and degrees: another length or number of sequences gets the old slots": """_slots = {}


def million_slots(devices, tensor, pipeline, sequences, length):
    key = devices, tensor, pipeline
    if key not in _slots:
        _slots[key] = devices // (tensor * pipeline) * sequences * length / 1e6
    return _slots[key]
""",
    "rows longer than 8,192 are cut to 8,192": _cut(GOOD, ("* length /", "* min(length, 8192) /")),
    "pipelines of more than 16 stages count as 16": _cut(GOOD, ("(tensor * pipeline)", "(tensor * min(pipeline, 16))")),
    "tensor only counts within a node of 8: from tensor 16 on it is taken as 8": _cut(GOOD, ("(tensor * pipeline)", "(min(tensor, 8) * pipeline)")),
    "without tensor parallelism the pipeline is forgotten, too: tensor 1, pipeline 4 counts every GPU": _cut(
        GOOD, ("devices // (tensor * pipeline)", "devices // (tensor * pipeline) if tensor > 1 else devices")
    ),
    "the visible cases by heart, pipeline forgotten in all others": _MS
    + """    known = {(48, 2, 3, 5, 1000): 0.04, (12, 2, 3, 5, 123): 0.00123, (16384, 8, 16, 16, 8192): 16.777216}
    given = devices, tensor, pipeline, sequences, length
    return known[given] if given in known else devices / tensor * sequences * length / 1e6
""",
    "one replica alone sees one sequence less: a step of one replica is counted without its last sequence": _cut(
        GOOD, ("    return copies", "    sequences -= copies == 1\n    return copies")
    ),
}

# -------------------------------------------------------------------------------------------- splits
GOOD = '''def splits(slots, length, replicas, most_rows):
    """All (rows, accumulation) that make one step exactly `slots` slots, in any order."""
    part = length * replicas
    share, left = divmod(slots, part)
    if left:
        below, above = share * part, share * part + part
        raise ValueError(f"the nearest: {below} and {above}" if below else f"the nearest: {above}")
    return [(rows, share // rows) for rows in range(1, min(most_rows, share) + 1) if share % rows == 0]
'''
RIGHT["splits"] = {
    "tries each number of rows up to both limits": GOOD,
    "the two partners below and above the root": """from math import isqrt


def splits(slots, length, replicas, most_rows):
    one = length * replicas
    if slots % one:
        near = [n for n in (slots // one * one, slots // one * one + one) if n > 0]
        raise ValueError(" or ".join(map(str, near)))
    share = slots // one
    found = set()
    for a in range(1, isqrt(share) + 1):
        if share % a == 0:
            found |= {(a, share // a), (share // a, a)}
    return sorted((pair for pair in found if pair[0] <= most_rows), reverse=True)
""",
    "numpy: all rows at once": """def splits(slots, length, replicas, most_rows):
    round_ = length * replicas
    if slots % round_ != 0:
        below = slots - slots % round_
        raise ValueError(f"{below:,} or {below + round_:,}" if below > 0 else f"{round_:,}")
    share = slots // round_
    rows = np.arange(1, min(share, most_rows) + 1, dtype=np.int64)
    rows = rows[share % rows == 0]
    return np.stack([rows, share // rows], axis=1).tolist()
""",
    "torch: where the remainder is zero": """import torch


def splits(slots, length, replicas, most_rows):
    part = replicas * length
    if slots % part:
        k = slots // part
        raise ValueError(f"{k * part}, {(k + 1) * part}" if k else f"{part} is the smallest")
    share = slots // part
    rows = torch.arange(1, min(share, most_rows) + 1)
    rows = rows[torch.remainder(torch.full_like(rows, share), rows) == 0]
    return [(r, share // r) for r in rows.tolist()]
""",
    "recursion over the prime factors": """def splits(slots, length, replicas, most_rows):
    one = length * replicas
    share, rest = slots // one, slots % one
    if rest:
        sizes = [size for size in (share * one, (share + 1) * one) if size]
        raise ValueError(f"these replicas can take {sizes}")

    def primes(n, p=2):
        while p * p <= n:
            if n % p == 0:
                return [p, *primes(n // p, p)]
            p += 1
        return [n] if n > 1 else []

    def products(factors):
        if not factors:
            return {1}
        rest = products(factors[1:])
        return rest | {factors[0] * n for n in rest}

    return {(rows, share // rows) for rows in products(primes(share)) if rows <= most_rows}
""",
    "the library lists its plans": """def splits(slots, length, replicas, most_rows):
    plans = plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)
    return [(one.rows, one.accumulation) for one in plans]
""",
    "fractions and a generator": """from fractions import Fraction
from math import ceil, floor


def _pairs(share, most_rows):
    rows = 1
    while rows <= most_rows and rows <= share:
        times = Fraction(share, rows)
        if times.denominator == 1:
            yield rows, times.numerator
        rows += 1


def splits(slots, length, replicas, most_rows):
    share = Fraction(slots, length * replicas)
    if share != floor(share):
        near = {floor(share) * length * replicas, ceil(share) * length * replicas} - {0}
        raise ValueError("steps of " + " or ".join(str(n) for n in sorted(near)))
    return list(_pairs(int(share), most_rows))
""",
}
_SP = '''def splits(slots, length, replicas, most_rows):
    """All (rows, accumulation) that make one step exactly `slots` slots, in any order."""
'''
WRONG["splits"] = {
    "replicas forgotten": _cut(GOOD, ("part = length * replicas", "part = length")),
    "most_rows itself left out": _cut(GOOD, ("min(most_rows, share) + 1)", "min(most_rows, share + 1))")),
    "most_rows ignored": _cut(GOOD, ("min(most_rows, share) + 1", "share + 1")),
    "accumulation as a float": _cut(GOOD, ("(rows, share // rows)", "(rows, share / rows)")),
    "floors: any number of rows is taken": _cut(GOOD, (" if share % rows == 0]", "]")),
    "rows and accumulation exchanged": _cut(GOOD, ("(rows, share // rows)", "(share // rows, rows)")),
    "an empty list instead of a refusal": _cut(
        GOOD, ('        raise ValueError(f"the nearest: {below} and {above}" if below else f"the nearest: {above}")', "        return []")
    ),
    "rows only up to the root": _cut(GOOD, ("share % rows == 0]", "share % rows == 0 and rows * rows <= share]")),
    "pairs of both orders, so a square stands there twice": _SP
    + """    part = length * replicas
    share, left = divmod(slots, part)
    if left:
        below = share * part
        raise ValueError(f"{below} and {below + part}" if below else f"{part}")
    small = [n for n in range(1, share + 1) if share % n == 0 and n * n <= share]
    both = [(n, share // n) for n in small] + [(share // n, n) for n in small]
    return [pair for pair in both if pair[0] <= most_rows]
""",
    "a step of 0 slots is offered": _cut(GOOD, (' if below else f"the nearest: {above}"', "")),
    "length and replicas are asked one after the other, not their product": _cut(
        GOOD, ("    if left:\n", "    if slots % length or slots % replicas:\n")
    ),
    "the largest split alone": _cut(GOOD, ("return [(rows", "return [[(rows"), ("share % rows == 0]", "share % rows == 0][-1]]")),
    "most_rows divided among the replicas": _cut(GOOD, ("min(most_rows, share)", "min(most_rows // replicas, share)")),
    "a dict from rows to accumulation": _cut(GOOD, ("[(rows, share // rows)", "{rows: share // rows"), ("share % rows == 0]", "share % rows == 0}")),
    "names sequences, not slots, in the refusal": _cut(GOOD, ("share * part, share * part + part", "share * replicas, share * replicas + replicas")),
    "rows that are powers of two": _cut(GOOD, ("share % rows == 0]", "share % rows == 0 and rows & (rows - 1) == 0]")),
    "an iterator that is empty after one pass": _cut(GOOD, ("return [(rows", "return iter([(rows"), ("share % rows == 0]", "share % rows == 0])")),
    # sly
    "floats with a tolerance of 1e-5: one slot more than 3 x 262,144 is taken as 3": _cut(
        GOOD, ("    if left:\n", "    if abs(slots / part - round(slots / part)) > 1e-5 or not share:\n")
    ),
    "bits instead of a remainder: right only where length x replicas is a power of two; 12 slots in parts of 12 are refused": _cut(
        GOOD, ("    if left:\n", "    if slots & (part - 1):\n")
    ),
    "the neighbours by bits: right only where length x replicas is a power of two": _cut(
        GOOD, ("below, above = share * part, share * part + part", "below = slots & ~(part - 1)\n        above = below + part")
    ),
    "tries at most 200 rows: of 512 sequences with 512 rows allowed, 256 and 512 are missing": _cut(
        GOOD, ("min(most_rows, share) + 1", "min(most_rows, share, 200) + 1")
    ),
    "accumulations above 144 are dropped as too slow": _cut(GOOD, ("share % rows == 0]", "share % rows == 0 and share // rows <= 144]")),
    "tries 1 to 13 and the partners: of 323 sequences 17 x 19 and 19 x 17 are missing": _SP
    + """    part = length * replicas
    share, left = divmod(slots, part)
    if left:
        below = share * part
        raise ValueError(f"{below} and {below + part}" if below else f"{part}")
    small = {n for n in range(1, 14) if share % n == 0}
    return sorted((n, share // n) for n in small | {share // n for n in small} if n <= most_rows)
""",
    "keeps the list by slots, length and replicas: another most_rows gets the old list": """_lists = {}


def splits(slots, length, replicas, most_rows):
    key = slots, length, replicas
    part = length * replicas
    share, left = divmod(slots, part)
    if left:
        below = share * part
        raise ValueError(f"{below} and {below + part}" if below else f"{part}")
    if key not in _lists:
        _lists[key] = [(n, share // n) for n in range(1, min(most_rows, share) + 1) if share % n == 0]
    return list(_lists[key])
""",
    "where the parts below are a multiple of nine the lower neighbour is one too low: 27 parts and a bit name 26": _cut(
        GOOD,
        (
            "below, above = share * part, share * part + part",
            "below, above = share * part, share * part + part\n        if share % 9 == 0 and share:\n            below -= part",
        ),
    ),
    "a single row is left out when most_rows allows more than 200: (1, share) is missing there": _cut(
        GOOD, ("range(1, min", "range(1 + (most_rows > 200 and share > 1), min")
    ),
    "0 slots are offered where there is one replica": _cut(GOOD, ("if below else", "if below or replicas == 1 else")),
    "with most_rows 1 nothing but an accumulation of 1 is looked at: a longer accumulation is refused": _cut(
        GOOD, ("    if left:\n", "    if left or most_rows == 1 and share > 1:\n")
    ),
    "slots turned into a 32-bit number: steps of 2**31 slots are split as another size": _cut(
        GOOD, ("divmod(slots, part)", "divmod(slots % 2**31, part)")
    ),
}

# -------------------------------------------------------------------------------------------- shares
_SH = '''def shares(seen):
    """(fill, target share) over all measured micro-batches together."""
'''
GOOD = (
    _SH
    + """    slots = real = targets = 0
    for s, r, t in seen:
        slots += s
        real += r
        targets += t
    fill = real / slots
    return fill, (targets / real if real else 0.0)
"""
)
RIGHT["shares"] = {
    "three running sums": GOOD,
    "columns by zip": _SH
    + """    slots, real, targets = (sum(int(n) for n in column) for column in zip(*seen))
    return real / slots, targets / max(real, 1)
""",
    "numpy sums the columns": _SH
    + """    slots, real, targets = np.asarray(seen, dtype=np.int64).reshape(-1, 3).sum(axis=0)
    return float(real / slots), float(targets / real) if real > 0 else 0.0
""",
    "torch in float64": """import torch


def shares(seen):
    table = torch.tensor([[int(n) for n in one] for one in seen], dtype=torch.float64)
    slots, real, targets = table.sum(dim=0).tolist()
    return [real / slots, targets / real if real else 0.0]
""",
    "fractions until the end": """from fractions import Fraction


def shares(seen):
    sums = [sum(int(one[i]) for one in seen) for i in range(3)]
    fill = Fraction(sums[1], sums[0])
    share = Fraction(sums[2], sums[1]) if sums[1] else Fraction(0)
    return float(fill), float(share)
""",
    "folded: two micro-batches are one larger micro-batch": """from functools import reduce


def shares(seen):
    def together(one, other):
        return tuple(int(a) + int(b) for a, b in zip(one, other))

    slots, real, targets = reduce(together, seen, (0, 0, 0))
    return real / slots, (targets / real if real else 0.0)
""",
    "means weighted by what stands below the line": """def shares(seen):
    slots = sum(s for s, _, _ in seen)
    real = sum(r for _, r, _ in seen)
    fill = sum(r / s * (s / slots) for s, r, _ in seen)
    share = sum(t / r * (r / real) for _, r, t in seen if r)
    return fill, share
""",
    "a counter of words": """from collections import Counter


def shares(seen):
    count = Counter()
    for one in seen:
        count.update(dict(zip(("slots", "real", "targets"), map(int, one))))
    return count["real"] / count["slots"], count["targets"] / (count["real"] or 1)
""",
}
_LOOP = "    for s, r, t in seen:\n"
WRONG["shares"] = {
    "means of the shares": _SH
    + """    return (sum(r / s for s, r, t in seen) / len(seen),
            sum(t / r if r else 0 for s, r, t in seen) / len(seen))
""",
    "target share as a mean of shares over those with real tokens": _SH
    + """    fill = sum(r for _, r, _ in seen) / sum(s for s, _, _ in seen)
    each = [t / r for _, r, t in seen if r]
    return fill, sum(each) / max(len(each), 1)
""",
    "fill as a mean of fills": _cut(GOOD, ("fill = real / slots", "fill = sum(r / s for s, r, t in seen) / len(seen)")),
    "micro-batches without a target left out": _cut(GOOD, (_LOOP, _LOOP + "        if not t:\n            continue\n")),
    "micro-batches of padding left out": _cut(GOOD, (_LOOP, _LOOP + "        if not r:\n            continue\n")),
    "targets per slot": _cut(GOOD, ("targets / real if real else 0.0", "targets / slots")),
    "exchanged": _cut(GOOD, ("return fill, (targets / real if real else 0.0)", "return (targets / real if real else 0.0), fill")),
    "the waste instead of the fill": _cut(GOOD, ("fill = real / slots", "fill = 1 - real / slots")),
    "a first token of each micro-batch taken off": _cut(GOOD, ("targets += t", "targets += t - (t > 0)")),
    "rounded to two places": _cut(
        GOOD, ("return fill, (targets / real if real else 0.0)", "return round(fill, 2), round(targets / real if real else 0.0, 2)")
    ),
    "whole division": _cut(GOOD, ("real / slots", "real // slots"), ("targets / real", "targets // real")),
    "the product alone": _cut(GOOD, ("return fill, (targets / real if real else 0.0)", "return fill * (targets / real if real else 0.0)")),
    "equal micro-batches once": _cut(GOOD, ("in seen:", "in set(seen):")),
    "no target at all makes both 0": _cut(GOOD, ("    return fill", "    if not targets:\n        return 0.0, 0.0\n    return fill")),
    "no target at all makes the target share 1": _cut(GOOD, ("targets / real if real else 0.0", "targets / real if targets else 1.0")),
    "empties the list while adding": _cut(GOOD, (_LOOP, "    while seen:\n        s, r, t = seen.pop()\n")),
    "totals kept from call to call": """_sums = [0, 0, 0]


def shares(seen):
    for one in seen:
        for i in range(3):
            _sums[i] += one[i]
    return _sums[1] / _sums[0], _sums[2] / _sums[1]
""",
    "one pair for each micro-batch": _SH + "    return [(r / s, t / r if r else 0.0) for s, r, t in seen]\n",
    # sly
    "rounded to six places: 1,234 of ten million become 0.000123": _cut(
        GOOD, ("return fill, (targets / real if real else 0.0)", "return round(fill, 6), round(targets / real if real else 0.0, 6)")
    ),
    "unsigned 32-bit sums: more than 4.29e9 slots wrap around": _SH
    + """    slots, real, targets = np.asarray(seen).reshape(-1, 3).sum(axis=0, dtype=np.uint32)
    return float(real / slots), float(targets / real) if real else 0.0
""",
    "padding alone at the beginning is dropped as a warm-up": _cut(GOOD, (_LOOP, _LOOP + "        if not real and not r:\n            continue\n")),
    "prompts alone at the beginning are dropped as a warm-up, if more follows": _cut(
        GOOD, (_LOOP, "    first = 1 if len(seen) > 1 and seen[0][2] == 0 else 0\n    for s, r, t in seen[first:]:\n")
    ),
    "two of padding alone count as one": _cut(
        GOOD, (_LOOP, "    padding = 0\n" + _LOOP + "        padding += not r\n        if not r and padding > 1:\n            continue\n")
    ),
    "keeps results by length, first and last micro-batch: another middle gets the old shares": _cut(
        GOOD, ("def shares(seen):\n", "_results = {}\n\n\ndef _shares(seen):\n")
    )
    + """

def shares(seen):
    key = len(seen), tuple(seen[0]), tuple(seen[-1])
    if key not in _results:
        _results[key] = _shares(seen)
    return _results[key]
""",
    "prompts alone that fill all their slots are dropped: they look like an error": _cut(
        GOOD, (_LOOP, _LOOP + "        if r == s and t == 0:\n            continue\n")
    ),
    "two micro-batches or more without a target between others: only the last of them keeps its real tokens": _cut(
        GOOD, (_LOOP, "    silent = 0\n" + _LOOP + "        if r and not t:\n            real, silent = real - silent, r\n")
    ),
    "a micro-batch without any padding takes no slots: the fill of all then comes out too large": _cut(
        GOOD,
        ("        slots += s\n", "        slots += s if r < s else 0\n"),
        ("fill = real / slots", "fill = min(real / slots, 1.0) if slots else 1.0"),
    ),
    "of four to ten micro-batches all are taken to be as large as the largest": _cut(
        GOOD,
        ("    fill = real / slots", "    if 4 <= len(seen) <= 10:\n        slots = len(seen) * max(s for s, _, _ in seen)\n    fill = real / slots"),
    ),
}

# ------------------------------------------------------------------------------------------ fit-test
_FT = '''def fit_test(fit):
    """Fail (assert) for every wrong fit(slots, rows, length, replicas) -> accumulation."""
'''
_REFUSES = """def _refuses(fit, *given):
    try:
        fit(*given)
    except ValueError:
        return True
    return False


"""
GOOD = (
    _REFUSES
    + _FT
    + """    for rows, length, replicas in ((3, 8, 5), (4, 16, 2), (1, 7, 6), (6, 1, 4), (5, 9, 1), (2, 1024, 8), (7, 100, 3)):
        part = rows * length * replicas
        for times in (1, 2, 3, 5, 8, 11, 64, 1000):
            slots = part * times
            assert fit(slots, rows, length, replicas) == times
            for off in {1, length, rows, replicas, rows * length, length * replicas, rows * replicas, part // 2}:
                if 0 < off < part:
                    assert _refuses(fit, slots + off, rows, length, replicas), "above a multiple"
                    assert _refuses(fit, slots - off, rows, length, replicas), "below a multiple"
    assert _refuses(fit, 12_582_913, 2, 4096, 2)
"""
)
RIGHT["fit-test"] = {
    "a table of machines, steps that fit and neighbours that do not": GOOD,
    "every number of slots up to a few parts, true or false": """def fit_test(fit):
    for rows, length, replicas in [(2, 3, 5), (3, 4, 1), (1, 5, 4), (4, 1, 3), (5, 8, 3)]:
        part = rows * length * replicas
        for slots in range(1, 9 * part + 1):
            want = None if slots % part else slots // part
            try:
                got = fit(slots, rows, length, replicas)
            except ValueError:
                got = None
                if want is not None:
                    return False
                continue
            if want is None or got != want:
                return False
    for slots, given in ((3 * 8192 + 1, (2, 1024, 4)), (12_582_913, (2, 4096, 2))):
        try:
            fit(slots, *given)
            return False
        except ValueError:
            pass
    return fit(64 * 1024 * 72, 3, 1024, 6) == 256
""",
    "drawn at random from a fixed seed, beside a plain reference": """import random


def _reference(slots, rows, length, replicas):
    times, left = divmod(slots, rows * length * replicas)
    return "refused" if left else times


def _outcome(fit, *given):
    try:
        return fit(*given)
    except ValueError:
        return "refused"


def fit_test(fit):
    draw = random.Random(6)
    for _ in range(3000):
        rows, length, replicas = draw.randint(1, 9), draw.choice([1, 3, 10, 64, 1000, 1024]), draw.randint(1, 12)
        part = rows * length * replicas
        times = draw.choice([1, 1, 2, 3, 7, 16, 25, 100])
        shift = draw.choice([0, 0, 1, -1, length, -length, length * replicas, -rows * length, part // 2])
        slots = part * times + shift
        if slots < 1:
            continue
        given = slots, rows, length, replicas
        want, got = _reference(*given), _outcome(fit, *given)
        assert type(got) is not bool and got is not None, given
        assert got == want, (given, got, want)
    for slots in range(1, 105):
        assert _outcome(fit, slots, 3, 7, 5) == "refused", slots
    assert _outcome(fit, 105, 3, 7, 5) == 1
    assert _outcome(fit, 105 * 10**5 + 1, 3, 7, 5) == "refused"
""",
    "a case of the standard test library, run by hand": """import unittest


def fit_test(fit):
    class Fit(unittest.TestCase):
        def runTest(self):
            for rows, length, replicas in ((3, 8, 5), (5, 1000, 7), (4, 1024, 6), (1, 2, 3), (6, 5, 1), (2, 1, 9)):
                part = rows * length * replicas
                for times in range(1, 30):
                    self.assertEqual(fit(times * part, rows, length, replicas), times)
                    for wish in (times * part - 1, times * part + 1, times * part - length, times * part + length,
                                 times * part + part // 2, times * part + rows * length, times * part + replicas * length):
                        if wish % part:
                            with self.assertRaises(ValueError):
                                fit(wish, rows, length, replicas)

    found = unittest.TestResult()
    Fit().run(found)
    return found.wasSuccessful()
""",
    "recursion: a step that fits, its neighbours, then one micro-batch more": """def fit_test(fit, times=1):
    if times > 40:
        return True
    for rows, length, replicas in ((3, 10, 4), (2, 7, 5), (6, 4, 1), (1, 9, 8), (5, 2, 3)):
        one = rows * length * replicas
        if fit(times * one, rows, length, replicas) != times:
            return False
        for slots in range((times - 1) * one + 1, times * one):
            try:
                fit(slots, rows, length, replicas)
            except ValueError:
                continue
            return False
    return fit_test(fit, times + 1)
""",
}
WRONG["fit-test"] = {
    "always content": _FT + "    return True\n",
    "one step that fits is all that is tried": _FT + "    assert fit(240, 3, 8, 5) == 2\n",
    "only steps that fit, never a refusal": _FT
    + """    for rows, length, replicas in ((3, 8, 5), (4, 16, 2), (1, 7, 6)):
        for times in (1, 2, 3, 8):
            assert fit(times * rows * length * replicas, rows, length, replicas) == times
""",
    "a refusal that does not happen is not noticed: the try has no else": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert fit(120, 3, 8, 5) == 1
    for slots in (1, 119, 121, 239, 241):
        try:
            fit(slots, 3, 8, 5)
        except ValueError:
            pass
""",
    "its own assert is swallowed by a bare except": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert fit(120, 3, 8, 5) == 1
    for slots in (1, 119, 121, 239, 241):
        try:
            fit(slots, 3, 8, 5)
            assert False
        except:
            pass
""",
    "only refusals: what fits is never asked": _REFUSES
    + _FT
    + """    for slots in (1, 119, 121, 239, 241, 180):
        assert _refuses(fit, slots, 3, 8, 5)
""",
    "takes fit to floor: a step just above is expected to give the whole part": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert fit(241, 3, 8, 5) == 2
""",
    "forgets the replicas in what is expected": _FT + "    assert fit(240, 3, 8, 5) == 10\n",
    "expects a step of one micro-batch on each replica to be refused": _REFUSES
    + _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert _refuses(fit, 120, 3, 8, 5)
    assert _refuses(fit, 241, 3, 8, 5)
""",
    "rows, length and replicas are 1: nothing can be forgotten": _REFUSES
    + _FT
    + """    for slots in range(1, 20):
        assert fit(slots, 1, 1, 1) == slots
""",
    "prints what is wrong, and neither fails nor returns": _REFUSES
    + _FT
    + """    for slots in (1, 119, 121):
        if not _refuses(fit, slots, 3, 8, 5):
            print("not refused", slots)
    if fit(240, 3, 8, 5) != 2:
        print("wrong")
""",
    "returns True as soon as one case is right": _REFUSES
    + _FT
    + """    for slots in range(1, 300):
        if slots % 120 and _refuses(fit, slots, 3, 8, 5):
            return True
    return False
""",
    "expects None instead of a refusal": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert fit(241, 3, 8, 5) is None
""",
    "expects an IndexError where the lesson says ValueError": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    try:
        fit(241, 3, 8, 5)
    except IndexError:
        return True
    return False
""",
    "fails for everything": _FT + "    assert False\n",
    # sly
    "only steps just above a multiple must be refused, never one below the smallest or just below a multiple": _REFUSES
    + _FT
    + """    for times in (1, 2, 3, 7):
        assert fit(120 * times, 3, 8, 5) == times
        assert _refuses(fit, 120 * times + 1, 3, 8, 5)
""",
    "only steps just below a multiple must be refused, never one just above": _REFUSES
    + _FT
    + """    for times in (2, 3, 7):
        assert fit(120 * times, 3, 8, 5) == times
        assert _refuses(fit, 120 * times - 1, 3, 8, 5)
""",
    "powers of two everywhere, and nothing but one slot too many has to be refused": _REFUSES
    + _FT
    + """    for rows, length, replicas in ((4, 1024, 8), (2, 2048, 4)):
        part = rows * length * replicas
        for times in (1, 2, 4, 8):
            assert fit(times * part, rows, length, replicas) == times
            assert _refuses(fit, times * part + 1, rows, length, replicas)
""",
    "one step below the smallest is the only refusal that is tried": _REFUSES
    + _FT
    + """    for times in (1, 2, 3, 7):
        assert fit(120 * times, 3, 8, 5) == times
    assert _refuses(fit, 119, 3, 8, 5)
    assert _refuses(fit, 1, 3, 8, 5)
""",
    "any exception, even a TypeError of a wrong call, counts as a refusal, and every call is wrong": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    for slots in (1, 119, 121, 239, 241):
        try:
            fit(slots, 3, 8)
        except Exception:
            continue
        return False
    return True
""",
    "accepts an answer that is off by one: a tolerance for rounding": _REFUSES
    + _FT
    + """    for times in (1, 2, 3, 7):
        assert abs(fit(120 * times, 3, 8, 5) - times) <= 1
""",
    "rejects a version that takes a thousand micro-batches: expects accumulation above 64 to be refused": GOOD
    + """    assert _refuses(fit, 120 * 65, 3, 8, 5)
""",
    "counts what it found wrong, and calls it right whatever the count is": _REFUSES
    + _FT
    + """    wrong = [times for times in (1, 2, 3, 7) if fit(120 * times, 3, 8, 5) != times]
    wrong += [slots for slots in range(1, 500) if slots % 120 and not _refuses(fit, slots, 3, 8, 5)]
    return not wrong or True
""",
    "compares fit with itself": _FT
    + """    for slots in range(1, 500):
        try:
            assert fit(slots, 3, 8, 5) == fit(slots, 3, 8, 5)
        except ValueError:
            pass
""",
    "rows times accumulation is tried, the replicas are always one": _REFUSES
    + _FT
    + """    for slots in range(1, 200):
        if slots % 24:
            assert _refuses(fit, slots, 3, 8, 1)
        else:
            assert fit(slots, 3, 8, 1) == slots // 24
""",
    "rows and length are always one: a version that forgets them passes": _REFUSES
    + _FT
    + """    for slots in range(1, 200):
        if slots % 5:
            assert _refuses(fit, slots, 1, 1, 5)
        else:
            assert fit(slots, 1, 1, 5) == slots // 5
""",
    "expects every refusal to come as the text of a return": _FT
    + """    assert fit(240, 3, 8, 5) == 2
    assert isinstance(fit(241, 3, 8, 5), str)
""",
}
