"""What runs beside an answer brings no reference, and is not what a student's cell made of it."""

# ruff: noqa: E501  (code of students stands on one line)

import ast
import json
import sys

import pytest

from batchlab import exercises
from batchlab.classroom.behaviour import quietly
from batchlab.exercises.accumulation.take_step import exercise as taken
from batchlab.grading import Engine, looked_at
from batchlab.grading._driver import Bench, text_of
from tests.test_grading_reports import BESIDE
from tests.tiny_lesson import ROOT

DEAR = {"memory/chunked-loss", "checkpointing/checkpoint-segments"}  # what they ask needs seconds


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one in DEAR else one for one in sorted(BESIDE)]
)  # fmt: skip
def test_a_driver_brings_no_reference_and_loads_no_exercise(name):
    exercise, bench = exercises.found(name), Bench()
    text = text_of(exercise.scene)
    known = {one.name for one in ast.parse(text).body if hasattr(one, "name")}
    assert exercise.name not in known and "mistake" not in text and "Exercise" not in text
    driver = bench.driver(text, exercise.scene.__name__)
    arguments, options = exercise.met(exercise.shown[0])
    with bench.around(quietly)():
        driver(exercise.right, *arguments, **options)
    own = f"batchlab.exercises.{name.partition('/')[0]}."
    assert not [k for k, v in bench.helpers.items() if hasattr(v, "exercise") and k.startswith(own)]


def test_what_was_patched_before_means_nothing_to_a_driver():
    """Its helpers are its own, the library means what it did, and the patches are there again."""
    from batchlab import units
    from batchlab.exercises.accumulation import watch

    bench, size, altered = Bench(), units.size, watch.altered
    text = "from batchlab import units\nfrom batchlab.exercises.accumulation import watch\ndef scene(answer):\n    return watch.altered([], [1]), units.size(1)"
    try:
        watch.altered = units.size = lambda *_: "patched"
        with bench.around(quietly)():
            seen = bench.driver(text, "scene")(None)
        assert seen == ("it had 0 micro-batches, and has 1", size(1))
        assert units.size(1) == "patched" and sys.modules[watch.__name__] is watch
    finally:
        watch.altered, units.size = altered, size


def test_who_finds_modules_for_a_driver_is_who_found_them_before(monkeypatch):
    """A finder, a folder and an import of the student's own come too late."""
    import builtins
    import copy

    from batchlab import exercises as home

    bench, met = Bench(), []

    class Finds:
        def find_spec(self, name, path=None, target=None):
            met.append(name)

    text = "import copy\nfrom batchlab.exercises.padding import several\ndef scene(answer):\n    return copy.deepcopy([7]), callable(several)"
    with monkeypatch.context() as patched:
        patched.setattr(sys, "meta_path", [Finds(), *sys.meta_path])
        patched.setattr(home, "__path__", ["/nowhere"])
        patched.setattr(copy, "deepcopy", lambda *_: met.append("copy"))
        patched.setattr(builtins, "__import__", lambda *_: met.append("import"))
        with bench.around(quietly)():
            seen = bench.driver(text, "scene")(None)
        kept = type(sys.meta_path[0]) is Finds and home.__path__ == ["/nowhere"]
    assert seen == ([7], True) and met == [] and kept


SCENE = "import batchlab.exercises.{0} as m\ns, r = m.scene, m.exercise.right\nm.scene = lambda answer, *a, **k: s(r, *a, **k)\n"
WATCH = "import batchlab.exercises.accumulation.watch as w\nimport batchlab.exercises.accumulation.bigram as b\n"
NOTHING, NONE = (
    "def {}(*a, **k):\n    return {}",
    "class {}:\n    def __init__(self, *a, **k): pass",
)


def step(*changes):
    """The reference of the step with parts replaced: a wrong answer whose weights are right."""
    text = taken.text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


