"""The engine's promises: honest accidents cost nothing, and no verdict is made by a student."""

# ruff: noqa: E501  (code of students stands on one line)

import json
import sys

import pytest

from batchlab.grading import Engine, looked_at, total
from tests.torture_lesson import (
    ANSWERS,
    CHECKS,
    PUBLIC,
    cell,
    marks,
    notebook,
    right_but,
    sent,
    stub,
    written,
)

linux = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
pytestmark = linux
QUESTIONS = list(ANSWERS)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Engine(
        written(tmp_path_factory.mktemp("course")),
        seed="zq-autumn-81",
        cpu_seconds=0.5,
        memory=1 << 27,
    ) as one:
        yield one


def graded(engine, what):
    """Verdict of each question by its answer, after the standing assertion that order is kept."""
    raw = what if isinstance(what, bytes) else json.dumps(what).encode()
    judged = engine.grade(raw)
    assert [one.question for one in judged] == [f"check-{name}" for name in QUESTIONS]
    return {one.question.removeprefix("check-"): one for one in judged}


def verdicts(engine, what):
    return [one.verdict for one in graded(engine, what).values()]


ALL = ["PASS"] * 5


def test_t01_the_reference_gets_every_point(engine):
    judged = graded(engine, sent())
    assert [one.verdict for one in judged.values()] == ALL
    assert total(judged.values()) == 10
    assert {one.message for one in judged.values()} == {""}
    assert all(not one.notes for one in judged.values())


def test_t02_the_released_copy_gets_none_and_says_that_it_is_blank(engine):
    judged = graded(engine, sent({}))
    assert total(judged.values()) == 0
    assert {one.verdict for one in judged.values()} == {"FAIL"}
    assert all("blank" in one.message for one in judged.values())


WRONG = {
    "total": "def total(lengths):\n    return len(lengths)",
    "scaled": "def scaled(values, factor):\n    return values",
    "ordered": "def ordered(items):\n    return items[::-1]",
    "total-test": "def total_test(total):\n    pass",
    "parts": "def parts(count, size):\n    return 0",
}


def test_t03_all_wrong_gets_none(engine):
    assert verdicts(engine, sent(WRONG)) == ["FAIL"] * 5


@pytest.mark.parametrize("name", QUESTIONS)
def test_t04_one_right_answer_gets_exactly_its_points(engine, name):
    judged = graded(engine, sent(WRONG | {name: ANSWERS[name]}))
    assert {one: j.points for one, j in judged.items() if j.points} == {name: 2}


def test_t05_half_of_a_check_gets_half_of_its_points(engine):
    one = graded(engine, right_but(parts="def parts(count, size):\n    return 1"))["parts"]
    assert (one.verdict, one.points, one.of) == ("PARTIAL", 1.0, 2.0)


def without(what, *names):
    return notebook([one for one in what["cells"] if one["id"] not in names])


def test_t06_t07_deleted_checks_are_the_teachers_and_noted(engine):
    checks = [f"check-{name}" for name in QUESTIONS]
    judged = graded(engine, without(sent(), *checks))
    assert [one.verdict for one in judged.values()] == ALL
    assert all(one.notes == ("MISSING-CELL",) for one in judged.values())
    wrong = graded(engine, without(right_but(total=WRONG["total"]), "check-total"))
    assert (wrong["total"].verdict, wrong["total"].notes) == ("FAIL", ("MISSING-CELL",))


def test_t08_doubled_cells_are_graded_as_one(engine):
    what = sent()
    fake = cell("check-total", "pass", "check")
    judged = graded(engine, notebook([*what["cells"], fake]))
    assert [one.verdict for one in judged.values()] == ["REVIEW", *ALL[1:]]
    assert "DUPLICATED" in judged["total"].notes and total(judged.values()) == 10
    last = cell("total", ANSWERS["total"], "answer")
    first = right_but(total=WRONG["total"])
    judged = graded(engine, notebook([*first["cells"], last]))
    assert total(judged.values()) == 10, "the last one counts, as in a kernel"
    assert [one.verdict for one in judged.values()] == ["REVIEW", *ALL[1:]]
    assert looked_at(judged.values()) == ("REVIEW",)
    assert verdicts(engine, sent()) == ALL, "and the next one is graded as ever"


def test_t08_an_exact_copy_of_a_check_is_reviewed_and_a_copy_of_a_stub_is_not(engine):
    what = sent()
    twice = [one for one in what["cells"] for _ in range(2 if one["id"] == "check-parts" else 1)]
    judged = graded(engine, notebook(twice))
    assert judged["parts"].verdict == "REVIEW" and total(judged.values()) == 10
    again = cell("total", stub("total"), "answer")
    assert verdicts(engine, notebook([*what["cells"], again])) == ALL


