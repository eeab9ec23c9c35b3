"""What a stranger sends is plain data, a stand-in, or garbage: never anything that runs."""

# ruff: noqa: E501  (code of students stands on one line)

import collections
import contextlib
import json
import os
import random
import threading
from fractions import Fraction

import numpy as np
import pytest

from batchlab.classroom.afar import Gone
from batchlab.classroom.copies import changed
from batchlab.grading import _ingest, _lesson
from batchlab.grading._codec import Codec
from batchlab.grading._values import Flood, Garbage, TooLarge
from batchlab.grading._wire import HEAD, LARGEST, MARK, OF_STRANGERS, Channel
from tests.torture_lesson import cell, notebook, sent, written


def crossed(value, *, strict=True):
    """A value as it arrives: through JSON and back."""
    tree, buffers = Codec(lambda stand: stand, strict=not strict).pack(value)
    there = Codec(lambda stand: stand, strict=strict)
    return there.unpack(json.loads(json.dumps(tree)), memoryview(b"".join(buffers)))


PLAIN = [
    None, True, 0, -7, 10**30, 10**5000, 0.1, -0.0, float("inf"), "", "ü\ud800", b"\x00\xff", 1 + 2j,
    [], [1, [2, (3,)]], {"a": {1: (2,)}, (1, 2): None}, {1, 2}, frozenset({"x"}), range(1, 9, 2),
    collections.deque([1, 2]), slice(1, None, 2), Fraction(1, 3), ..., np.arange(6).reshape(2, 3),
    np.float32(0.1), np.int64(3), np.bool_(True), np.zeros((0, 4)), np.array(5.0), np.str_("x"),
    np.array(["a", "bb"]), np.array([1, None, [2]], dtype=object), np.array([1 + 1j]),
    np.datetime64("2026-01-01"), random.Random(3), np.random.default_rng(3),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda value: type(value).__name__)
def test_plain_data_arrives_as_it_was(value):
    found = crossed(value)
    assert type(found) is type(value)
    assert changed(value, found) is None
    if isinstance(value, np.ndarray | np.generic):
        assert found.dtype == value.dtype


def test_nan_and_tensors_arrive_bit_by_bit():
    torch = pytest.importorskip("torch")
    assert np.isnan(crossed(float("nan")))
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.float16):
        given = torch.arange(6).reshape(2, 3).to(dtype)
        found = crossed(given)
        assert found.dtype == dtype and torch.equal(found, given)
    assert crossed(torch.ones(3, requires_grad=True)).requires_grad
    assert crossed(torch.float32, strict=False) is torch.float32


def test_what_two_lists_share_is_shared_again():
    row = [1]
    found = crossed([row, row, np.array([row], dtype=object)])
    assert found[0] is found[1]
    loop: list = []
    loop.append(loop)
    assert (found := crossed(loop, strict=False))[0] is found, "our own is trusted"


def doubled(start):
    for _ in range(60):
        start = [start, start]
    return start


LARGE = {
    "shared lists": doubled([1]), "shared dicts": doubled({"a": [1]}), "a million": [1] * 10**6,
    "a loop": (lambda one: one.append(one) or one)([]), "a long number": 1 << 200_000,
    "an array": np.zeros(10**7), "empty rows": np.zeros((10**8, 0)), "a range": range(10**7),
    "long numbers": [1 << 10**5] * 1100, "a text": "x" * (25 << 20),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), LARGE.items(), ids=LARGE)
def test_a_value_that_no_check_would_look_through_is_refused_on_both_sides(name, value):
    honest = Codec(lambda stand: stand, strict=False)
    if name not in ("a text", "long numbers"):  # these are stopped by the size of the message
        with pytest.raises(TooLarge):
            honest.pack(value)
    tree, buffers = Codec(lambda stand: stand, strict=True).pack(value)  # one that counts nothing
    reads, writes = os.pipe()
    with open(writes, "wb", closefd=False) as there:
        sender = threading.Thread(target=sent_over, args=[there, tree, buffers], daemon=True)
        sender.start()
        with pytest.raises((Flood, Garbage)):
            Codec(lambda stand: stand, strict=True).unpack(
                *Channel(reads, writes, OF_STRANGERS).receive()
            )
        os.close(reads)
        sender.join(10)


def sent_over(file, tree, buffers):
    with contextlib.suppress(Gone):
        Channel(file.fileno(), file.fileno()).send(tree, buffers)


