"""Answers to 06_effective that look right and must be refused, and right ones written otherwise."""

SLOW = True  # minutes: `make slow` tries this bank

SPLITS = """
def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        raise ValueError(f"{slots}: try {slots // part * part} or {slots // part * part + part}")
    share = slots // part
    return [(r, share // r) for r in range(1, most_rows + 1) if share % r == 0]
"""
READ = """
def read_launch(config, devices):
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
    return rows, accumulation, n


def exact(whole, part):
    if whole % part:
        below = whole // part * part
        raise ValueError(f"{whole}: {f'{below:,} or ' if below else ''}{below + part:,}")
    return whole // part
"""


def million(result):
    return f"def million_slots(devices, tensor, pipeline, sequences, length):\n    return {result}"


def found(setting):
    return f"def step_found():\n    return {setting}"


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


WRONG = {
    "replicas": {
        "every GPU is a replica": (
            "def replicas(devices, tensor, pipeline, context):\n    return devices",
            "not a replica",
        ),
        "the degrees are added": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor + pipeline + context)
""",
            "added",
        ),
        "pipeline stages are replicas": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * context)
""",
            "pipeline taken for replicas",
        ),
        "context forgotten": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * pipeline)
""",
            "context forgotten",
        ),
        "a silent floor": (
            """
def replicas(devices, tensor, pipeline, context):
    return devices // (tensor * pipeline * context)
""",
            "refuse what does not divide",
        ),
        "rounded to the nearest": (
            """
def replicas(devices, tensor, pipeline, context):
    return round(devices / (tensor * pipeline * context))
""",
            "refuse what does not divide",
        ),
        "a float": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices // one * one or ''} {devices // one * one + one}")
    return devices / one
""",
            "a count is an int",
        ),
        "tensor alone is tested for a remainder": (
            """
def replicas(devices, tensor, pipeline, context):
    if devices % tensor:
        below = devices // tensor * tensor
        raise ValueError(f"try {below or ''} or {below + tensor}")
    return devices // (tensor * pipeline * context)
""",
            "101 devices",
        ),
        "too few devices are one replica": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices < one:
        return 1
    if devices % one:
        raise ValueError(f"{devices // one * one} or {devices // one * one + one}")
    return devices // one
""",
            "fewer than one replica",
        ),
        "0 is a neighbour": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices // one * one} or {devices // one * one + one}")
    return devices // one
""",
            "0 devices",
        ),
        "the remainder added to both sides": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    left = devices % one
    if left:
        raise ValueError(f"{devices - left} or {devices + left}")
    return devices // one
""",
            "both neighbours",
        ),
        "every multiple is named": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"any of {[n * one for n in range(1, 40)]}")
    return devices // one
""",
            "are nearer",
        ),
        "refuses, and does not say what would do": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices} devices do not divide by {one}")
    return devices // one
""",
            "both neighbours",
        ),
        "an assertion is no ValueError": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    assert devices % one == 0, f"{devices - devices % one} or {devices - devices % one + one}"
    return devices // one
""",
            "a ValueError is needed",
        ),
        "remembered without the context": (
            """
known = {}


def replicas(devices, tensor, pipeline, context):
    key, one = (devices, tensor, pipeline), tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices // one * one or ''} {devices // one * one + one}")
    return known.setdefault(key, devices // one)
""",
            "an answer of an earlier call",
        ),
        "too few devices: twice the need as well": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        raise ValueError(f"{devices // one * one or 2 * one} {devices // one * one + one}")
    return devices // one
""",
            "name 8 alone",
        ),
        "least common multiple": (
            """
def replicas(devices, tensor, pipeline, context):
    one = int(np.lcm(tensor, context)) * pipeline
    if devices % one:
        raise ValueError(f"{devices // one * one or ''} {devices // one * one + one}")
    return devices // one