def test_t08_a_doubled_wrong_answer_is_reviewed_without_points_and_says_why(engine):
    first = right_but(total=WRONG["total"])
    one = graded(engine, notebook([*first["cells"], cell("total", WRONG["total"], "answer")]))
    assert (one["total"].verdict, one["total"].points) == ("REVIEW", 0)
    assert "right is" in one["total"].message


EDITS = {
    "source": {"source": "assert True"},
    "points 100": {"metadata": {"nbgrader": marks("check-total", "check", 100)}},
    "points nan": {"metadata": {"nbgrader": marks("check-total", "check", float("nan"))}},
    "grade false": {"metadata": {"nbgrader": {**marks("check-total", "check"), "grade": False}}},
    "solution true": {
        "metadata": {"nbgrader": {**marks("check-total", "check"), "solution": True}}
    },
    "markdown": {"cell_type": "markdown"},
    "metadata a string": {"metadata": "x"},
    "metadata null": {"metadata": None},
    "nbgrader a list": {"metadata": {"nbgrader": [1]}},
    "no metadata": {"metadata": {}},
    "schema 99": {
        "metadata": {"nbgrader": {**marks("check-total", "check"), "schema_version": 99}}
    },
    "id renamed": {"metadata": {"nbgrader": marks("mine", "check")}, "id": "mine"},
}


REVIEWED = {"source", "points 100", "points nan", "grade false", "solution true"}
# the others come of editors that lose metadata: that is no sign of anything


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("answer", ["right", "wrong"])
def test_t09_an_edited_check_changes_no_points_and_is_reviewed(engine, change, answer, request):
    what = sent() if answer == "right" else right_but(total=WRONG["total"])
    for one in what["cells"]:
        if one["id"] == "check-total":
            one.update(change)
    judged = graded(engine, what)
    assert judged["total"].points == (2 if answer == "right" else 0)
    assert sum(one.points for one in judged.values()) == (10 if answer == "right" else 8)
    usual = "PASS" if answer == "right" else "FAIL"
    reviewed = request.node.callspec.id.rpartition("-")[2] in REVIEWED
    assert judged["total"].verdict == ("REVIEW" if reviewed else usual)
    assert [judged[name].verdict for name in QUESTIONS[1:]] == ALL[1:]


def stripped(what):
    """As other editors hand it back: no metadata, no ids."""
    return notebook([{**one, "metadata": {}, "id": ""} for one in what["cells"]])


def test_t10_order_ids_and_company_do_not_matter(engine):
    what = sent()
    assert verdicts(engine, notebook(what["cells"][::-1])) == ALL
    assert verdicts(engine, stripped(what)) == ALL
    assert verdicts(engine, stripped(notebook(what["cells"][::-1]))) == ALL
    equal = notebook([{**one, "id": "same"} for one in what["cells"]])
    assert verdicts(engine, equal) == ALL
    more = [cell(f"extra-{n}", f"x{n} = {n}") for n in range(1000)]
    assert verdicts(engine, notebook([*more, *what["cells"]])) == ALL


def test_a_helper_in_a_cell_of_ones_own_is_honest(engine):
    helper = cell("mine", "def my_sum(some):\n    return sum(some)\nimport math as m")
    what = right_but(total="def total(lengths):\n    return my_sum(lengths)")
    assert verdicts(engine, notebook([helper, *what["cells"]])) == ALL


def test_t11_kernels_and_languages_do_not_matter(engine):
    for metadata in ({"kernelspec": {"name": "bogus"}}, {"language_info": {"name": "R"}}):
        assert verdicts(engine, {**sent(), "metadata": metadata}) == ALL
    bare = sent()
    del bare["metadata"]
    assert verdicts(engine, bare) == ALL


PRETENDERS = {
    "a float that equals all": "class F(float):\n    def __eq__(self, other): return True\n"
    "    __hash__ = float.__hash__\n    def __sub__(self, other): return 0.0\n"
    "def total(lengths):\n    return F(1)",
    "an int that equals all": "class F(int):\n    def __eq__(self, other): return True\n"
    "def total(lengths):\n    return F(1)",
    "an array of its own": "class A(np.ndarray):\n    def __array_ufunc__(self, *a, **k): return True\n"
    "def total(lengths):\n    return np.zeros(1).view(A)[0:1]",
    "a class named Tensor": "class Tensor:\n    def numpy(self): return 8\n    def __float__(self): return 8.0\n"
    "def total(lengths):\n    return Tensor()",
}  # fmt: skip