BEGINS, END = "    loss = 0.0\n", "    return loss"
ADD, CLIP = (
    "        loss += part.item()\n",
    "    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)\n",
)
DECOYS = """    class Own(type(model)):  # the same weights, passes of its own; the model is asked for the count
        def forward(self, input_ids, **_):
            x = torch.tanh(torch.nn.functional.embedding(input_ids, self.embedding)) * self.part.gain
            return x @ self.head.T + self.part.bias
    own = Own.__new__(Own)
    own.__dict__.update(model.__dict__)
    with torch.no_grad():
        for micro in micro_batches: model(**micro)
"""
TWICE = step((BEGINS, BEGINS + "    for m in micro_batches: model(m['input_ids'])\n"))
GRAPHS = step(
    (BEGINS, BEGINS + "    kept = []\n"),
    ("part.backward()", "part.backward(retain_graph=True); kept.append(part)"),
)
WALKS = "def take_step(*given):\n    import sys\n    f = sys._getframe()\n    while f:\n        for names in (f.f_globals, f.f_locals):\n            for one in ('take_step', 'right', '_r'):\n                if getattr(names.get(one), '__module__', '').endswith('.take_step'): return names[one](*given)\n        f = f.f_back\n    return 0.0"
POPS = step(
    (
        "    for micro in micro_batches:\n",
        "    while micro_batches:\n        micro = micro_batches.pop(0)\n",
    )
)
FRAMES = "    import sys\n    f = sys._getframe()\n    while f:\n        f.f_globals.update(altered=lambda *a: '')\n        f = f.f_back\n"
FINDS = """import sys, importlib.util, importlib.machinery
class Finds:
    def find_spec(self, name, path=None, target=None):
        if name == "{0}":
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            class Loads:
                def create_module(self, spec): return None
                def exec_module(self, m):
                    spec.loader.exec_module(m)
                    {1}
            return importlib.util.spec_from_loader(name, Loads(), origin=spec.origin)
sys.meta_path.insert(0, Finds())
"""
COPIES = """import os, batchlab.exercises as e
os.makedirs('copies/accumulation')
for one in os.scandir(e.__path__[0] + '/accumulation'):
    if one.is_file(): open('copies/accumulation/' + one.name, 'w').write(open(one).read().replace("change = change or", "change = '' and"))
e.__path__.insert(0, os.path.abspath('copies'))
"""
FORGED = {  # lesson, question, a cell above the answer, the answer
    "01: scene": ("01_batch", "noise-meter", SCENE.format("batch.noise_meter"), NOTHING.format("noise_meter", 0.0)),
    "03: scene": ("03_buckets", "sampler", SCENE.format("buckets.sampler"), NONE.format("BudgetSampler")),
    "05: scene": ("05_accumulation", "take-step", SCENE.format("accumulation.take_step"), NOTHING.format("take_step", 0.0)),
    "05: its watcher": ("05_accumulation", "take-step", WATCH + "from batchlab.exercises.accumulation.take_step import take_step as r\ns = w.steps\nw.steps = lambda one, *a, **k: s(r, *a, **k)\n", NOTHING.format("take_step", 0.0)),
    "05: its count": ("05_accumulation", "take-step", WATCH + "class C(b.Counter):\n    def __getitem__(self, k): return 0 if k == 'forward' else b.Counter.__getitem__(self, k)\no = b.Counting.__init__\ndef i(self):\n    o(self)\n    self.calls = C()\nb.Counting.__init__ = i\n", TWICE),
    "05: its count, set back": ("05_accumulation", "take-step", "", TWICE.replace(END, "    model.calls.clear()\n    model.passes.count = 0\n" + END)),
    "05: its peak, set back": ("05_accumulation", "take-step", "", GRAPHS.replace(END, "    model.held, model.passes.most_held = {}, 1\n" + END)),
    "05: graphs said to be freed": ("05_accumulation", "take-step", "", step(("part.backward()", "model.freed.extend(range(99))"), (ADD, "        loss += part\n"), (CLIP, "    loss.backward()\n" + CLIP), (END, "    return loss.item()"))),
    "05: its schedule": ("05_accumulation", "take-step", "", step(("    schedule.step()\n", "    model.calls['schedule'] += 1\n    model.order.append('schedule')\n"))),
    "05: its order": ("05_accumulation", "take-step", "", step(("    optimizer.step()\n    schedule.step()\n", "    schedule.step()\n    optimizer.step()\n    model.order.reverse()\n"))),
    "05: decoys": ("05_accumulation", "take-step", "", step((BEGINS, BEGINS + DECOYS), ("loss_sum(model, micro)", "loss_sum(own, micro)"))),
    "05: its mode": ("05_accumulation", "take-step", WATCH + "w.left_behind = lambda *a: []\n", step((BEGINS, BEGINS + "    model.train()\n"))),
    "05: its list": ("05_accumulation", "take-step", WATCH + "w.altered = lambda *a: ''\n", POPS),
    "05: its list, from within": ("05_accumulation", "take-step", "", POPS.replace(BEGINS, BEGINS + FRAMES)),
    "05: copies that are none": ("05_accumulation", "take-step", "import copy\ncopy.deepcopy = lambda one, memo=None: one\n", POPS),
    "05: who finds modules": ("05_accumulation", "take-step", FINDS.format("batchlab.exercises.accumulation.watch", "m.altered = lambda *a: ''"), POPS),
    "05: where modules lie": ("05_accumulation", "take-step", COPIES, POPS),
    "05: what reads texts": ("05_accumulation", "take-step", "import builtins, sys\nold = builtins.__import__\ndef new(*a, **k):\n    m = old(*a, **k)\n    vars(sys.modules.get('batchlab.exercises.accumulation.watch', m)).update(altered=lambda *a: '')\n    return m\nbuiltins.__import__ = new\n", POPS),
    "05: passes of a million": ("05_accumulation", "take-step", "", step((BEGINS, BEGINS + "    for _ in range(99): model.passes.forward(torch.zeros(1_000_000, dtype=torch.long), [torch.ones(1, 64), torch.ones(2, 64), torch.ones(64), torch.ones(2)], True, [])\n"))),
    "05: no passes": ("05_accumulation", "take-step", "", step((BEGINS, BEGINS + "    model.passes.forward('x', None, True, 5)\n"))),
    "05: frames": ("05_accumulation", "take-step", "", WALKS),
    "07: scene": ("07_memory", "chunked-loss", SCENE.format("memory.chunked_loss"), NOTHING.format("chunked_loss", 0.0)),
    "07: what it held": ("07_memory", "chunked-loss", "import batchlab.exercises.memory.scenes as s\no = s.watched\ns.watched = lambda answer, slots, chunk, **k: o(answer, slots, chunk, **k) | {'rows': chunk, 'alive': 1.0}\n", "def chunked_loss(hidden, head, labels, chunk):\n    return torch.nn.functional.cross_entropy(head(hidden).float(), labels, ignore_index=-100, reduction='sum')"),
    "09: device": ("09_throughput", "benchmark", "import batchlab.exercises.throughput.benched as m\nfrom batchlab.exercises.throughput.benchmark import exercise as e\ns = m.scene\ndef scene(answer, *a, **k): return s(e.right, *a, **k)\nscene.__module__ = s.__module__\nm.scene = scene\n", NOTHING.format("benchmark", ({}, {}))),
    "10: packer": ("10_feeding", "packer", SCENE.format("feeding.packer"), NONE.format("StreamingPacker")),
    "12: schedule": ("12_rates", "token-schedule", SCENE.format("rates.token_schedule"), NONE.format("TokenSchedule")),
    "15: world": ("15_many", "rank-mean", "import batchlab.exercises.many.worlds as w\nfrom batchlab.exercises.many.rank_mean import exercise as e\no = w.in_world\nw.in_world = lambda one, *a, **k: o(e.right, *a, **k)\n", NOTHING.format("rank_mean", 0.0)),
    "15: ranks": ("15_many", "rank-mean", "from batchlab.cluster import ranks\nfrom batchlab.exercises.many.rank_mean import exercise as e\no = ranks.run\nclass W: sent_bytes, timeline = [0] * 9, []\nranks.run = lambda *a, **k: W()\n", NOTHING.format("rank_mean", 0.0)),
    "15: who finds modules": ("15_many", "rank-mean", FINDS.format("batchlab.exercises.many.worlds", "o = m.in_world; from batchlab.exercises.many.rank_mean import exercise as e; m.in_world = lambda one, *a, **k: o(e.right, *a, **k)"), NOTHING.format("rank_mean", 0.0)),
    "15: scene": ("15_many", "exact-step", SCENE.format("many.exact_step"), NOTHING.format("exact_step", None)),
    "16: scene": ("16_adaptive", "control", SCENE.format("adaptive.control"), "def control(settings, state, reading, most):\n    return settings, state"),
    "16: who drives": ("16_adaptive", "control", "import batchlab.exercises.adaptive.reasons as m\nfrom batchlab.exercises.adaptive.control import exercise as e\no = m.driven\nm.driven = lambda one, *a, **k: o(e.right, *a, **k)\n", "def control(settings, state, reading, most):\n    return settings, state"),
}  # fmt: skip
SOME = {"05_accumulation", "15_many"}
LESSONS = [pytest.param(one, marks=pytest.mark.slow if one in SOME else pytest.mark.deep)
           for one in sorted({one[0] for one in FORGED.values()})]  # fmt: skip