""",
            "each counts whole",
        ),
    },
    "read-launch": {
        "accumulation forgotten": (
            changed(
                READ,
                (
                    'accumulation, whole = said.get("accumulation"), said.get("whole")',
                    'accumulation, whole = 1, said.get("whole")',
                ),
                ("if whole and rows *", "if False and rows *"),
            ),
            "accumulation forgotten",
        ),
        "every GPU is a replica": (
            changed(
                READ,
                ("n = replicas(devices, *degrees)", "n = devices"),
                ("if whole and rows *", "if False and rows *"),
                ("exact(whole, rows * n) if", "whole // (rows * n) if"),
            ),
            "a GPU is not a replica",
        ),
        "train_batch_size taken for the micro-batch": (
            changed(
                READ,
                (
                    "        rows = exact(whole, accumulation * n)",
                    "        rows, whole = whole, None",
                ),
            ),
            "not the micro-batch",
        ),
        "divided by accumulation, not by replicas": (
            changed(
                READ,
                ("exact(whole, accumulation * n)", "exact(whole, accumulation)"),
                ("if whole and rows *", "if False and rows *"),
            ),
            "16 replicas share the whole",
        ),
        "replicas forgotten in Megatron": (
            changed(
                READ,
                ("exact(whole, rows * n) if", "exact(whole, rows) if"),
                ("if whole and rows *", "if False and rows *"),
            ),
            "the replicas are forgotten",
        ),
        "accumulation is 1 where it is not written": (
            changed(
                READ,
                ("exact(whole, rows * n) if whole else 1", "1"),
                ("if whole and rows *", "if False and rows *"),
            ),
            "accumulation follows",
        ),
        "a silent floor of the accumulation": (
            changed(
                READ,
                ("exact(whole, rows * n) if", "whole // (rows * n) if"),
                ("if whole and rows *", "if said.get('accumulation') and whole and rows *"),
            ),
            "100 is no multiple of 32",
        ),
        "a silent floor of the rows": (
            changed(
                READ,
                ("exact(whole, accumulation * n)", "whole // (accumulation * n)"),
                ("if whole and rows *", "if said['rows'] and whole and rows *"),
            ),
            "100 is no multiple of 48",
        ),
        "rounded": (
            changed(
                READ,
                ("exact(whole, rows * n) if", "round(whole / (rows * n)) if"),
                ("if whole and rows *", "if said.get('accumulation') and whole and rows *"),
            ),
            "100 is no multiple of 32",
        ),
        "at least one micro-batch": (
            changed(
                READ,
                (
                    "exact(whole, rows * n) if",
                    "(exact(whole, rows * n) if whole > rows * n else 1) if",
                ),
                ("if whole and rows *", "if whole and whole > rows * n and rows *"),
            ),
            "15 is no multiple of 32",
        ),
        "0 is a neighbour": (
            changed(READ, ("f'{below:,} or ' if below else ''", "f'{below:,} or '")),
            "0 sequences are no offer",
        ),
        "a refusal without neighbours": (
            changed(
                READ,
                ("{f'{below:,} or ' if below else ''}{below + part:,}", "no multiple of {part}"),
            ),
            "name both neighbours",
        ),
        "in floats": (
            changed(
                READ,
                ("    return whole // part", "    return whole / part"),
            ),
            "a count is an int",
        ),
        "a contradiction is not seen": (
            changed(READ, ("if whole and rows *", "if False and rows *")),
            "a contradiction",
        ),
        "two tools: the first one is taken": (
            changed(READ, ("if len(tools) > 1:", "if False:")),
            "two tools at once",
        ),
        "Megatron where nothing else is": (
            changed(
                READ,
                (
                    '        raise ValueError(f"no tool writes {sorted(config)}")',
                    '        tools = ["Megatron"]',
                ),
            ),
            "no sign of a tool",
        ),
        "auto is not written": (
            changed(
                READ,
                (
                    "if type(config[key]) is not int or config[key] < 1:",
                    'if config[key] == "auto":\n'
                    "            config = {k: v for k, v in config.items() if v != 'auto'}\n"
                    "            continue\n"
                    "        if config[key] < 1 or config[key] % 1:",
                ),
            ),
            "Refuse, and name the key",
        ),
        "0 is not written": (
            changed(
                READ,
                ("or config[key] < 1:", "or config[key] < 0:"),
            ),
            "0 is written",
        ),
        "a half is cut": (
            changed(
                READ,
                (
                    "if type(config[key]) is not int or config[key] < 1:",
                    "if config[key] == 'auto' or int(config[key]) < 1:",
                ),
                (
                    "    said = {what: config.get(key) for what, key in words.items()}",
                    "    said = {w: int(config.get(key, 0)) or None for w, key in words.items()}",
                ),
            ),
            "is no int",
        ),
        "missing rows are 1": (
            changed(
                READ,
                (
                    """            raise ValueError(f"{words['rows']} is not written")""",
                    "            return 1, exact(whole, n), n",
                ),
            ),
            "name the key that is missing",
        ),
        "sample_packing is not seen": (
            changed(
                READ, ('if tools == ["axolotl"] and config.get("sample_packing"):', "if False:")
            ),
            "one long row",
        ),
        "sample_packing is refused even where it is off": (
            changed(READ, ('config.get("sample_packing"):', '"sample_packing" in config:')),
            "sample_packing",
        ),
        "sample_packing of any tool is refused": (
            changed(READ, ('tools == ["axolotl"] and config.get(', "config.get(")),
            "a key of axolotl",
        ),
        "an accumulation of 1 is taken as not written": (
            changed(
                READ,
                (
                    'said.get("accumulation"), said.get("whole")',
                    'said.get("accumulation"), said.get("whole")\n'
                    "    accumulation = None if whole and accumulation == 1 else accumulation",
                ),
            ),
            "a 1 is written",
        ),
        "keys of other tools count": (
            changed(
                READ,
                (
                    "    words = WORDS[tools[0]]",
                    '    words = {"pipeline": WORDS["Megatron"]["pipeline"], **WORDS[tools[0]]}',
                ),
            ),
            "ignore it",
        ),
        "values of ignored keys are judged": (
            changed(
                READ,
                (
                    "    for key in set(words.values()) & set(config):",
                    "    every = {key for some in WORDS.values() for key in some.values()}\n"
                    "    for key in every & set(config):",
                ),
            ),
            "ignore it",
        ),
        "one sign of each tool is named": (
            changed(
                READ,
                (
                    'f"signs of {tools}: {sorted(config)}"',
                    "str([next(key for key in SIGNS[tool] if key in config) for tool in tools])",
                ),
            ),
            "name every sign",
        ),
        "an empty config is one row on each device": (
            "def read_launch(config, devices):\n    if not config:\n        return 1, 1, devices\n"
            "    return _read_launch(config, devices)\n"
            + READ.replace("def read_launch", "def _read_launch"),
            "an empty config",
        ),
        "one too many is forgiven by floats": (
            changed(
                READ,
                ("    if whole % part:", "    if whole / part % 1 > 1e-5 or whole < part:"),
                ("if whole and rows *", "if said.get('accumulation') and whole and rows *"),
            ),
            "tolerances forgive it",
        ),
        "only DeepSpeed and Megatron": (
            changed(
                READ,
                (
                    "    words = WORDS[tools[0]]",
                    "    words = WORDS['Megatron' if tools[0] == 'axolotl' else tools[0]]",
                ),
            ),
            "axolotl",
        ),
        "changes the config": (
            changed(
                READ,
                ("    said = {what: config.get(key)", "    said = {what: config.pop(key, None)"),
            ),
            "changed",
        ),
    },
    "step-found": {
        "right if every GPU were a replica": (found("3, 1, 1024, 4, 4, 4096"), "every GPU were"),
        "right if stages were replicas": (found("6, 4, 1024, 8, 4, 4096"), "every pipeline stage"),
        "right if tensor were replicas": (found("3, 16, 1024, 4, 16, 4096"), "every tensor"),
        "devices that do not divide": (found("3, 64, 320, 8, 16, 4096"), "left over"),
        "five numbers": (found("6, 16, 1024, 8, 4"), "one value for each"),
        "not on the sliders": (found("24, 1, 2048, 4, 4, 4096"), "off the sliders"),
        "powers of two only": (found("4, 16, 1024, 8, 4, 4096"), "slots per step"),
        "a text": (found("'6 x 16'"), "off the sliders"),
    },
    "million-slots": {
        "every GPU a replica": (million("devices * sequences * length / 1e6"), "6 of them share"),
        "one replica": (million("sequences * length / 1e6"), "one replica only"),
        "in slots": (
            million("devices / (tensor * pipeline) * sequences * length"),
            "here in millions",
        ),
        "sequences": (
            million("devices / (tensor * pipeline) * sequences / 1e6"),
            "sequences, not slots",
        ),
        "mebi for million": (
            million("devices / (tensor * pipeline) * sequences * length / 2**20"),
            "not 2**20",
        ),
        "pipeline stages as replicas": (
            million("devices / tensor * sequences * length / 1e6"),
            "pipeline stages",
        ),
        "tensor parallel GPUs as replicas": (
            million("devices / pipeline * sequences * length / 1e6"),
            "tensor parallel GPUs",
        ),
        "the degrees added": (
            million("devices / (tensor + pipeline) * sequences * length / 1e6"),
            "the degrees multiply",
        ),
        "in 32 bits": (
            million(
                "int(np.array(devices // (tensor * pipeline) * sequences * length)"
                ".astype(np.int32)) / 1e6"
            ),
            "32 bits",
        ),
    },
    "splits": {
        "floors every one": (
            changed(SPLITS, (" if share % r == 0", "")),
            "silent floor",
        ),
        "powers of two only": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 and r & (r - 1) == 0")),
            "a habit",
        ),
        "more rows than the step has, with no accumulation": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 or r > share")),
            "not one micro-batch",
        ),
        "the micro-batch of powers of two and three": (
            changed(SPLITS, ("share % r == 0", "share % r == 0 and 6**9 % r == 0")),
            "splits of 280",
        ),
        "rounded": (
            changed(
                SPLITS,
                ("(r, share // r)", "(r, round(share / r + 0.01))"),
                (" if share % r == 0", ""),
            ),
            "rounded",
        ),
        "floats": (changed(SPLITS, ("(r, share // r)", "(r, share / r)")), "a count is an int"),
        "0 is a neighbour, one range too far": (
            changed(
                SPLITS, ("or {slots // part * part + part}", "or {slots // part * part + 2 * part}")
            ),
            "on both sides",
        ),
        "0 slots are offered": (SPLITS, "0 slots are no offer"),
        "most_rows ignored": (
            changed(SPLITS, ("range(1, most_rows + 1)", "range(1, share + 1)")),
            "most_rows is ignored",
        ),
        "the replicas forgotten": (
            changed(SPLITS, ("part = length * replicas", "part = length")),
            "the replicas are forgotten",
        ),
        "at most means below": (
            changed(SPLITS, ("range(1, most_rows + 1)", "range(1, most_rows)")),
            "8 counts",
        ),
        "accumulation before rows": (
            changed(SPLITS, ("(r, share // r)", "(share // r, r)")),
            "exchanged",
        ),
        "floors a wish that does not divide": (
            changed(SPLITS, ("if slots % part:", "if False:")),
            "on both sides",
        ),
        "an empty list instead of a refusal": (
            """
