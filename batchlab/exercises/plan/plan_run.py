"""Build: a planner. A wish that can be had becomes a plan, another is refused with what is near."""

from batchlab.exercises import Exercise
from batchlab.exercises.effective.scenes import pack_rows
from batchlab.exercises.plan import run_bytes as formula
from batchlab.exercises.plan.offers import KINDS, misnamed_kind, misnamed_near, numbers
from batchlab.exercises.plan.rows_that_fit import rows_that_fit
from batchlab.exercises.plan.whole_steps import whole_steps


def run_bytes(sheet, tuning, slots):
    """The bytes of the page, as floats: a float is right there, too."""
    return {what: float(n) for what, n in formula.run_bytes(sheet, tuning, slots).items()}


def bill(slots, flops, device, utilisation):
    """Hours and money, each (least, most), of slots on device["count"] devices."""
    at_peak = slots * flops / (device["count"] * device["peak"]) / 3600
    least, most = at_peak / utilisation[1], at_peak / utilisation[0]
    price = device["count"] * device["price"]
    return {"hours": (least, most), "money": (price * least, price * most)}


def plan_run(lengths, sheet, device, wish):
    """A plan that fits the wish, as a dict; or a ValueError that says what is near."""
    row, count = wish["row"], device["count"]
    if max(lengths) > row:
        raise ValueError(f"a document of {max(lengths)} tokens, rows of {row}")
    near = whole_steps(wish["slots"], row, count, 1)
    if list(near) != [wish["slots"]]:
        raise ValueError(f"{wish['slots']} slots do not split: the nearest {near}")
    fits = rows_that_fit(sheet, wish, row, device["bytes"])
    if not fits:
        raise ValueError(f"one row of {row} slots does not fit as {wish['kind']}")
    sequences = wish["slots"] // row
    share = sequences // count
    rows = max(n for n in range(1, share + 1) if share % n == 0 and n <= fits)
    made = len(pack_rows(lengths, row))
    slots = wish["epochs"] * made * row
    return {
        "rows": rows,
        "accumulation": share // rows,
        "steps": wish["epochs"] * -(-made // sequences),
        "tokens": wish["epochs"] * sum(lengths),
        "slots": slots,
        "bytes": sum(run_bytes(sheet, wish, rows * row).values()),
        **bill(slots, sheet["flops"], device, wish["utilisation"]),
    }


def bytes_of(sheet, wish, slots, kind):
    """Bytes of so many slots at once."""
    return sum(run_bytes(sheet, {"kind": kind, "rank": wish["rank"]}, slots).values())


def unit_of(device, wish):
    """The fewest slots a step: whole rows on each device."""
    return wish["row"] * device["count"]


def misnamed(said, lengths, sheet, device, wish):
    """What a refusal must not say."""
    if (longest := max(lengths)) > wish["row"]:
        return "" if longest in numbers(said) else "name the tokens of the longest document"
    known = {*device.values(), *(n for n in wish.values() if type(n) is int)}
    if wish["slots"] % (unit := unit_of(device, wish)):
        return misnamed_near(said, wish["slots"], unit, {unit, *known})
    return misnamed_kind(said, wish["kind"])


def asked(lengths, sheet, device, wish):
    some = lengths if len(lengths) < 9 else f"{len(lengths)} documents, {sum(lengths)} tokens"
    return (
        f"plan of {some}: {wish['slots']} slots in rows of {wish['row']}, {wish['kind']}, rank "
        f"{wish['rank']}, {wish['epochs']} epochs, {device['count']} devices of "
        f"{device['bytes']:,} bytes"
    )


TOY = {
    "linear": 6400,
    "other": 1000,
    "adapter": 70,
    "layers": 2,
    "kept": 50,
    "vocabulary": 25,
    "flops": 44_400,
}
TEXTS = [7, 3, 4, 6, 10, 1, 9, 2, 8, 5] * 6 + [3]
# lengths for which each mistake gives numbers of its own, one digit each: A is 10
DIGITS = (
    "28A26871395A88875361884467A35848A13574576546718917AA424434A51412652AA4A376283957"
    "A61514A949529522978A969524"
)
PACKED = [int(one, 11) for one in DIGITS]


def small(lengths=TEXTS, room=200_000, count=2, **changes):
    """A small wish: documents, the toy's sheet, a device, and what else is wished."""
    device = {"bytes": room, "count": count, "peak": 1e9, "price": 2.5}
    wish = {"slots": 240, "row": 10, "kind": "full", "rank": 4, "epochs": 2}
    return lengths, TOY, device, {**wish, "utilisation": (0.2, 0.5), **changes}


def fresh(rng):
    """A wish that can be had, of sizes that nobody has seen."""
    sizes = rng.integers(
        (500, 200, 50, 2, 300, 300, 10**6), (9000, 2000, 400, 9, 2000, 4000, 10**8)
    )
    sheet = {name: int(n) for name, n in zip(TOY, sizes)}
    sheet |= {"linear": 64 * sheet["linear"], "other": 64 * sheet["other"]}
    row, count = int(rng.choice([96, 128, 160, 256])), int(rng.integers(1, 7))
    wish = {"row": row, "kind": str(rng.choice(KINDS)), "rank": int(rng.integers(1, 65))}
    wish |= {"epochs": int(rng.integers(1, 4)), "utilisation": (float(rng.uniform(0.1, 0.3)), 0.55)}
    device = {"count": count, "peak": float(rng.uniform(1e9, 1e12)), "price": 3.25}
    wish["slots"] = unit_of(device, wish) * int(rng.choice([6, 10, 12, 18, 20, 30]))
    one, two = (bytes_of(sheet, wish, n * row, wish["kind"]) for n in (1, 2))
    device["bytes"] = int(one + float(rng.uniform(0.1, 8.9)) * (two - one))
    lengths = rng.integers(1, row + 1, int(rng.integers(40, 120))).tolist()
    return lengths, sheet, device, wish


def drawn(rng):
    for _ in range(16):
        lengths, sheet, device, wish = fresh(rng)
        yield lengths, sheet, device, wish
        yield [*lengths, wish["row"] + int(rng.integers(1, 9))], sheet, device, wish
        if (unit := unit_of(device, wish)) > 1:
            more = int(rng.integers(1, unit))
            yield lengths, sheet, device, {**wish, "slots": wish["slots"] + more}
        least = min(bytes_of(sheet, wish, 0, kind) for kind in KINDS)
        one = bytes_of(sheet, wish, wish["row"], wish["kind"])
        room = int(rng.uniform(0.8 * least, one - 1))
        yield lengths, sheet, {**device, "bytes": room}, wish
    # some 10,000 rows: a `rows_that_fit` that counts them one by one is right, too
    yield small(room=42 * 10**6, count=2**14, slots=2**14 * 10 * 30_030, epochs=1)


PAIR = {"slots": 360, "kind": "4-bit", "epochs": 4}
exercise = Exercise(
    plan_run,
    points=4,
    given=("run_bytes", "bill", "pack_rows", "whole_steps", "rows_that_fit"),
    hints=(
        "sequences = slots / row, share = sequences / count; rows: the largest divisor of the share that fits",
        "made = len(pack_rows(...)); steps = epochs x ceil(made / sequences); slots = epochs x made x row",
        "whole_steps(slots, row, count, 1) is [slots] if they split",
        "rows_that_fit(sheet, wish, row, bytes) is 0 where not one row fits",
    ),
    asked=asked,
    misnamed=misnamed,
    shown=[
        small(PACKED, 38_080, **PAIR),
        small([2, 2, 2], count=1, slots=90),
        small([*TEXTS, 12, 13]),
        small(slots=255),
        small(room=9_000),
    ],
    drawn=drawn,
    passed="Right: the step as wished, totals that add up, or a refusal with what is near.",
)
FIT, ROOM = "share % n == 0 and n <= fits", 'device["bytes"]'
STEPS, MADE = "-(-made // sequences)", "len(pack_rows(lengths, row))"
TOTAL = "run_bytes(sheet, wish, rows * row)"
TOKENS, LONG = 'wish["epochs"] * sum(lengths)', "if max(lengths) > row:"
BILL = "**bill(slots,"
UNEVEN, SPLIT = (
    'if list(near) != [wish["slots"]]:',
    'whole_steps(wish["slots"], row, count, 1)',
)
ALSO, NEAR = " as {wish['kind']}", "the nearest {near}"
for _thought, *_changes in [
    ("the most rows that fit, though they do not divide the step", (FIT, "n <= fits")),
    ("a power of two: the largest divisor that fits is larger", (FIT, FIT + " and n & (n - 1) == 0")),
    ("one row: more fit", ("rows = max(", "rows = min(")),
    ("rows may be more than the documents: one short step an epoch", ("range(1, share + 1)", "range(1, min(share, len(lengths)) + 1)")),
    ("memory of all devices together: each holds its own copy", (ROOM, ROOM + " * count")),
    ("the devices are forgotten: each takes rows of its own", ("sequences // count", "sequences")),
    ("all of the step at once: only the rows of one micro-batch are alive", (TOTAL, TOTAL.replace("rows *", "share *"))),
    ("the bytes of one row: the micro-batch has more", (TOTAL, TOTAL.replace("rows * ", ""))),
    ("the bytes of the device: asked are those of the step", (f"sum({TOTAL}.values())", ROOM)),
    ("the bytes of full fine-tuning: frozen weights have no optimizer states", (TOTAL, TOTAL.replace("wish", '{**wish, "kind": "full"}'))),
    ("slots, not real tokens: padding is counted", (TOKENS, "slots")),
    ("the epochs are forgotten in the tokens", (TOKENS, "sum(lengths)")),
    ("the last, shorter step of each epoch is dropped", (STEPS, "(made // sequences)")),
    ("each epoch ends with a short step: round up, then times the epochs", ('wish["epochs"] * ' + STEPS, '-(-wish["epochs"] * made // sequences)')),
    ("documents a step: packed rows hold several", (STEPS, "-(-len(lengths) // sequences)")),
    ("steps of one micro-batch: a step takes rows x accumulation x devices", (STEPS, "-(-made // rows)")),
    ("steps of one device: all devices take rows of a step", (STEPS, "-(-made // share)")),
    ("the epochs are forgotten in the steps", ('wish["epochs"] * ' + STEPS, STEPS)),
    ("full steps: the last one holds fewer rows", ('wish["epochs"] * made * row', f'wish["epochs"] * {STEPS} * wish["slots"]')),
    ("real tokens, not slots: a row is computed whole", ('"slots": slots', f'"slots": {TOKENS}')),
    ("one row a document: packed rows hold several", ('"slots": slots', '"slots": wish["epochs"] * len(lengths) * row')),
    ("hours of the real tokens: padding is computed, too", (BILL, f"**bill({TOKENS},")),
    ("hours of full steps: the last one of an epoch is shorter", (BILL, f'**bill(wish["epochs"] * {STEPS} * wish["slots"],')),
    ("slots of one epoch: the run has all of them", ('"slots": slots', '"slots": made * row')),
    ("slots of one epoch: the run has all of them", ("    slots = wish", "    slots = made * row if wish else wish")),
    ("the tokens over the row, rounded up: no document is cut, so rows keep gaps; count the packed rows", (MADE, "-(-sum(lengths) // row)")),
    ("divided by the devices as well: `bill` does that already", (BILL, "**bill(slots / count,")),
    ("hours of one step: the bill is of the whole run", (BILL, '**bill(wish["slots"],')),
    ("hours of one epoch", (BILL, '**bill(slots / wish["epochs"],')),
    ("hours at the peak: the wish has a utilisation", ('wish["utilisation"]', "(1.0, 1.0)")),
    ("a document longer than a row is refused, not cut", (LONG, "lengths = [min(n, row) for n in lengths]\n    if False:")),
    ("a document as long as a row fits", (LONG, "if max(lengths) >= row:")),
    ("name the tokens of the longest document", ("{max(lengths)} tokens", "{lengths[0]} tokens")),
    ("slots that do not split are refused, not rounded", (UNEVEN, 'wish = {**wish, "slots": near[0]}\n    if False:')),
    ("refuse, and name both nearest, below and above", (NEAR, "{near[-1]}")),
    ("whole rows on each device: the devices divide the rows of a step", (SPLIT, SPLIT.replace("count", "1"))),
    ("not even one row fits: refuse", ("    if not fits:", "    fits = fits or 1\n    if False:")),
    ("name the kind that was wished", (ALSO, "")),
]:  # fmt: skip
    exercise.edit(_thought, _changes)
for _thought, _says, *_changes in [
    ("a count is an int: `//` gives one", "a count is an int", (STEPS, "float(-(-made // sequences))")),
    ("the wish is changed", "argument 4", ("    slots = wish", '    wish["slots"] = slots = wish')),
]:  # fmt: skip
    exercise.edit(_thought, _changes, says=_says)


@exercise.style
def by_hand(lengths, sheet, device, wish):
    """with none of the puzzles above: math.lcm and loops, lists in place of pairs"""
    import math

    row, count = wish["row"], device["count"]

    def needed(rows):
        return sum(run_bytes(sheet, wish, rows * row).values())

    if max(lengths) > row:
        raise ValueError(f"document of {max(lengths)} tokens")
    unit = row * count
    left = wish["slots"] % unit
    if left:
        offers = [n for n in (wish["slots"] - left, wish["slots"] - left + unit) if n]
        raise ValueError(f"no multiple of {unit}; nearest: {offers}, and 0 is none")
    share = wish["slots"] // row // count
    for accumulation in range(1, share + 1):
        rows = share // accumulation
        if share % accumulation == 0 and needed(rows) <= device["bytes"]:
            break
    else:
        raise ValueError(f"one row as {wish['kind'].upper()} does not fit")
    made = len(pack_rows(lengths, row))
    slots = made * row * wish["epochs"]
    times = bill(slots, sheet["flops"], device, wish["utilisation"])
    found = {what: list(both) for what, both in times.items()}
    found |= {"rows": rows, "accumulation": accumulation, "slots": slots}
    found["steps"] = math.ceil(made / (wish["slots"] // row)) * wish["epochs"]
    found["tokens"] = sum(lengths) * wish["epochs"]
    found["bytes"] = needed(rows)
    return found


exercise.styles["rows, one after the other"] = lambda: exercise.text.replace(
    "    rows = max(n for n in range(1, share + 1) if share % n == 0 and n <= fits)",
    "    rows = min(fits, share)\n    while share % rows:\n        rows -= 1",
)
