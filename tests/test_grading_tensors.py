"""Tensors of a student, judged in another process (T32): right ones pass, odd ones say why."""

import json
import sys

import pytest

from batchlab.grading import Engine, _student
from tests.torture_lesson import right_but, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the zygote forks")
PLAIN, WITH = "import numpy as np", "import numpy as np\\nimport torch"
DOUBLE = "torch.tensor(values, dtype=torch.float64)"
RIGHT = {
    "a float64": f"{DOUBLE} * factor",
    "one that requires a gradient": f"{DOUBLE}.requires_grad_() * factor",
    "a parameter": f"torch.nn.Parameter({DOUBLE} * factor)",
    "one with strides": f"torch.stack([{DOUBLE}, {DOUBLE}], 1)[:, 1] * factor",
}
ODD = {
    "half precision": (f"({DOUBLE} * factor).half()", "FAIL", "right is"),
    "another shape": (f"({DOUBLE} * factor)[None]", "FAIL", "shape (1, 2), right is (2,)"),
    "nan": (f"{DOUBLE} * float('nan')", "FAIL", "got     nan at [0]"),
    "whole numbers": (f"({DOUBLE} * factor).long()", "FAIL", "right is"),
    "truth values": (f"{DOUBLE} > 0", "FAIL", "got     True at [0]"),
    "-0.0": (f"{DOUBLE} * -0.0", "FAIL", "got     -0 at [0]"),
    "complex": (f"{DOUBLE} * (factor + 0j)", "FAIL", "numbers are needed"),
    "no data": ("torch.empty(2, device='meta')", "FORBIDDEN", "an array or a list is needed"),
    "sparse": (f"({DOUBLE} * factor).to_sparse()", "FORBIDDEN", "an array or a list is needed"),
    "quantised": (f"torch.quantize_per_tensor({DOUBLE}.float(), .1, 0, torch.qint8)", "ERROR",
                  "a tensor of 'qint8'"),
}  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """The lesson of the torture list, with torch among what is loaded for everybody."""
    teacher = written(tmp_path_factory.mktemp("course"))
    for path in teacher.parents[2].glob("*/90_torture/*.ipynb"):
        path.write_text(path.read_text().replace(PLAIN, WITH))
    with Engine(teacher, seed="zq-autumn-81", cpu_seconds=30) as one:
        yield one


def judged(engine, value):
    """What is said of an answer; its neighbours are as they were."""
    source = f"def scaled(values, factor):\n    return {value}"
    found = engine.grade(json.dumps(right_but(scaled=source)).encode())
    others = [one.verdict for one in found if one.question != "check-scaled"]
    assert others == ["PASS"] * 4
    return next(one for one in found if one.question == "check-scaled")


@pytest.mark.parametrize("value", RIGHT.values(), ids=RIGHT)
def test_t32_a_right_tensor_is_right_whatever_it_remembers(engine, value):
    assert judged(engine, value).verdict == "PASS"


@pytest.mark.parametrize(("value", "verdict", "said"), ODD.values(), ids=ODD)
def test_t32_an_odd_tensor_is_refused_with_its_reason(engine, value, verdict, said):
    one = judged(engine, value)
    assert (one.verdict, one.points) == (verdict, 0) and said in one.detail


def test_torch_is_set_for_a_check_as_the_lesson_has_it():
    torch = pytest.importorskip("torch")
    around = _student._around(_student._settings())
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    try:
        with around():
            assert torch.zeros(1).dtype == torch.float32 and torch.is_grad_enabled()
            torch.set_default_dtype(torch.float16)
        assert torch.zeros(1).dtype == torch.float64 and not torch.is_grad_enabled()
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