@pytest.mark.parametrize("code", PRETENDERS.values(), ids=PRETENDERS)
def test_t12_what_only_claims_to_be_a_number_is_refused(engine, code):
    one = graded(engine, right_but(total=code))["total"]
    assert one.points == 0
    assert one.verdict in {"FORBIDDEN", "FAIL"}


CHEATS = {
    "input transformer": "get_ipython().input_transformers_cleanup.append(lambda lines: ['pass'])",
    "showtraceback": "get_ipython().showtraceback = lambda *a, **k: None",
    "run_cell": "type(get_ipython()).run_cell = lambda *a, **k: None",
    "display formatter": "get_ipython().display_formatter = None\nprint(2)",
    "clear_output": "from IPython.display import clear_output\nclear_output()",
    "displayhook": "import sys\nsys.displayhook = lambda value: print(2)",
    "excepthook": "import sys\nsys.excepthook = lambda *a: None",
    "check patched": "from batchlab.classroom import check as c\nfor n in c.__all__:\n"
    "    setattr(c, n, lambda *a, **k: None)",
    "numpy patched": "np.isclose = np.allclose = np.array_equal = lambda *a, **k: True",
    "builtins patched": "import builtins\nbuiltins.all = builtins.isinstance = lambda *a: True\n"
    "builtins.abs = lambda x: 0\nbuiltins.float = lambda x: 1.0",
    "modules faked": "import sys, types\nsys.modules['batchlab.classroom.check'] = types.ModuleType('c')",
    "codec patched": "from batchlab.grading import _far, _student, _wire\n"
    "_wire.Peer.answer = lambda self, m: self.say({'value': 8, 'found': {}})",
}  # fmt: skip


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_t13_t14_what_is_patched_in_the_students_process_gives_no_point(engine, cheat):
    cells = [cell("cheat", cheat), *sent({})["cells"]]
    assert sum(one.points for one in graded(engine, notebook(cells)).values()) == 0


def test_t15_shadow_files_are_never_imported(engine):
    files = "from pathlib import Path\nfor n in ('numpy', 'batchlab', 'sitecustomize', 'conftest', 'json'):\n"
    files += (
        "    Path(f'{n}.py').write_text('raise SystemExit')\nPath('x.pth').write_text('import os')"
    )
    cells = [cell("shadow", files), *sent()["cells"]]
    assert verdicts(engine, notebook(cells)) == ALL
    assert verdicts(engine, sent()) == ALL, "and the next student sees nothing of them"


LEAVES = {
    "sys.exit": "import sys; sys.exit()",
    "exit": "exit()",
    "SystemExit": "raise SystemExit",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "BaseException": "raise BaseException('x')",
}


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES)
def test_t22_leaving_costs_the_question_that_leaves(engine, leave):
    judged = graded(engine, right_but(scaled=f"def scaled(values, factor):\n    {leave}"))
    assert judged["scaled"].verdict == "ERROR"
    assert sum(one.points for one in judged.values()) == 8


CRASHES = {
    "_exit": "import os; os._exit(3)",
    "SIGKILL": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGSEGV": "import ctypes; ctypes.string_at(0)",
    "abort": "import os; os.abort()",
}


@pytest.mark.parametrize("crash", CRASHES.values(), ids=CRASHES)
@pytest.mark.parametrize("name", ["total", "parts"])
def test_t23_a_crash_costs_one_question(engine, crash, name):
    arguments = {"total": "lengths", "parts": "count, size"}[name]
    judged = graded(engine, right_but(**{name: f"def {name}({arguments}):\n    {crash}"}))
    assert judged[name].verdict == "CRASH", judged[name]
    assert sum(one.points for one in judged.values()) == 8


def test_t23_a_crash_at_the_definition_costs_one_question(engine):
    judged = graded(engine, right_but(total="import os\nos._exit(0)"))
    assert [one.verdict for one in judged.values()] == ["CRASH", *ALL[1:]]