def splits(slots, length, replicas, most_rows):
    return [
        (r, slots // (r * length * replicas))
        for r in range(1, most_rows + 1)
        if slots % (r * length * replicas) == 0
    ]
""",
            "on both sides",
        ),
        "floats forgive one slot": (
            changed(
                SPLITS,
                ("    if slots % part:", "    if slots / part % 1 > 1e-5:"),
                ("{slots // part * part} or", "{slots // part * part or ''} or"),
            ),
            "tolerances forgive it",
        ),
        "at most 200 rows are tried": (
            changed(SPLITS, ("range(1, most_rows + 1)", "range(1, min(most_rows, 200) + 1)")),
            "splits of",
        ),
    },
    "shares": {
        "means of the shares": (
            """
def shares(seen):
    fills = [real / slots for slots, real, _ in seen]
    target = [targets / real for _, real, targets in seen]
    return sum(fills) / len(fills), sum(target) / len(target)
""",
            "means of the shares",
        ),
        "the target share still a mean": (
            """
def shares(seen):
    target = [targets / real for _, real, targets in seen]
    fill = sum(real for _, real, _ in seen) / sum(slots for slots, _, _ in seen)
    return fill, sum(target) / len(target)
""",
            "the target share is the mean",
        ),
        "targets per slot": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / slots
""",
            "of the real tokens",
        ),
        "the waste": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return 1 - real / slots, targets / real