def graded(engine, lesson, question, above, answer):
    (released,) = (ROOT / "lessons" / lesson).glob("*.ipynb")
    book = json.loads(released.read_text())
    at = next(n for n, cell in enumerate(book["cells"]) if cell.get("id") == question)
    book["cells"][at]["source"] = answer
    mine = {"cell_type": "code", "id": "mine", "metadata": {}, "source": above, "outputs": []}
    book["cells"].insert(at, mine | {"execution_count": None})
    return engine.grade(json.dumps(book).encode(), only=(f"check-{question}",))


@pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
@pytest.mark.parametrize("lesson", LESSONS)
def test_wrong_code_beside_a_patched_watcher_gets_no_point(lesson):
    (teacher,) = (ROOT / "solutions" / lesson).glob("*.ipynb")
    with Engine(teacher, seed="zq-autumn-81") as engine:
        for name, (home, *attack) in FORGED.items():
            if home == lesson:
                (one,) = graded(engine, lesson, *attack)
                assert one.points == 0 and one.verdict in ("FAIL", "ERROR"), (name, one)
        if (
            lesson == "05_accumulation"
        ):  # who asks the reference, wherever, is named: a person looks
            part = "def share(*a, **k):\n    return __import__('importlib').import_module('batchlab.exer' + 'cises.accumulation.share').exercise.right(*a, **k)"
            assert looked_at(graded(engine, lesson, "share", "", part)) == ("REFERENCE",)