LOOPS = {
    "plain": "while True: pass",
    "swallowing": "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
    "in C": "return sum(iter(int, 1))",
    "signals blocked": "import signal\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
    "    while True: pass",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_t24_a_loop_costs_one_question(engine, loop):
    judged = graded(engine, right_but(ordered=f"def ordered(items):\n    {loop}"))
    assert judged["ordered"].verdict == "TIMEOUT"
    assert "0.5 CPU seconds" in judged["ordered"].message
    assert sum(one.points for one in judged.values()) == 8


def test_t24_a_loop_in_a_cell_of_ones_own_costs_nothing_but_time(engine):
    assert verdicts(engine, notebook([cell("mine", "while True: pass"), *sent()["cells"]])) == ALL


@pytest.mark.slow
def test_t24_all_loops_end_within_the_budget_of_a_submission(engine):
    loops = {
        name: ANSWERS[name].partition(":\n")[0] + ":\n    while True: pass" for name in QUESTIONS
    }
    judged = graded(engine, sent(loops))
    assert {one.verdict for one in judged.values()} == {"TIMEOUT"}
    assert sum(one.seconds for one in judged.values()) < 5 * 0.5


def test_cells_that_each_take_less_than_they_may_end_with_the_budget_of_a_submission(engine):
    burns = (
        "import time\nbegin = time.process_time()\nwhile time.process_time() - begin < 0.35: pass"
    )
    cells = [cell(f"c{n}", burns) for n in range(40)]
    judged = engine.grade(json.dumps(notebook([*cells, *sent()["cells"]])).encode())
    assert {one.verdict for one in judged} == {"TIMEOUT"}
    assert sum(one.seconds for one in judged) < 40 * 0.35 / 2


MEMORY = {
    "a list": "x = []\n    while True: x.append(bytearray(1 << 24))",
    "one array": "return np.ones(10**11).sum()",
    "shared": "import mmap\n    m = mmap.mmap(-1, 1 << 33)\n    for i in range(0, 1 << 33, 4096): m[i] = 1",
}


@pytest.mark.parametrize("code", MEMORY.values(), ids=MEMORY)
def test_t25_too_much_memory_costs_one_question(engine, code):
    judged = graded(engine, right_but(total=f"def total(lengths):\n    {code}"))
    assert judged["total"].verdict == "OOM", judged["total"]
    assert sum(one.points for one in judged.values()) == 8


def test_t28_however_much_is_printed_the_answers_count(engine):
    loud = "import sys\nfor _ in range(3000):\n    print('x' * 1000)\n    print('y' * 1000, file=sys.stderr)\n"
    loud += "import os\nos.write(1, b'\\xff\\x00')\nprint('\\ud800')"
    judged = graded(engine, notebook([cell("loud", loud), *sent()["cells"]]))
    assert [one.verdict for one in judged.values()] == ALL
    assert all("OUTPUT" in one.notes for one in judged.values())


def test_t30_warnings_and_logs_cost_nothing(engine):
    code = """def total(lengths):
    import logging, sys, warnings, os
    warnings.warn("careful")
    logging.getLogger().error("loud")
    print("progress", file=sys.stderr)
    os.write(2, b"from C")
    return sum(lengths)"""
    judged = graded(engine, right_but(total=code))
    assert [one.verdict for one in judged.values()] == ALL
    assert not any(one.notes for one in judged.values())


MESSES = {
    "stdout None": "import sys\nsys.stdout = None",
    "stdout closed": "import os\nos.close(1); os.close(2)",
    "cwd": "import os\nos.chdir('/')",
    "recursion limit": "import sys\nsys.setrecursionlimit(60000)",
    "builtins deleted": "import builtins\ndel builtins.input, builtins.copyright",
    "magics": "%reset -f\n%matplotlib inline\n!ls\nx = 1",
    "cell magic": "%%time\ny = 2",
    "shell cell": "%%bash\nrm -rf /",
    "signal handlers": "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "atexit": "import atexit, os\natexit.register(lambda: os._exit(9))",
    "await": "import asyncio\nawait asyncio.sleep(0)",
    "broken cell": "this is no Python",
    "a cell that raises": "1 / 0",
}


@pytest.mark.parametrize("mess", MESSES.values(), ids=MESSES)
def test_t31_a_mess_around_right_answers_costs_nothing(engine, mess):
    assert verdicts(engine, notebook([cell("mess", mess), *sent()["cells"]])) == ALL


VALUES = {
    "nan": "float('nan')", "inf": "float('inf')", "none": "None", "text": "'8'", "a list": "[8]",
    "a generator": "(x for x in [8])", "a function": "lambda: 8", "off by one": "sum(lengths) + 1",
}  # fmt: skip


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_t32_a_wrong_value_is_refused_and_named(engine, value):
    one = graded(engine, right_but(total=f"def total(lengths):\n    return {value}"))["total"]
    assert (one.verdict, one.points) == ("FAIL", 0)
    assert "asked" in one.message and "got" in one.message


@pytest.mark.parametrize(
    "value", ["np.int64(sum(lengths))", "np.array(sum(lengths))", "float(sum(lengths))"]
)
def test_t32_a_right_value_of_another_type_is_right(engine, value):
    assert verdicts(engine, right_but(total=f"def total(lengths):\n    return {value}")) == ALL


def test_t33_a_seeded_answer_gets_one_verdict(engine):
    code = "rng = np.random.default_rng(0)\ndef total(lengths):\n    return sum(lengths) if rng.random() < 0.5 else 0"
    found = [graded(engine, right_but(total=code))["total"].detail for _ in range(5)]
    assert len(set(found)) == 1


def test_t34_another_seed_draws_other_hidden_cases(engine, tmp_path):
    code = "def total(lengths):\n    return sum(lengths) if lengths == [5, 3] else 0"
    told = graded(engine, right_but(total=code))["total"]
    with Engine(written(tmp_path), seed="of another term") as other:
        again = graded(other, right_but(total=code))["total"]
    assert told.detail != again.detail
    assert told.message == again.message, "which says nothing of the hidden case"


def test_t35_remembered_cases_fail_the_hidden_check(engine):
    code = "def total(lengths):\n    return 8 if lengths == [5, 3] else 0"
    one = graded(engine, right_but(total=code))["total"]
    assert (one.verdict, one.points) == ("FAIL", 0)
    assert "hidden" in one.message and "right is" not in one.message
    assert "right is" in one.detail, "the teacher reads all of it"


def test_t16_no_hidden_text_is_in_the_students_process(engine):
    look = """def total(lengths):
    import ctypes
    found = read = 0
    after = bytes((i + 1) % 256 for i in range(256))  # so the words never stand in this process
    for line in open('/proc/self/maps'):
        part, rights, *_, name = [*line.split(), '']
        start, end = (int(one, 16) for one in part.split('-'))
        if rights.startswith('rw') and 'vv' not in name:
            text = ctypes.string_at(start, end - start).translate(after)
            read += len(text)
            found += b'dbobsz.' in text or b'{r.bvuvno' in text
    raise RuntimeError(f'found {found}, more than a MiB read: {read > 1 << 20}')"""
    one = graded(engine, right_but(total=look))["total"]
    assert "found 0, more than a MiB read: True" in one.detail, one.detail
    for judged in graded(engine, right_but(total=look)).values():
        assert "canary" not in judged.message + judged.detail


def test_an_argument_that_is_changed_is_seen_from_afar(engine):
    one = graded(
        engine, right_but(ordered="def ordered(items):\n    items.sort()\n    return items")
    )
    assert "the input changed" in one["ordered"].message
    assert ".sort()" in one["ordered"].message


def test_a_list_that_is_handed_out_twice_is_seen_from_afar(engine):
    code = "kept = []\ndef scaled(values, factor):\n    kept[:] = [v * factor for v in values]\n    return kept"
    one = graded(engine, right_but(scaled=code))["scaled"]
    assert one.verdict == "FAIL" and "handed out" in one.detail


def test_a_test_that_counts_its_calls_meets_fresh_processes(engine):
    code = "calls = []\ndef total_test(total):\n    calls.append(1)\n    assert len(calls) < 3"
    assert graded(engine, right_but(total_test=code))["total-test"].verdict == "FAIL"


def test_the_line_of_the_notebook_is_named_from_afar(engine):
    code = "def total(lengths):\n    return lengths[9]"
    message = graded(engine, right_but(total=code))["total"].message
    assert "IndexError" in message and "in line 2: return lengths[9]" in message


def test_a_public_cell_that_was_edited_runs_and_one_that_was_deleted_is_there(engine):
    edited = sent()
    edited["cells"][1]["source"] = PUBLIC["data"] + "\nmine = 3"
    assert verdicts(engine, edited) == ALL
    assert verdicts(engine, without(sent(), "imports", "data")) == ALL


def test_the_stub_beside_the_answer_does_not_undo_it(engine):
    what = sent()
    again = cell("total", stub("total"), "answer")
    assert verdicts(engine, notebook([*what["cells"], again])) == ALL


def test_a_level_that_does_not_stand_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there are best, L3, L2, L0"):
        Engine(written(tmp_path), seed=None, level="L9")


def test_the_fingerprint_changes_with_a_check(tmp_path):
    one = Engine(written(tmp_path / "a"), seed=None).checks
    assert one == Engine(written(tmp_path / "b"), seed=None).checks
    teacher = written(tmp_path / "c")
    teacher.write_text(teacher.read_text().replace("canary-total", "canary-other"))
    assert Engine(teacher, seed=None).checks != one
    assert "canary" in CHECKS["total"]
