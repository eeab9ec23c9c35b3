"""A napkin formula: bytes of a run, by what they are for."""

from batchlab.exercises import Exercise
from batchlab.exercises.plan.offers import KINDS


def run_bytes(sheet, tuning, slots):
    """{"weights", "gradients", "optimizer", "activations", "logits"}: bytes of one device."""
    kind, every = tuning["kind"], sheet["linear"] + sheet["other"]
    adapters = tuning["rank"] * sheet["adapter"]
    if kind == "full":
        found = {"weights": 2 * every, "gradients": 2 * every, "optimizer": 12 * every}
    else:
        base = (2 if kind == "lora" else 0.5 + 4 / 64) * sheet["linear"] + 2 * sheet["other"]
        found = {"weights": base + 4 * adapters, "gradients": 4 * adapters}
        found["optimizer"] = 8 * adapters
    found["activations"] = slots * sheet["layers"] * sheet["kept"]
    found["logits"] = slots * 12 * sheet["vocabulary"]
    return found


SMALL = {
    "linear": 6400,
    "other": 1000,
    "adapter": 70,
    "layers": 3,
    "kept": 500,
    "vocabulary": 90,
    "flops": 44_400,
}


def tuned(kind, rank):
    return {"kind": kind, "rank": rank}


def drawn(rng):
    for kind in KINDS * 6:
        sizes = {name: int(rng.integers(1, 10**5)) for name in SMALL}
        sizes["linear"] *= 64  # whole blocks
        tuning, slots = tuned(kind, int(rng.integers(1, 200))), int(rng.integers(1, 9000))
        yield sizes, tuning, slots
        yield {name: 3 * size for name, size in sizes.items()}, tuning, slots
        yield sizes, tuned(kind, 0), 0


exercise = Exercise(
    run_bytes,
    points=2,
    hints=(
        "each line of the table: bytes x weights; adapters = rank x sheet['adapter']",
        "gradients and optimizer belong to what is trained: all weights, or the adapters",
        "activations: slots x layers x kept; logits: slots x 12 x vocabulary",
    ),
    asked=lambda sheet, tuning, slots: (
        f"bytes of {tuning['kind']}, rank {tuning['rank']}, {slots} slots, sheet {sheet}"
    ),
    whole=False,
    rel=1e-6,
    shown=[(SMALL, tuned("full", 4), 20), (SMALL, tuned("lora", 5), 20), (SMALL, tuned("4-bit", 5), 7)],
    drawn=drawn,
    passed="Right: LoRA takes the optimizer away, 4 bits most of the weights, and nothing the logits.",
)  # fmt: skip
FULL = '"gradients": 2 * every, "optimizer": 12 * every}'
TRAINED = '"gradients": 4 * adapters}'
STATES = 'found["optimizer"] = 8 * adapters'
BASE, QUARTER = "base + 4 * adapters", "0.5 + 4 / 64"
LAYERS, LOGITS = 'slots * sheet["layers"] * sheet["kept"]', 'slots * 12 * sheet["vocabulary"]'
ALL = '{"weights": 2 * every, '
for _thought, *_changes in [
    (
        "frozen weights have no gradients",
        (TRAINED, '"gradients": 2 * every + 4 * adapters}'),
    ),
    ("frozen weights have no gradients", (TRAINED, '"gradients": 2 * every}')),
    (
        "frozen weights have no optimizer states",
        (STATES, 'found["optimizer"] = 12 * every + 8 * adapters'),
    ),
    ("frozen weights have no optimizer states", (STATES, 'found["optimizer"] = 12 * every')),
    (
        "8 bytes a frozen weight: it has no optimizer states",
        (STATES, 'found["optimizer"] = 8 * (every + adapters)'),
    ),
    (
        "12 bytes of an adapter: its own weights are float32, so 8",
        (STATES, 'found["optimizer"] = 12 * adapters'),
    ),
    (
        "2 bytes of gradient: those of adapters are float32, 4",
        (TRAINED, '"gradients": 2 * adapters}'),
    ),
    (
        "the optimizer keeps two averages and a float32 copy: 12 bytes",
        (FULL, FULL.replace("12", "8")),
    ),
    (
        "gradients of 16-bit weights have 2 bytes: the table says so",
        (FULL, FULL.replace("2 * every, ", "4 * every, ")),
    ),
    ("the base is gone: frozen weights are still weights", (BASE, "4 * adapters")),
    ("the adapters' weights are forgotten", (BASE, "base")),
    ("adapters of 2 bytes: they are float32", (BASE, "base + 2 * adapters")),
    ("the scales are forgotten: 4 bytes for every 64 weights", (QUARTER, "0.5")),
    (
        "embedding, head and norms stay in 16 bits",
        (' * sheet["linear"] + 2 * sheet["other"]', " * every"),
    ),
    ("4 bytes a weight: 4 bits are half a byte", (QUARTER, "4")),
    (
        "the rank is forgotten: `adapter` is of rank 1",
        ('tuning["rank"] * sheet["adapter"]', 'sheet["adapter"]'),
    ),
    (
        "adapters belong to lora and 4-bit alone",
        (ALL, '{"weights": 2 * every + 4 * adapters, '),
    ),
    (
        "adapters belong to lora and 4-bit alone",
        (FULL, FULL.replace("2 * every, ", "2 * every + 4 * adapters, ")),
    ),
    ("one layer: every layer keeps its own", (LAYERS, 'slots * sheet["kept"]')),
    ("of one slot: the micro-batch has more", (LAYERS, 'sheet["layers"] * sheet["kept"]')),
    ("of one slot: the micro-batch has more", (LOGITS, '12 * sheet["vocabulary"]')),
    (
        "frozen layers keep their activations: the gradient passes through them",
        (LAYERS, LAYERS + ' * (kind == "full")'),
    ),
    ("the logits are forgotten", (LOGITS, "0")),
    (
        "2 bytes a logit: three float32 tensors of their size are alive, 12",
        (LOGITS, LOGITS.replace("12", "2")),
    ),
    (
        "4 bytes a logit: three float32 tensors of their size are alive, 12",
        (LOGITS, LOGITS.replace("12", "4")),
    ),
    (
        "10 are alive in the forward pass; at the fullest moment it is 12",
        (LOGITS, LOGITS.replace("12", "10")),
    ),
    (
        "logits stand behind the last layer, once",
        (LOGITS, LOGITS + ' * sheet["layers"]'),
    ),
]:
    exercise.edit(_thought, _changes)
