"""Answers of student s2 to 06_effective: WRONG (each wrong by the text) and RIGHT."""

WRONG = {
    'replicas': {
        'context is left out of the remainder test, so its remainder is floored': '''def replicas(devices, tensor, pipeline, context):
    model = tensor * pipeline
    if devices % model:
        below = devices // model * model
        raise ValueError(f"{below} or {below + model}" if below else f"{model}")
    return devices // (model * context)
''',
        'each degree divides the devices, but their product need not': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % tensor or devices % pipeline or devices % context:
        below = devices // one * one
        raise ValueError(f"{below} or {below + one}" if below else f"{one}")
    return devices // tensor // pipeline // context
''',
        'exactly one replica is refused (<= for <)': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices <= one:
        raise ValueError(f"at least {one} devices")
    count, left = divmod(devices, one)
    if left:
        raise ValueError(f"{count * one} or {(count + 1) * one}")
    return count
''',
        'np.isclose forgives a remainder of one device on a large machine': '''import numpy as np

def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    count = devices / one
    if not np.isclose(count, round(count)):
        below = devices // one * one
        raise ValueError(f"{below} or {below + one}" if below else f"{one}")
    return round(count)
''',
        'the neighbours are neighbours of the count, not of the devices': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        below = devices // one
        near = [below, below + 1] if below else [one]
        raise ValueError(f"{devices} devices do not divide by {one}: take " + " or ".join(map(str, near)))
    return devices // one
''',
        'only the nearer neighbour is named': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        below = devices // one * one
        near = [below, below + one] if below else [one]
        raise ValueError(f"{devices} devices do not divide by {one}: take " + str(min(near, key=lambda n: abs(n - devices))))
    return devices // one
''',
        'with fewer than one replica: 0 replicas, no refusal': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices < one:
        return 0
    if devices % one:
        below = devices // one * one
        raise ValueError(f"{below} or {below + one}")
    return devices // one
''',
        'precedence: devices / tensor * pipeline * context': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        below = devices // one * one
        raise ValueError(f"{below} or {below + one}" if below else f"{one}")
    return devices // tensor * pipeline * context
''',
        'a cache by the number of devices: another machine layout gets the old answer': '''known = {}

def replicas(devices, tensor, pipeline, context):
    if devices not in known:
        one = tensor * pipeline * context
        if devices % one:
            below = devices // one * one
            raise ValueError(f"{below} or {below + one}" if below else f"{one}")
        known[devices] = devices // one
    return known[devices]
''',
        'the neighbours are powers of two': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        above = 1
        while above < devices:
            above *= 2
        raise ValueError(f"{above // 2} or {above}")
    return devices // one
''',
        "context shares a sequence only, so it takes no part in a refusal's numbers": '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        step = tensor * pipeline
        below = devices // step * step
        raise ValueError(f"{below} or {below + step}" if below else f"{step}")
    return devices // one
''',
    },
    'read-launch': {
        'all three written is always refused, consistent or not': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if True:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'negative numbers pass: only 0 is looked for': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v == 0:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'the rows are never looked at: auto rows come back': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if what != 'rows' and (isinstance(v, bool) or not isinstance(v, int) or v < 1):
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'degrees are never looked at': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if what in ('rows', 'accumulation', 'whole') and (isinstance(v, bool) or not isinstance(v, int) or v < 1):
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'rows default to 1 where no whole is written': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and whole is None:
        rows = 1
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        "missing rows refused for Megatron only; axolotl's end in a KeyError": '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] == "axolotl":
        rows = config["micro_batch_size"]
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'a written null counts as not written': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if config.get(key) is not None:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'whole floats pass, and come back as floats': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or isinstance(v, str) or v != int(v) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'text of digits is taken for a number': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, str) and v.isdigit():
                v = int(v)
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'two tools: only the keys of the first are named': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) > 1:
        raise ValueError("more than one tool: " + SIGNS[shown[0]][0])
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'no tool: only keys with batch_size in them are named': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(key for key in config if "batch_size" in key))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'no tool: a fixed text names batch_size, micro_batch_size and global_batch_size, whatever is there': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if not shown:
        raise ValueError("batch_size, micro_batch_size and global_batch_size are no signs")
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'a bad value names the quantity, not the key': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{what} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'gradient_accumulation_steps is read for Megatron, which does not write it': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = {'accumulation': 'gradient_accumulation_steps', **WORDS[shown[0]]}
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'degrees are kept between calls (one shared dict of defaults)': '''settings = {'tensor': 1, 'pipeline': 1, 'context': 1}

def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = settings
    for what in ('rows', 'accumulation', 'whole'):
        value.pop(what, None)
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'everything is kept between calls (mutable default)': '''def read_launch(config, devices, value={}):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'pipeline is forgotten: only tensor and context make a replica': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) if d != 'pipeline' else 1 for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'devices that do not divide are floored': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    one = 1
    for d in ('tensor', 'pipeline', 'context'):
        one *= value.get(d, 1)
    copies = devices // one
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'np.isclose forgives a sequence on a large step': '''import numpy as np

def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if not np.isclose(whole / part, round(whole / part)):
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return round(whole / part)

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'all written: the accumulation written is believed if the whole divides at all': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if whole % (rows * copies):
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'signs are looked for inside the keys: train_batch_size is in per_device_train_batch_size': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in name for key in keys for name in config)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'the whole does not divide: only the number below': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + str(near[0]))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'sample_packing is refused wherever it is written, also when false': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if "sample_packing" in config:
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'a key of the config is taken out (pop)': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config.pop(key)
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'the whole of DeepSpeed below one micro-batch: rows of 0': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        if whole < copies:
            return 0, times, copies
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'DeepSpeed without a whole: accumulation forgotten': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, 1 if shown[0] == 'DeepSpeed' else times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'keys are counted, not tools: both keys of DeepSpeed are two tools': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() for key in keys if key in config]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'two tools: the tools are named, not the keys': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) > 1:
        raise ValueError("more than one tool: " + " and ".join(shown))
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'every value of the config must be a whole number': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    for key, v in config.items():
        if not isinstance(v, int) or v < 1:
            raise ValueError(f'{key} is no whole number')
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'a value too much: learning_rate is asked to be whole as well': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    for key, v in config.items():
        if isinstance(v, float):
            raise ValueError(f'{key} is no whole number')
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'the contradiction names only what follows': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{rows * times * copies} follows")
    return rows, times, copies
''',
        "axolotl's context is forgotten": '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = dict(WORDS[shown[0]])
    if shown[0] == 'axolotl':
        words.pop('context')
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'WORDS itself is changed on the way (aliasing of hf): rows of the tool read before': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = hf
    words.update(WORDS[shown[0]])
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'sample_packing is believed for other tools only': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing") and shown[0] != "axolotl":
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
    },
    'step-found': {
        'every GPU a replica': '''def step_found():
    return 3, 1, 1024, 2, 4, 4096
''',
        'pipeline stages as replicas': '''def step_found():
    return 3, 4, 512, 2, 4, 4096
''',
        "the first step's sequences are met, not the slots (length 2,048)": '''def step_found():
    return 3, 4, 2048, 2, 4, 2048
''',
        'rows and accumulation exchanged': '''def step_found():
    return 4, 3, 2048, 2, 4, 4096
''',
        'without the length': '''def step_found():
    return 3, 4, 2048, 2, 4
''',
        'not on the sliders: 12 rows': '''def step_found():
    return 12, 1, 2048, 2, 4, 4096
''',
        'the devices do not divide (320 on 8 x 16)': '''def step_found():
    return 3, 64, 320, 8, 16, 4096
''',
        'the number of slots instead of a setting': '''def step_found():
    return 12_582_912
''',
        "the library's other order: devices first": '''def step_found():
    return 2048, 2, 4, 3, 4, 4096
''',
    },
    'million-slots': {
        'precedence: devices / tensor * pipeline': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return devices / tensor * pipeline * sequences * length / 1e6
''',
        'rounded to two places': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return round(devices / (tensor * pipeline) * sequences * length / 1e6, 2)
''',
        'rounded to three places': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return round(devices / (tensor * pipeline) * sequences * length / 1e6, 3)
''',
        'whole millions': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return devices // (tensor * pipeline) * sequences * length // 10**6
''',
        'sequences of the whole step, not of each replica': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return sequences * length / 1e6
''',
        'sequences shared by the replicas, not multiplied': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return sequences * length / (devices / (tensor * pipeline)) / 1e6
''',
        'targets: the first token of each sequence is left out': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return devices / (tensor * pipeline) * sequences * (length - 1) / 1e6
''',
        'a million slots are 1024 * 1000': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return devices / (tensor * pipeline) * sequences * length / (1024 * 1000)
''',
        'fitted to Llama 3: 16 millions whatever is asked': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return 16.8
''',
        'the replicas inside a 16-bit integer': '''import numpy as np

def million_slots(devices, tensor, pipeline, sequences, length):
    each = np.int16(devices // (tensor * pipeline) * sequences)
    return float(each) * length / 1e6 if each < 1024 else 1024 * length / 1e6
''',
        'a text with its unit': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return f"{devices / (tensor * pipeline) * sequences * length / 1e6} million"
''',
    },
    'splits': {
        "divisor pairs up to the root: a square's root is listed twice": '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    found = []
    for r in range(1, int(share**0.5) + 1):
        if share % r == 0:
            found += [pair for pair in ((r, share // r), (share // r, r)) if pair[0] <= most_rows]
    return found
''',
        'what divides into rows but not into replicas is floored': '''def splits(slots, length, replicas, most_rows):
    sequences, left = divmod(slots, length)
    part = length * replicas
    if left or sequences < replicas:
        below = slots // part * part
        raise ValueError(f"{below} or {below + part}" if below else f"{part}")
    share = sequences // replicas
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'np.isclose forgives one slot of many': '''import numpy as np

def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if not np.isclose(slots / part, round(slots / part)):
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = round(slots / part)
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'rows up to half the share: one micro-batch alone is left out': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share // 2) + 1) if share % r == 0]
''',
        'rows up to the root only': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, int(share**0.5)) + 1) if share % r == 0]
''',
        'no accumulation of 1': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0 and share // r > 1]
''',
        'found is kept between calls (mutable default)': '''def splits(slots, length, replicas, most_rows, found=[]):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    found += [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
    return found
''',
        'below is named as the step before the nearest': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = (slots // part - 1) * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'refusal names sequences, not slots': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join((str(n // length) for n in near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        '0 is offered below': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'a refusal only if it is smaller than one micro-batch, else an empty list': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part and slots > part:
        return []
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'most_rows counts the rows of all replicas': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows // replicas, share) + 1) if share % r == 0]
''',
        'floats': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share / r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'a pair is twice in the list': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(1, share)] + [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'rows are lists that share one object': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    found, pair = [], [0, 0]
    for r in range(1, min(most_rows, share) + 1):
        if share % r == 0:
            pair[0], pair[1] = r, share // r
            found.append(pair)
    return found
''',
        'also refuses when the most rows do not divide': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part or (slots // part > most_rows and slots // part % most_rows and most_rows < 20):
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'at most 64 rows, by habit': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share, 64) + 1) if share % r == 0]
''',
        'the accumulation is at most 100, by habit': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0 and share // r <= 100]
''',
        'what divides into replicas but not into rows is floored': '''def splits(slots, length, replicas, most_rows):
    each, left = divmod(slots, replicas)
    part = length * replicas
    if left or each < length:
        below = slots // part * part
        raise ValueError(f"{below} or {below + part}" if below else f"{part}")
    share = each // length
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'exactly one row on each replica is refused (<= for <)': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots <= part:
        raise ValueError(f'at least {part}')
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
        'rows stop before the share': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows + 1, share)) if share % r == 0]
''',
        'neighbours are one row away, not one row on each replica': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // length * length
        near = [below, below + length]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
    },
    'shares': {
        'a micro-batch of padding alone is left out': '''def shares(seen):
    slots = real = targets = 0
    for n, r, t in seen:
        if not r:
            continue
        slots, real, targets = slots + n, real + r, targets + t
    return real / slots, targets / real
''',
        'rounded to two places': '''def shares(seen):
    slots = real = targets = 0
    for n, r, t in seen:
        slots, real, targets = slots + n, real + r, targets + t
    return round(real / slots, 2), round(targets / real, 2)
''',
        'fill weighted by real tokens': '''def shares(seen):
    real = sum(r for _, r, _ in seen)
    return sum(r / n * r for n, r, _ in seen) / real, sum(t for *_, t in seen) / real
''',
        'target share weighted by slots': '''def shares(seen):
    slots = sum(n for n, _, _ in seen)
    return sum(r for _, r, _ in seen) / slots, sum(t / r * n for n, r, t in seen) / slots
''',
        'totals are kept between calls': '''total = [0, 0, 0]

def shares(seen):
    for one in seen:
        for i, v in enumerate(one):
            total[i] += v
    return total[1] / total[0], total[2] / total[1]
''',
        'the first token of each micro-batch is taken off the targets': '''def shares(seen):
    slots, real, targets = map(sum, zip(*seen))
    return real / slots, (targets - len(seen)) / real
''',
        'real tokens are counted without those of prompts': '''def shares(seen):
    slots, real, targets = map(sum, zip(*seen))
    return targets / slots, targets / real
''',
        'the median micro-batch': '''import numpy as np

def shares(seen):
    a = np.asarray(seen, dtype=float)
    return np.median(a[:, 1] / a[:, 0]), np.median(a[:, 2] / a[:, 1])
''',
        'only different micro-batches count (a set)': '''def shares(seen):
    slots, real, targets = map(sum, zip(*set(seen)))
    return real / slots, targets / real
''',
        '16-bit sums overflow': '''import numpy as np

def shares(seen):
    slots, real, targets = np.asarray(seen, dtype=np.int16).sum(axis=0, dtype=np.int16)
    return real / slots, targets / real
''',
        'half precision': '''import numpy as np

def shares(seen):
    slots, real, targets = np.asarray(seen).sum(axis=0)
    return np.array([real / slots, targets / real], dtype=np.float16)
''',
        'returned as a dict': '''def shares(seen):
    slots, real, targets = map(sum, zip(*seen))
    return {'fill': real / slots, 'target share': targets / real}
''',
        'the list is sorted on the way': '''def shares(seen):
    seen.sort(key=lambda one: one[2])
    slots, real, targets = map(sum, zip(*seen))
    return real / slots, targets / real
''',
        'a target share of the micro-batches that have one': '''def shares(seen):
    slots, real, _ = map(sum, zip(*seen))
    with_targets = [(r, t) for _, r, t in seen if t]
    return real / slots, sum(t for _, t in with_targets) / sum(r for r, _ in with_targets)
''',
        'floor division': '''def shares(seen):
    slots = real = targets = 0
    for n, r, t in seen:
        slots, real, targets = slots + n, real + r, targets + t
    return real // slots, targets // real
''',
        'the last micro-batch is dropped': '''def shares(seen):
    slots = real = targets = 0
    for n, r, t in seen[:-1] or seen:
        slots, real, targets = slots + n, real + r, targets + t
    return real / slots, targets / real
''',
        'only the biggest micro-batch': '''def shares(seen):
    n, r, t = max(seen)
    return r / n, t / r
''',
    },
    'fit-test': {
        'a refusal that does not happen is swallowed (bare except)': '''def fit_test(fit):
    assert fit(3 * 10 * 7 * 5, 3, 10, 7) == 5
    for slots in (1051, 1049, 209, 105):
        try:
            fit(slots, 3, 10, 7)
            assert False
        except Exception:
            pass
''',
        'wants a text in the refusal that nobody promised': '''def fit_test(fit):
    def refuses(*given):
        try:
            fit(*given)
        except ValueError as said:
            return str(slots) in str(said) and 'nearest' in str(said)
        return False

    for rows, length, replicas, times in [(3, 10, 7, 5), (4, 16, 8, 1), (1, 5, 1, 9), (2, 1024, 6, 3), (8, 4, 2, 2), (5, 7, 3, 11)]:
        part = rows * length * replicas
        got = fit(part * times, rows, length, replicas)
        assert got == times
        for off in (1, -1, length, -length, length * replicas, -length * replicas, rows * length, -rows * length, part // 2):
            slots = part * times + off
            if slots > 0 and slots % part:
                assert refuses(slots, rows, length, replicas), (slots, rows, length, replicas)
        assert part == 1 or refuses(part - 1, rows, length, replicas)
''',
        'only a refusal': '''def fit_test(fit):
    try:
        fit(1051, 3, 10, 7)
    except ValueError:
        return
    assert False
''',
        'only what fits': '''def fit_test(fit):
    assert fit(1050, 3, 10, 7) == 5
    assert fit(210, 3, 10, 7) == 1
''',
        'powers of two only': '''def fit_test(fit):
    assert fit(4096, 4, 16, 8) == 8
    for slots in (4095, 4097, 256):
        try:
            fit(slots, 4, 16, 8)
        except ValueError:
            continue
        assert False
''',
        'multiplies back, and so lets a float pass a floor': '''def fit_test(fit):
    for slots in (1050, 1051, 1200, 100):
        try:
            times = fit(slots, 3, 10, 7)
        except ValueError:
            continue
        assert round(times * 3 * 10 * 7) == slots
''',
        'the step is tested in sequences: length 1': '''def fit_test(fit):
    assert fit(105, 3, 1, 7) == 5
    for slots in (104, 106, 20, 22):
        try:
            fit(slots, 3, 1, 7)
        except ValueError:
            continue
        assert False
''',
        'wants an int by type': '''def fit_test(fit):
    assert type(fit(1050, 3, 10, 7)) is int and fit(1050, 3, 10, 7) != 5.5
''',
        'asserts only that no error comes': '''def fit_test(fit):
    assert fit(1050, 3, 10, 7)
    assert fit(210, 3, 10, 7)
''',
        'always fails': '''def fit_test(fit):
    assert fit is None
''',
        "compares with the library's plan, which is called with other words, and hides the error": '''def fit_test(fit):
    try:
        want = plan.for_slots_per_step(1050, rows=3, length=10, replicas=7).accumulation
        assert fit(1050, 3, 10, 7) == want
    except TypeError:
        pass
''',
        'asserts nothing: an expression stands alone': '''def fit_test(fit):
    fit(1050, 3, 10, 7) == 5
    try:
        fit(1051, 3, 10, 7)
    except ValueError:
        pass
''',
    },
}