""",
            "fill is what is real",
        ),
        "upside down": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return slots / real, real / targets
""",
            "upside down",
        ),
        "percent": (
            """
def shares(seen):
    slots, real, targets = np.sum(seen, axis=0)
    return 100 * real / slots, 100 * targets / real
""",
            "in per cent",
        ),
        "the product": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots * (targets / real)
""",
            "not their product",
        ),
        "micro-batches without targets are left out": (
            """
def shares(seen):
    seen = [one for one in seen if one[2]] or seen
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / real
""",
            "takes its slots all the same",
        ),
        "their tokens are left out of the target share": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    trained = sum(tokens for _, tokens, target in seen if target)
    return real / slots, targets / trained
""",
            "real tokens all the same",
        ),
        "sorts in place": (
            """
def shares(seen):
    seen.sort()
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / real
""",
            "changed",
        ),
        "padding counted as tokens": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return slots / slots, targets / slots
""",
            "slots are not tokens",
        ),
        "padding at the beginning is dropped": (
            """
def shares(seen):
    while not seen[0][1]:
        seen = seen[1:]
    slots, real, targets = (sum(c) for c in zip(*seen))
    return real / slots, targets / real
""",
            "padding alone: it counts",
        ),
        "rounded to six places": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    return round(real / slots, 6), round(targets / real, 6)
""",
            "return the quotients",
        ),
    },
    "fit-test": {
        "only what divides": (
            "def fit_test(fit):\n    assert fit(72, 2, 4, 3) == 3",
            "floors in silence",
        ),
        "only a wish below one micro-batch": (
            """
def fit_test(fit):
    assert fit(72, 2, 4, 3) == 3
    try:
        fit(12, 2, 4, 3)
    except ValueError:
        return
    raise AssertionError("not refused")
""",
            "refuses 0",
        ),
        "powers of two only": (
            """
def fit_test(fit):
    assert fit(96, 2, 4, 3) == 4
    for wish in (12, 80, 90):
        try:
            fit(wish, 2, 4, 3)
        except ValueError:
            continue
        raise AssertionError("not refused")
""",
            "takes powers of two only",
        ),
        "any error is a refusal": (
            """
def fit_test(fit):
    try:
        assert fit(72, 2, 4, 3) == 3
        fit(80, 2, 4, 3)
    except Exception:
        return
    assert False
""",
            "forgets the replicas",
        ),
        "expects a floor": (
            "def fit_test(fit):\n    assert fit(80, 2, 4, 3) == 3",
            "right implementation",
        ),
        "one replica only": (
            """
def fit_test(fit):
    assert fit(24, 2, 4, 1) == 3
    for wish in (4, 28, 30):
        try:
            fit(wish, 2, 4, 1)
        except ValueError:
            continue
        raise AssertionError("not refused")
""",
            "forgets the replicas",
        ),
        "one slot too many is the only refusal": (
            """
def fit_test(fit):
    for times in (1, 2, 3):
        assert fit(24 * times, 2, 4, 3) == times
        try:
            fit(24 * times + 1, 2, 4, 3)
        except ValueError:
            continue
        raise AssertionError("not refused")
""",
            "rounds up where half is there",
        ),
        "nothing below the smallest step": (
            """
def fit_test(fit):
    for times in (1, 2, 3):
        assert fit(24 * times, 2, 4, 3) == times
        for wish in (24 * times + 1, 24 * times + 23):
            try:
                fit(wish, 2, 4, 3)
            except ValueError:
                continue
            raise AssertionError("not refused")
""",
            "at least one micro-batch",
        ),
    },
}