def test_what_is_no_plain_data_becomes_a_stand_in():
    class Claims(float):
        def __eq__(self, other):
            return True

    assert crossed(Claims(1)).kind == "x"
    assert crossed(lambda x: x).kind == "f"
    assert crossed(iter([1])).kind == "s"
    assert crossed(object()).kind == "x"
    there = Codec(lambda stand: stand, strict=True)
    tree, _ = Codec(lambda stand: stand, strict=False).pack(Claims(1))
    there.unpack(tree, memoryview(b""))
    assert there.pretended


@pytest.mark.parametrize("name", [("os", "system"), ("builtins", "exec"), ("subprocess", "Popen"),
                                  ("batchlab.classroom.check", "passed"), ("builtins", "open")])  # fmt: skip
def test_a_stranger_names_no_function(name):
    with pytest.raises(Garbage):
        Codec(lambda stand: stand, strict=True).unpack(["N", *name], memoryview(b""))


FORGED = [
    ["pickle", "gASVAA=="], ["a", "|O", [1], [0, 8]], ["a", "<f8", [-1], [0, 0]], ["a", "<f8", [2**50], [0, 8]],
    ["a", "<f8", [2], [0, 8]], ["a", "V8", [1], [0, 8]], ["t", "float99", [1], [0, 4], False],
    ["F", 3], ["F", -1], ["r", 9], ["d", [1]], ["d", [[], 1]], ["n", "<f8", "zz"], ["I", "x"], [], [1],
    ["R", "PCG64", None], ["R", "os", 1], ["f", "1", "f", "x", ""], ["%", 1, 0], {"a": 1}, ["L", [[1]]],
    ["y", "np", "O"], ["y", "device", "cuda"], ["g", 1, 2, 0], ["o", [2], ["L", [1]]],
]  # fmt: skip


@pytest.mark.parametrize("tree", FORGED, ids=lambda tree: json.dumps(tree)[:30])
def test_t21_a_forged_value_is_garbage(tree):
    with pytest.raises(Garbage):
        Codec(lambda stand: stand, strict=True).unpack(tree, memoryview(bytes(8)))


def test_t21_a_deep_value_is_garbage_and_no_crash():
    deep: list = ["l"]
    for _ in range(5000):
        deep = ["l", deep]
    with pytest.raises(Garbage):
        Codec(lambda stand: stand, strict=True).unpack(deep, memoryview(b""))


def framed(raw):
    reads, writes = os.pipe()
    os.write(writes, raw)
    os.close(writes)
    return Channel(reads, reads)


def test_t21_frames_that_lie_end_the_line():
    for raw, kind in (
        (b"", Gone),
        (b"x" * 40, Garbage),
        (HEAD.pack(MARK, LARGEST, LARGEST), Flood),
        (HEAD.pack(MARK, 10, 0) + b"abc", Gone),
        (HEAD.pack(MARK, 3, 0) + b"abc", Garbage),
        (HEAD.pack(MARK, 40000, 0) + b"[" * 40000, Garbage),
    ):
        with pytest.raises(kind):
            framed(raw).receive()


def mutated(draw, tree):
    """A tree with one place changed."""
    if isinstance(tree, list) and tree and draw.random() < 0.8:
        place = draw.randrange(len(tree))
        return [mutated(draw, one) if n == place else one for n, one in enumerate(tree)]
    return draw.choice(
        [None, -1, 2**63, 1e308, "", "l", "N", [], ["F", 0], ["r", 0], [tree], {}, "<f8", True]
    )


def test_t21_ten_thousand_mutations_give_values_or_garbage():
    draw = random.Random(17)
    here = Codec(lambda stand: stand, strict=False)
    packs = [
        here.pack(value) for value in (PLAIN[:-2], np.eye(3), {"ask": "call", "given": [[1], {}]})
    ]
    came = collections.Counter()
    for _ in range(10_000):
        tree, buffers = draw.choice(packs)
        for _ in range(draw.randrange(1, 4)):
            tree = mutated(draw, tree)
        try:
            Codec(lambda stand: stand, strict=True).unpack(tree, memoryview(b"".join(buffers)))
            came["value"] += 1
        except (Flood, Garbage):
            came["garbage"] += 1
    assert came["value"] > 500 and came["garbage"] > 500, came


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    return _lesson.opened(written(tmp_path_factory.mktemp("ingest")))


