"""Catch the bug: one test for nine wrong versions of shares."""

from batchlab.exercises import Exercise


def shares(seconds, parts):
    """The share of each part in all steps together, and of what no part explains."""
    whole = sum(seconds)
    names = dict.fromkeys(name for one in parts for name in one)
    found = {name: sum(one.get(name, 0) for one in parts) / whole for name in names}
    found["unexplained"] = 1 - sum(found.values())
    return found


of = Exercise(shares)
NAMES, END = "for one in parts for name in one", "    return found"
REST = "1 - sum(found.values())"
for _thought, _change in {
    "the mean of each step's shares: the longer steps count more": (
        "sum(one.get(name, 0) for one in parts) / whole",
        "sum(one.get(name, 0) / s for s, one in zip(seconds, parts)) / len(parts)",
    ),
    "shares of what has a name: the rest is hidden": (
        "    whole = sum(seconds)\n",
        "    whole = sum(s for one in parts for s in one.values())\n",
    ),
    "a rest below zero cut to 0: the shares sum to more than 100 %": (REST, f"max(0.0, {REST})"),
    "a rest below zero without its sign": (REST, f"abs({REST})"),
    "all parts alike, only the rest is right": (
        END,
        '    rest = found.pop("unexplained")\n'
        '    return dict.fromkeys(found, (1 - rest) / len(found)) | {"unexplained": rest}',
    ),
    "a rest below zero taken off the largest part": (
        END,
        '    if found["unexplained"] < 0:\n'
        '        found[max(found, key=found.get)] += found["unexplained"]\n'
        '        found["unexplained"] = 0.0\n' + END,
    ),
    "parts over what they leave: 0.5 becomes 1": (
        END,
        "    return {name: share / (1 - share) for name, share in found.items()}",
    ),
    "the last step only": (
        "    whole = sum(seconds)\n",
        "    seconds, parts = seconds[-1:], parts[-1:]\n    whole = sum(seconds)\n",
    ),
    "a part that the first step lacks is left out": (NAMES, "for name in parts[0]"),
}.items():
    of.edit(_thought, [_change])


@of.style
def by_array(seconds, parts):
    """by array"""
    import numpy as np

    names = sorted({name for one in parts for name in one})
    table = np.array([[one.get(name, 0.0) for name in names] for one in parts]).sum(axis=0)
    found = np.append(table, sum(seconds) - table.sum()) / sum(seconds)
    return dict(zip([*names, "unexplained"], found.tolist()))


def shares_test(shares):
    """Fail (assert) for every wrong shares(seconds, parts) -> {part: share}."""
    cases = [
        (
            [1, 3],
            [{"work": 0.5}, {"work": 1, "input": 0.9}],
            {"work": 0.375, "input": 0.225, "unexplained": 0.4},
        ),
        ([1, 1], [{"work": 1.5}, {"work": 0.9}], {"work": 1.2, "unexplained": -0.2}),
    ]
    for seconds, parts, want in cases:
        got = shares(seconds, parts)
        assert got.keys() == want.keys()
        assert all(abs(got[name] - want[name]) < 1e-9 for name in want)


LACKS = {
    "the mean of each step's shares": "compare each share, not only the sum, of unequal steps",
    "below zero": "no case has parts that are longer than their steps",
}
exercise = Exercise(
    shares_test,
    explain=lambda got: next((why for bug, why in LACKS.items() if bug in got), ""),
    hints=(
        "let two steps have different lengths, and compute the shares of both together by hand",
        "assert each share, with a part that one step lacks: a comparison without `assert` stops "
        "nothing",
        "let the parts be longer than the steps: what is the rest then?",
    ),
    tests=(of, tuple(one.thought for one in of.mistakes), ("by array",)),
    passed="Right: nine wrong versions found, both right ones passed.",
)
BODY = exercise.text[exercise.text.index("    cases = [") :]
FIRST = '    got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])\n'
for _says, _thought, _body in [
    (
        "all parts alike",
        "only the rest",
        "    for s, p, w in (([1, 3], [{'a': 0.5}, {'a': 1, 'b': 1}], 0.375),\n"
        "                    ([1, 1], [{'a': 2}, {'b': 1}], -0.5)):\n"
        "        assert abs(shares(s, p)['unexplained'] - w) < 1e-9\n",
    ),
    (
        "got through",
        "one step",
        '    assert shares([2], [{"work": 1}]) == {"work": 0.5, "unexplained": 0.5}\n',
    ),
    (
        "got through",
        "the example alone",
        '    got = shares([2, 2], [{"work": 1}, {"work": 2}])\n'
        '    assert got == {"work": 0.75, "unexplained": 0.25}\n',
    ),
    ("got through", "the sum alone", FIRST + "    assert abs(sum(got.values()) - 1) < 1e-9\n"),
    (
        "rest below zero",
        "no rest below zero",
        FIRST + '    assert abs(got["work"] - 0.375) < 1e-9 and abs(got["input"] - 0.225) < 1e-9\n'
        '    assert abs(got["unexplained"] - 0.4) < 1e-9\n',
    ),
    (
        "right implementation",
        "shares are at most 1",
        '    got = shares([1, 1], [{"work": 1.5}, {"work": 0.9}])\n'
        "    assert all(0 <= share <= 1 for share in got.values())\n",
    ),
    (
        "right implementation",
        "floats compared exactly",
        FIRST + '    assert got["unexplained"] == 1 - 0.375 - 0.225 + 1e-12\n',
    ),
    ("never failed", "no assert", "    shares([2], [{'work': 1}]) == {'work': 0.5}\n"),
]:
    exercise.edit(_thought, [(BODY, _body)], says=_says)


@exercise.style
def verdict(shares):
    """a verdict"""
    one = shares([4, 6], [{"a": 1.0, "b": 2.0}, {"c": 3.0, "a": 2.5}])
    two = shares([5, 1], [{"a": 4.0}, {"a": 3.0}])
    want = {"a": 0.35, "b": 0.2, "c": 0.3, "unexplained": 0.15}
    right = set(one) == set(want) and all(abs(one[k] - want[k]) < 1e-6 for k in want)
    return right and abs(two["a"] - 7 / 6) < 1e-6 and abs(two["unexplained"] + 1 / 6) < 1e-6


@exercise.style
def by_name(shares):
    """share by share"""
    got = shares([1, 3], [{"work": 0.5}, {"work": 1.0, "input": 0.9}])
    assert abs(got["work"] - 0.375) < 1e-9 and abs(got["input"] - 0.225) < 1e-9
    assert abs(got["unexplained"] - 0.4) < 1e-9
    got = shares([1, 1], [{"work": 1.5}, {"work": 0.9}])
    assert abs(got["work"] - 1.2) < 1e-9 and abs(got["unexplained"] + 0.2) < 1e-9