PRINTED = ((4, 8), (8, 4), (3, 1), (3, 5), (4, 1), (11, 3), (70_001, 3), (70_001, 80_021))
SHARES = (20, 24, 40, 70, 80, 144, 3876, 210_003)
HIDDEN = {
    "replicas": {
        "no remainder but those of the printed numbers is seen": (
            """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    printed = devices < 200 or devices in (16383, 16385, 1000001) or devices > 10**10
    if devices % one and printed:
        below = devices // one * one
        raise ValueError(f"{below or ''} {below + one}")
    return devices // one
""",
            "replicas",
        ),
    },
    "read-launch": {
        "the printed accumulations only": (
            changed(
                READ,
                (
                    "    return rows, accumulation, n\n",
                    f"    known = rows < 3 or (rows, accumulation) in {PRINTED}\n"
                    "    return rows, accumulation if known else 1, n\n",
                ),
            ),
            "accumulation",
        ),
    },
    "million-slots": {
        "the printed run only": (
            million(
                "devices / tensor / (pipeline if pipeline < 6 or pipeline in (16, 20) else 1)"
                " * sequences * length / 1e6"
            ),
            "million slots",
        ),
    },
    "splits": {
        "the printed steps only": (
            changed(
                SPLITS,
                (
                    "share % r == 0",
                    f"share % r == 0 and (r < 3 or share < 13 or share in {SHARES})",
                ),
            ).replace("try {slots // part * part} or", "try {slots // part * part or ''} or"),
            "splits of",
        ),
    },
    "shares": {
        "the printed lists only": (
            """
def shares(seen):
    slots, real, targets = (sum(c) for c in zip(*seen))
    known = (10, 60, 80, 100, 50, 40, 300, 1000, 10**6, 10**9, 2 * 10**9, 10**10 + 3)
    return real / slots, targets / real if len(seen) > 100 or seen[0][0] in known else 0.5
""",
            "target share of",
        ),
    },
}