RAW = json.dumps(sent()).encode()
REFUSED = {
    "empty": b"", "blank": b"  \n", "not JSON": b"hello", "a list": b"[]", "a number": b"3",
    "v5": json.dumps({**sent(), "nbformat": 5}).encode(), "no cells": b'{"nbformat": 4}',
    "v3 without sheets": b'{"nbformat": 3}', "cells a number": b'{"nbformat": 4, "cells": 3}',
    "numeric source": b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 3}]}',
    "deep": b'{"nbformat": 4, "cells": ' + b"[" * 100000 + b"]" * 100000 + b"}",
    "100 MB": b'{"cells": "' + b"x" * (100 << 20) + b'"}',
    "cut in the first cell": RAW[:60],
    "much code": json.dumps(notebook([cell("x", "#" * 1_100_000), cell("y", "#" * 1_100_000)])).encode(),
    "NaN as version": b'{"nbformat": NaN, "cells": []}',
}  # fmt: skip


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_t36_what_is_no_notebook_is_refused_with_a_reason(lesson, raw):
    with pytest.raises(_ingest.Refused) as refused:
        _ingest.read(raw, lesson)
    assert str(refused.value) and "\n" not in str(refused.value)


def in_version_3(what):
    cells = [
        {**{k: v for k, v in one.items() if k != "source"}, "input": one["source"]}
        for one in what["cells"]
    ]
    return {"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}


READ = {
    "BOM": b"\xef\xbb\xbf" + RAW, "minor 99": json.dumps({**sent(), "nbformat_minor": 99}).encode(),
    "no nbformat": json.dumps({"cells": sent()["cells"]}).encode(),
    "v3": json.dumps(in_version_3(sent())).encode(), "NUL": RAW.replace(b"Right.", b"Ri\\u0000ght."),
    "surrogate": RAW.replace(b"Right.", b"Ri\\ud800ght."), "cut at its end": RAW[:-9],
    "UTF-16": RAW.decode().encode("utf-16"), "UTF-16 without a mark": RAW.decode().encode("utf-16-le"),
    "Latin-1": RAW.replace(b"Right.", b"Right\xfc"), "NULs behind it": RAW + bytes(9),
    "60 MB of output": RAW.replace(b'"outputs": []', b'"outputs": ["' + b"[x\\n" * 15_000_000 + b'"]', 1),
    "script of nbconvert": "\n".join(f"# In[{n}]:\n{one['source']}\n" for n, one in enumerate(sent()["cells"])).encode(),
    "script in per cent": "\n".join(f"# %%\n{one['source']}\n" for one in sent()["cells"]).encode(),
    "script of Colab": "\n\n".join(one["source"] for one in sent()["cells"]).encode(),
}  # fmt: skip


@pytest.mark.parametrize("raw", READ.values(), ids=READ)
def test_t36_what_is_odd_but_readable_is_read(lesson, raw):
    assert _ingest.read(raw, lesson).answered == set(lesson.answers)


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.deep)])
def test_broken_notebooks_are_read_or_refused(lesson, count):
    draw = random.Random(36)
    came = collections.Counter()
    small = json.dumps(sent()).encode()
    for _ in range(count):
        raw = bytearray(small)
        for _ in range(draw.randrange(1, 6)):
            place = draw.randrange(len(raw))
            raw[place : place + draw.randrange(3)] = draw.choice(
                [b"", b'"', b"{", b"[", b"\xff", b"0", b"null"]
            )
        try:
            _ingest.read(bytes(raw), lesson)
            came["read"] += 1
        except _ingest.Refused:
            came["refused"] += 1
    assert came["refused"] > count / 20, came


class Reader:
    """What an exercise makes for a test of the learner's."""

    def __init__(self):
        self.answer = 42

    def __iter__(self):
        yield from (1, 2)

    def state_dict(self):
        return {"done": 1}

    def _hidden(self):
        return self.answer


def test_an_object_of_an_exercise_is_offered_by_its_public_methods_alone(monkeypatch):
    monkeypatch.setattr(Reader, "__module__", "batchlab.exercises.padding")
    found = crossed(Reader(), strict=False)
    assert set(vars(found)) == {"__iter__", "state_dict"}
    assert {one.kind for one in vars(found).values()} == {"b"}
    assert "Reader" not in repr(type(found)), "its class would tell the right one from the wrong"


def test_an_object_from_elsewhere_is_a_number_and_a_stranger_offers_none(monkeypatch):
    assert crossed(Reader(), strict=False).kind == "x"
    monkeypatch.setattr(Reader, "__module__", "batchlab.exercises.padding")
    assert crossed(Reader()).kind == "x"
    with pytest.raises(Garbage, match="methods"):
        Codec(lambda stand: stand, strict=True).unpack(["O", ["__iter__", 1]], memoryview(b""))