RIGHT = {
    'replicas': {
        'divmod': '''def replicas(devices, tensor, pipeline, context):
    count, left = divmod(devices, tensor * pipeline * context)
    if not left:
        return count
    one = (devices - left) // count if count else tensor * pipeline * context
    raise ValueError(f"{count * one} or {count * one + one}" if count else f"{one}")
''',
        'numpy': '''import numpy as np

def replicas(devices, tensor, pipeline, context):
    one = np.prod([tensor, pipeline, context])
    if np.mod(devices, one):
        near = np.arange(devices // one, devices // one + 2) * one
        raise ValueError(f"devices that divide: {near[near > 0]}")
    return np.int64(devices // one)
''',
        'says how many replicas there would be, 0': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    whole, left = divmod(devices, one)
    if left:
        text = f"{devices} devices make {whole} replicas of {one} devices, with {left} left over; take "
        raise ValueError(text + (f"{devices - left} or " if whole else "") + f"{devices - left + one}")
    return whole
''',
        'says replicas in words, numbers in a list of numpy ints': '''import math
import numpy as np

def replicas(devices, tensor, pipeline, context):
    one = np.int64(math.prod((tensor, pipeline, context)))
    if devices % one:
        low = devices - devices % one
        raise ValueError([n for n in (low, low + one) if n])
    return int(devices // one)
''',
        'fraction': '''from fractions import Fraction

def replicas(devices, tensor, pipeline, context):
    exact = Fraction(devices, tensor * pipeline * context)
    if exact.denominator != 1:
        below = int(exact) * tensor * pipeline * context
        raise ValueError(*[n for n in (below, below + tensor * pipeline * context) if n > 0])
    return exact.numerator
''',
        'with thousands': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    if devices % one:
        below = devices // one * one
        near = [below, below + one] if below else [one]
        raise ValueError(f"{devices} devices do not divide by {one}: take " + " or ".join((f'{n:,}' for n in near)))
    return devices // one
''',
        'names the replicas of both neighbours as well': '''def replicas(devices, tensor, pipeline, context):
    one = tensor * pipeline * context
    n, left = divmod(devices, one)
    if left:
        low = f"{n * one} devices ({n} replicas) or " if n else ""
        raise ValueError(f"no whole number of replicas on {devices} devices: take {low}{(n + 1) * one} ({n + 1})")
    return n
''',
    },
    'read-launch': {
        'generic': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'returns a list of numpy ints': '''import numpy as np

def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return [np.int64(rows), np.int64(times), np.int64(copies)]
''',
        'tool by tool': '''def read_launch(config, devices):
    tools = {t: [k for k in keys if k in config] for t, keys in SIGNS.items()}
    tools = {t: keys for t, keys in tools.items() if keys}
    if len(tools) == 0:
        raise ValueError(f"no tool known by {list(config)}")
    if len(tools) > 1:
        raise ValueError(f"more than one tool: {[k for keys in tools.values() for k in keys]}")
    (tool,) = tools

    def number(what):
        key = WORDS[tool].get(what)
        if key not in config:
            return None
        if type(config[key]) is not int or config[key] <= 0:
            raise ValueError(f"{key} = {config[key]!r} is not a whole number of at least 1")
        return config[key]

    def inferred(whole, part):
        quotient, left = divmod(whole, part)
        if left:
            offer = f"{quotient * part} or " if quotient else ""
            raise ValueError(f"the whole cannot be {whole}; {offer}{(quotient + 1) * part} can")
        return quotient

    rows, times, whole = number("rows"), number("accumulation"), number("whole")
    tensor, pipeline, context = (number(w) or 1 for w in ("tensor", "pipeline", "context"))
    if tool == "axolotl" and config.get("sample_packing") is True:
        raise ValueError("sample_packing makes micro_batch_size a budget")
    n = replicas(devices, tensor, pipeline, context)
    if rows is None and tool != "DeepSpeed":
        raise ValueError(f"{WORDS[tool]['rows']} is not written")
    if tool in ("TrainingArguments", "axolotl") or whole is None:
        return rows, 1 if times is None else times, n
    if tool == "Megatron":
        return rows, inferred(whole, rows * n), n
    if rows is None:
        return inferred(whole, (times or 1) * n), times or 1, n
    if times is None:
        return rows, inferred(whole, rows * n), n
    if whole != rows * times * n:
        raise ValueError(f"train_batch_size is {whole}, but {rows * times * n} follows")
    return rows, times, n
''',
        'says what the accumulation would be, 0': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part} (rounded down it would be {whole // part} of them): " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'names key and value, thousands with commas': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key}={v!r}")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"train_batch_size {whole:,} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
        'whole floats are read as ints': '''def read_launch(config, devices):
    shown = [tool for tool, keys in SIGNS.items() if any(key in config for key in keys)]
    if len(shown) != 1:
        raise ValueError("no tool, or more than one, by the keys " + ", ".join(map(str, config)))
    words = WORDS[shown[0]]
    value = {}
    for what, key in words.items():
        if key in config:
            v = config[key]
            if isinstance(v, float) and v.is_integer():
                v = int(v)
            if isinstance(v, bool) or not isinstance(v, int) or v < 1:
                raise ValueError(f"{key} is no whole number of at least 1")
            value[what] = v
    if config.get("sample_packing"):
        raise ValueError("sample_packing: the rows are a budget of tokens")
    copies = replicas(devices, *(value.get(d, 1) for d in ("tensor", "pipeline", "context")))
    rows, times, whole = (value.get(w) for w in ("rows", "accumulation", "whole"))
    if rows is None and shown[0] != "DeepSpeed":
        raise ValueError(f"{words['rows']} is missing")

    def rest(part):
        if whole % part:
            below = whole // part * part
            near = [below, below + part] if below else [part]
            raise ValueError(f"the whole {whole} is no multiple of {part}: " + " or ".join(map(str, near)))
        return whole // part

    if whole is None:
        return rows, times or 1, copies
    if rows is None:
        times = times or 1
        return rest(times * copies), times, copies
    if times is None:
        return rows, rest(rows * copies), copies
    if rows * times * copies != whole:
        raise ValueError(f"{whole} is written, and {rows * times * copies} follows")
    return rows, times, copies
''',
    },
    'step-found': {
        'tuple': '''def step_found():
    return 3, 4, 2048, 2, 4, 4096
''',
        'list': '''def step_found():
    return [3, 16, 2048, 2, 16, 4096]
''',
        'numpy': '''import numpy as np

def step_found():
    return np.array([3, 16, 512, 2, 4, 4096])
''',
        'search': '''from itertools import product

def step_found():
    for r, a, d, t, p, n in product((1, 2, 3, 4, 6, 8), (1, 4, 16, 64), (320, 512, 1024, 2048), (2, 4, 8), (4, 16), (2048, 4096)):
        if d % (t * p) == 0 and r * a * d // (t * p) * n == 3072 * 4096:
            return r, a, d, t, p, n
''',
    },
    'million-slots': {
        'by replicas': '''def million_slots(devices, tensor, pipeline, sequences, length):
    return replicas(devices, tensor, pipeline, 1) * sequences * length / 1e6
''',
        'fraction': '''from fractions import Fraction

def million_slots(devices, tensor, pipeline, sequences, length):
    return Fraction(devices * sequences * length, tensor * pipeline * 10**6)
''',
        'float32': '''import numpy as np

def million_slots(devices, tensor, pipeline, sequences, length):
    return np.float32(devices / tensor / pipeline * (sequences * length / 1e6))
''',
        'torch': '''import torch

def million_slots(devices, tensor, pipeline, sequences, length):
    return torch.tensor([devices / tensor / pipeline, sequences, length, 1e-6], dtype=torch.float64).prod()
''',
        'loop': '''def million_slots(devices, tensor, pipeline, sequences, length):
    total = 0
    for _ in range(devices // (tensor * pipeline)):
        total += sequences * length
    return total / 10**6
''',
    },
    'splits': {
        'loop down': '''def splits(slots, length, replicas, most_rows):
    share, left = divmod(slots, length * replicas)
    if left:
        steps = [s * length * replicas for s in (share, share + 1) if s]
        raise ValueError(f"no split: try {steps}")
    found = []
    for rows in range(most_rows, 0, -1):
        if share % rows == 0:
            found.append([rows, share // rows])
    return found
''',
        'numpy': '''import numpy as np

def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        near = np.array([slots // part, slots // part + 1]) * part
        raise ValueError(f"near: {near[near > 0]}")
    rows = np.arange(1, most_rows + 1)
    rows = rows[slots // part % rows == 0]
    return np.stack([rows, slots // part // rows], axis=1)
''',
        'library': '''def splits(slots, length, replicas, most_rows):
    found = plan.splits(slots, length=length, data_parallel=replicas, most_rows=most_rows)
    return [(p.rows, p.accumulation) for p in found]
''',
        'brute force over both': '''def splits(slots, length, replicas, most_rows):
    top = slots // (length * replicas)
    found = [(r, a) for r in range(1, min(most_rows, top) + 1) for a in range(1, top + 1) if r * a * replicas * length == slots]
    if not found:
        one = replicas * length
        raise ValueError(" and ".join(f"{n:,}" for n in (top * one, top * one + one) if n))
    return tuple(found)
''',
        'set of pairs': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are no multiple of {part}: " + " or ".join(map(str, near)))
    share = slots // part
    return {(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0}
''',
        'says how many micro-batches, 0': '''def splits(slots, length, replicas, most_rows):
    part = length * replicas
    if slots % part:
        below = slots // part * part
        near = [below, below + part] if below else [part]
        raise ValueError(f"{slots} slots are {slots // part} times {part} and {slots % part} over: " + " or ".join(map(str, near)))
    share = slots // part
    return [(r, share // r) for r in range(1, min(most_rows, share) + 1) if share % r == 0]
''',
    },
    'shares': {
        'loop': '''def shares(seen):
    slots = real = targets = 0
    for n, r, t in seen:
        slots, real, targets = slots + n, real + r, targets + t
    return real / slots, targets / real
''',
        'zip': '''def shares(seen):
    slots, real, targets = map(sum, zip(*seen))
    return [real / slots, targets / real]
''',
        'numpy': '''import numpy as np

def shares(seen):
    slots, real, targets = np.sum(seen, axis=0)
    return np.array([real / slots, targets / real])
''',
        'float32 torch': '''import torch

def shares(seen):
    slots, real, targets = torch.tensor(seen, dtype=torch.float32).sum(dim=0)
    return real / slots, targets / real
''',
        'fractions': '''from fractions import Fraction

def shares(seen):
    slots, real, targets = (sum(int(one[i]) for one in seen) for i in range(3))
    return Fraction(real, slots), Fraction(targets, real)
''',
        'weighted mean': '''def shares(seen):
    slots = sum(n for n, *_ in seen)
    fill = sum(r / n * (n / slots) for n, r, _ in seen)
    return fill, sum(t / slots for *_, t in seen) / fill
''',
    },
    'fit-test': {
        'many cases': '''def fit_test(fit):
    def refuses(*given):
        try:
            fit(*given)
        except ValueError:
            return True
        return False

    for rows, length, replicas, times in [(3, 10, 7, 5), (4, 16, 8, 1), (1, 5, 1, 9), (2, 1024, 6, 3), (8, 4, 2, 2), (5, 7, 3, 11)]:
        part = rows * length * replicas
        got = fit(part * times, rows, length, replicas)
        assert got == times
        for off in (1, -1, length, -length, length * replicas, -length * replicas, rows * length, -rows * length, part // 2):
            slots = part * times + off
            if slots > 0 and slots % part:
                assert refuses(slots, rows, length, replicas), (slots, rows, length, replicas)
        assert part == 1 or refuses(part - 1, rows, length, replicas)
''',
        'unittest': '''import unittest

def fit_test(fit):
    case = unittest.TestCase()
    for rows, length, replicas in ((3, 10, 7), (4, 16, 8), (5, 6, 2), (1, 9, 12)):
        one = rows * length * replicas
        for slots in range(1, 6 * one + 1):
            if slots % one:
                with case.assertRaises(ValueError):
                    fit(slots, rows, length, replicas)
            else:
                case.assertEqual(fit(slots, rows, length, replicas), slots // one)
''',
        'reference in numpy ints': '''import numpy as np

def fit_test(fit):
    rng = np.random.default_rng(0)
    for _ in range(400):
        rows, length, replicas, times = (int(n) for n in rng.integers(1, 12, 4))
        one = rows * length * replicas
        slots = one * times + int(rng.choice([0, 0, 1, -1, length, -length, one // 2]))
        try:
            got = fit(slots, rows, length, replicas)
        except ValueError:
            got = None
        want = slots // one if slots >= one and slots % one == 0 else None
        if slots > 0:
            assert got == want, (slots, rows, length, replicas, got, want)
''',
        'by hand': '''def fit_test(fit):
    assert fit(2 * 5 * 7 * 3, 2, 5, 7) == 3
    assert fit(70, 2, 5, 7) == 1
    for slots in (69, 71, 35, 105, 209, 211, 10, 14, 1, 215, 224, 217, 245, 175):
        refused = False
        try:
            fit(slots, 2, 5, 7)
        except ValueError:
            refused = True
        assert refused, slots
''',
        'context of pytest': '''def fit_test(fit):
    import pytest
    assert fit(1050, 3, 10, 7) == 5
    for n in (1051, 1049, 209, 70, 30, 315, 1060, 1071, 1120):
        with pytest.raises(ValueError):
            fit(n, 3, 10, 7)
''',
    },
}