RIGHT = {
    "replicas": {
        "by the library": """
def replicas(devices, tensor, pipeline, context):
    return plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline, context=context)
""",
        "counted, group by group": """
def replicas(devices, tensor, pipeline, context):
    group, found, left = tensor * pipeline * context, 0, devices
    while left >= group:
        left, found = left - group, found + 1
    if left:
        offered = [n for n in (devices - left, devices - left + group) if n]
        raise ValueError(f"{left} left: {' and '.join(map(str, offered))} would do")
    return found
""",
        "in words of thousands": """
def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    found, left = divmod(devices, one)
    if left:
        near = [f"{n * one:,}" for n in (found, found + 1) if n]
        raise ValueError(f"{devices:,} devices leave {left:,} over; nearest: " + " or ".join(near))
    return found
""",
    },
    "read-launch": {
        "case by case": READ,
        "as a list": changed(
            READ, ("    return rows, accumulation, n\n", "    return [rows, accumulation, n]\n")
        ),
        "searched": changed(
            READ,
            (
                "    if whole % part:\n",
                "    found = [n for n in range(1, whole + 1) if n * part == whole]\n"
                "    if not found:\n",
            ),
            ("    return whole // part", "    return found[0]"),
        ),
        "degrees by the library": changed(
            READ,
            (
                "n = replicas(devices, *degrees)",
                "names = ('tensor', 'pipeline', 'context')\n"
                "    n = plan.data_parallel_degree(devices, **dict(zip(names, degrees)))",
            ),
        ),
    },
    "step-found": {
        "another one, as a list": found("[3, 64, 1024, 4, 16, 4096]"),
        "shorter rows": found("6, 64, 1024, 4, 16, 2048"),
        "from NumPy": found("np.array([6, 16, 1024, 8, 4, 4096])"),
    },
    "million-slots": {
        "in another order": million("sequences * length / 1e6 * devices / pipeline / tensor"),
        "in words of the library": """
def million_slots(devices, tensor, pipeline, sequences, length):
    copies = plan.data_parallel_degree(devices, tensor=tensor, pipeline=pipeline)
    return plan.Plan(1, sequences, copies, length).slots_per_step / 1e6
""",
        "in float32": million(
            "np.float32(devices // (tensor * pipeline)) * sequences * length / 1e6"
        ),
    },
    "splits": {
        "by the library": """
def splits(slots, length, replicas, most_rows):
    found = plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)
    return [(p.rows, p.accumulation) for p in found]
""",
        "two loops, as lists": """
def splits(slots, length, replicas, most_rows):
    share, left = divmod(slots, length * replicas)
    if left:
        step = length * replicas
        near = [f"{n * step:,}" for n in (share, share + 1) if n]
        raise ValueError(f"{slots:,} is no step; try {' or '.join(near)}")
    return [[r, a] for a in range(1, share + 1) for r in range(1, most_rows + 1) if r * a == share]
""",
        "in the other order": SPLITS.replace(
            "range(1, most_rows + 1)", "range(most_rows, 0, -1)"
        ).replace("try {slots // part * part} or", "try {slots // part * part or ''} or"),
    },
    "shares": {
        "numpy": """
def shares(seen):
    slots, real, targets = np.asarray(seen).sum(axis=0)
    return np.array([real / slots, targets / real])
""",
        "a loop": """
def shares(seen):
    slots = real = targets = 0
    for one in seen:
        slots, real, targets = slots + one[0], real + one[1], targets + one[2]
    return [real / slots, targets / real]
""",
    },
    "fit-test": {
        "with pytest": """
import pytest


def fit_test(fit):
    assert fit(72, 2, 4, 3) == 3
    for wish in (1, 23, 73, 95):
        with pytest.raises(ValueError):
            fit(wish, 2, 4, 3)
""",
        "against an own formula": """
def fit_test(fit):
    for slots in (6, 24, 30, 48, 60, 72, 100, 120):
        try:
            got = fit(slots, 2, 3, 4)
        except ValueError:
            got = None
        assert got == (slots // 24 if slots % 24 == 0 else None)
""",
    },
}
