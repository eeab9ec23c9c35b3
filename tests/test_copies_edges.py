"""The first difference between what was handed over and what came back, and what a call says."""

import random
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from batchlab.classroom import check, copies
from batchlab.classroom.copies import changed, copied
from tests.refusals import lines


def test_a_generator_that_is_a_key_may_be_drawn_from_where_drawing_is_allowed():
    """It was refused as another key: the keys were compared as if drawing were a change."""
    rng = np.random.default_rng(0)
    memo = {}
    mine, after = {rng: 1}, copied({rng: 1}, memo)
    next(iter(after)).random()
    assert changed(mine, after, drawing=False) is None
    assert "changed its keys" in str(changed(mine, after))
    assert check.call(lambda of: float(next(iter(of)).random()) < 1, mine, asked="x") is True


@pytest.mark.parametrize(
    "make", [np.random.default_rng, random.Random, np.random.RandomState, torch.Generator]
)
def test_a_generator_moves_on_only_where_that_is_a_change(make):
    one = make()
    same, moved = copied(one), copied(one)
    torch.rand(1, generator=moved) if make is torch.Generator else moved.random()
    assert changed(one, same) is None and changed(one, moved, drawing=False) is None
    assert changed(one, moved).what == "moved on: numbers were drawn from it"
    assert changed([one], [moved], drawing=False) is None


@pytest.mark.parametrize(
    ("before", "after", "said", "thought"),
    [
        (
            [1] * 8,
            [1] * 7 + [2],
            " changed from list [1, 1, 1, 1, 1, 1, 1, 1] to ",
            copies.ASSIGNED,
        ),
        ([1] * 9, [1] * 8 + [2], "[8] changed from 1 to 2", copies.ASSIGNED),
        ([1] * 8, [1] * 7, " changed from list [1, 1, 1, 1, 1, 1, 1, 1] to ", copies.SHRUNK),
        ([1] * 9, [1] * 8, " had 9 items and has 8", copies.SHRUNK),
        ([1] * 8, [1] * 9, " had 8 items and has 9", copies.GROWN),
        ([1, 2], [2, 1], " changed from list [1, 2] to list [2, 1]", copies.REORDERED),
        (list(range(9)), list(range(9))[::-1], "[0] changed from 0 to 8", copies.REORDERED),
        ([[1], [2]], [[2], [1]], "[0] changed from list [1] to list [2]", copies.REORDERED),
        ([[1], [2]], [[1], [3]], "[1] changed from list [2] to list [3]", copies.ASSIGNED),
        ([4], [4.0], " changed from list [4] to list [4.0]", copies.ASSIGNED),
        (4, 4.0, " changed from int 4 to float 4.0", ""),
        (1, 2, " changed from 1 to 2", ""),
        ({"a": 1}, {"a": 1, "b": 2}, " changed its keys from list ['a'] to", copies.KEY_ADDED),
        ({"a": 1, "b": 2}, {"a": 1}, " changed its keys from list ['a', 'b']", copies.KEY_GONE),
        ({"a": 1}, {"b": 1}, " changed its keys from list ['a'] to", copies.KEY_ASSIGNED),
        ({"a": 1}, {"a": 2}, "['a'] changed from 1 to 2", copies.KEY_ASSIGNED),
        ({"a": [1]}, {"a": [2]}, "['a'] changed from list [1] to list [2]", copies.ASSIGNED),
        ({1}, {1, 2}, " changed from set {1} to set {1, 2}", copies.MEMBERS),
        (b"a", b"b", " changed from bytes b'a' to bytes b'b'", ""),
        (bytearray(b"a"), bytearray(b"b"), " changed from bytearray bytearray(b'a') to", ""),
        (deque([1]), deque([1, 2]), " changed from deque deque([1]) to", copies.GROWN),
    ],
)
def test_a_change_is_the_first_place_with_its_thought(before, after, said, thought):
    found = changed(before, after)
    assert str(found).startswith(said) and found.thought == thought


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_an_array_of_eight_is_shown_whole_and_of_nine_the_first_that_differs(make):
    eight, nine = list(range(8)), list(range(9))
    found = changed(make(eight), make([7, *eight[1:]]))
    assert str(found).startswith(" changed from ") and found.thought == copies.OVERWRITTEN
    found = changed(make(nine), make([*nine[:8], 0]))
    assert str(found) == "[8] changed from 8 to 0" and found.thought == copies.OVERWRITTEN
    found = changed(make(nine), make(eight))
    assert " changed from " in str(found) and "[8]" not in str(found)
    assert str(changed(make([nine]), make([[*nine[:8], 0]]))) == "[8] changed from 8 to 0"