exercise.edit(
    "a total beside them", [("return found", 'return {"total": 0, **found}')], says="too many"
)


@exercise.style
def one_formula(sheet, tuning, slots):
    """one formula, in floats"""
    linear, other, slots = sheet["linear"], sheet["other"], float(slots)
    if tuning["kind"] == "full":
        trained, weight, gradient, optimizer, base = linear + other, 2, 2, 12, 0
    else:
        trained, weight, gradient, optimizer = tuning["rank"] * sheet["adapter"], 4, 4, 8
        base = 2 * other + (2 if tuning["kind"] == "lora" else 0.5625) * linear
    return {
        "weights": base + weight * trained,
        "gradients": gradient * trained,
        "optimizer": optimizer * trained,
        "activations": slots * sheet["layers"] * sheet["kept"],
        "logits": 12 * slots * sheet["vocabulary"],
    }


@exercise.style
def a_table(sheet, tuning, slots):
    """the table of the page, NumPy"""
    import numpy as np

    each = {"full": (2, 2, 2, 2, 12), "lora": (2, 2, 4, 4, 8), "4-bit": (0.5625, 2, 4, 4, 8)}
    linear, other, adapter, gradient, optimizer = each[tuning["kind"]]
    full = tuning["kind"] == "full"
    thin = 0 if full else tuning["rank"] * sheet["adapter"]
    trained = np.int64(sheet["linear"] + sheet["other"] if full else thin)
    weights = linear * sheet["linear"] + other * sheet["other"] + adapter * thin
    return {
        "logits": np.float64(slots) * 12 * sheet["vocabulary"],
        "activations": np.int64(slots) * sheet["layers"] * sheet["kept"],
        "weights": weights,
        "gradients": gradient * trained,
        "optimizer": optimizer * trained,
    }