NAN = float("nan")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (np.array([NAN, 1.0]), np.array([NAN, 1.0]), True),
        (np.array([NAN, 1.0]), np.array([1.0, NAN]), False),
        (np.array([1.0]), np.array([NAN]), False),
        (np.array([1]), np.array([1.0]), False),
        (np.array([1]), np.array([[1]]), False),
        (np.array([None, [1]], dtype=object), np.array([None, [1]], dtype=object), True),
        (np.array([None, [1]], dtype=object), np.array([None, [2]], dtype=object), False),
        (torch.tensor([NAN]), torch.tensor([NAN]), True),
        (torch.tensor([NAN]), torch.tensor([1.0]), False),
        (torch.tensor([1.0]), torch.tensor([NAN]), False),
        (torch.tensor([1]), torch.tensor([1.0]), False),
        (torch.tensor([1]), torch.tensor([[1]]), False),
        (torch.empty(2, device="meta"), torch.empty(2, device="meta"), True),
        (np.float32(1), np.float32(2), False),
        (np.float32(1), np.float32(1), True),
        (frozenset({1}), frozenset({2}), False),
        (object(), object(), True),
        (SimpleNamespace(a=1), SimpleNamespace(a=2), True),
    ],
)
def test_what_is_not_a_number_is_itself_and_what_nobody_knows_is_never_accused(one, other, same):
    assert (changed(one, other) is None) == same


def test_a_sparse_tensor_is_never_accused():
    one, other = torch.eye(9).to_sparse(), (2 * torch.eye(9)).to_sparse()
    assert changed(one, other) is None


def test_weights_buffers_and_modes_are_compared_by_name():
    one = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    assert changed(one, copied(one), where="net") is None
    other = copied(one)
    other[0].weight.data += 1
    found = changed(one, other, where="net")
    assert str(found) == "net.0.weight holds other values than before"
    assert found.thought == copies.TRAINED
    other = copied(one)
    other[1].running_mean += 1
    assert str(changed(one, other, where="net")).startswith("net.1.running_mean holds other")
    other = copied(one)
    other[1].eval()
    found = changed(one, other, where="net")
    assert str(found) == "net.1 came in train mode and is left in eval mode"
    assert found.thought == copies.SWITCHED
    assert str(changed(one.eval(), copied(one).train(), where="net")).startswith("net came in eval")
    fewer, more = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1)
    more.weight.data = fewer.weight.data.clone()
    for before, after in [(fewer, more), (more, fewer)]:
        assert str(changed(before, after, where="net")).startswith("net.bias holds other")


def test_a_tensor_with_a_graph_is_copied_without_it_and_still_asks_for_a_gradient():
    leaf = torch.ones(2, requires_grad=True)
    made = copied({"a": leaf * 2, "b": leaf})
    assert made["a"].is_leaf and made["a"].requires_grad and made["a"].tolist() == [2.0, 2.0]
    assert made["b"].requires_grad and made["b"] is not leaf
    generator = torch.Generator().manual_seed(3)
    assert copied(generator).initial_seed() == 3
    assert copied(generator).get_state().equal(generator.get_state())


def test_what_is_shared_or_holds_itself_is_so_in_the_copy():
    inner = [1]
    pair = copied((inner, inner, {"a": inner}))
    assert pair[0] is pair[1] is pair[2]["a"] and pair[0] is not inner
    loop = [1]
    loop.append(loop)
    made = copied(loop)
    assert made[1] is made and changed(loop, made) is None
    ring = {}
    ring["a"] = ring
    assert copied(ring)["a"]["a"] is not ring and changed(ring, copied(ring)) is None


# calls ---------------------------------------------------------------------------------------


def test_the_only_argument_is_the_input_and_of_two_each_has_its_number():
    assert lines(lambda x: x.append(1) or 1, [0], asked="x")["got"].startswith("the input changed")
    said = lines(lambda x, y: y.append(1) or 1, [0], [0], asked="x")["got"]
    assert said.startswith("argument 2 changed from list [0] to list [0, 1]")
    said = lines(lambda x, y: x.append(1) or 1, [0], [0], asked="x")["got"]
    assert said.startswith("argument 1 changed")
    assert lines(lambda x: x.append(1) or 1, [0], asked="x")["try"] == "work on a copy"


@pytest.mark.parametrize(("length", "shown"), [(160, 160), (161, 160)])
def test_a_message_is_cut_to_160_characters(length, shown):
    def answer(x):
        raise KeyboardError("m" * length)

    class KeyboardError(Exception):
        pass

    said = lines(answer, 1, asked="x")["got"]
    assert said.startswith("KeyboardError: " + "m" * shown + ", in line ")


@pytest.mark.parametrize(("length", "cut"), [(120, 120), (121, 120)])
def test_a_message_without_its_value_is_cut_to_120_characters(length, cut):
    def answer(x):
        raise ValueError("m" * length)

    with pytest.raises(check.CheckFailed) as caught:
        check.raises(answer, 1, asked="x", contains=7)
    assert f"the message '{'m' * cut}' without 7" in str(caught.value)


@pytest.mark.parametrize(
    ("message", "value", "found"),
    [
        ("8 rows", 8, True), ("80 rows", 8, False), ("18 rows", 8, False), ("1.8 rows", 8, False),
        ("8.5 rows", 8, False), ("rows: 8.", 8, True), ("4,096", 4096, True), ("4_096", 4096, True),
        ("4,0961", 4096, False), ("a 4'096 b", 4096, True), ("x7", 7, True), ("row a", "a", True),
        ("4,96", 496, False), ("40 and 96", 4096, False),
    ],
)  # fmt: skip
def test_a_value_stands_in_a_message_as_itself(message, value, found):
    def answer(x):
        raise ValueError(message)

    if found:
        check.raises(answer, 1, asked="x", contains=value)
    else:
        with pytest.raises(check.CheckFailed, match="whoever reads the message must see the value"):
            check.raises(answer, 1, asked="x", contains=value)
