"""Pictures say what the library says, and what is drawn is what is said."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from batchlab import padding, pictures, serving, units

LENGTHS = [900, 700, 620, 500, 430, 380, 300, 250, 120, 60]
OUTPUTS = [3, 12, 5, 7, 2, 9, 4, 6]
MADE = {
    "rectangle": lambda: pictures.rectangle([5, 3, 9]),
    "windows": lambda: pictures.windows(LENGTHS, 2, window=2, rng=np.random.default_rng(0)),
    "packing": lambda: pictures.packing(LENGTHS[::-1], 1024),
    "mask": lambda: pictures.mask([4, 7, 3]),
    "micro_batches": lambda: pictures.micro_batches([6, 1, 4, 2], [1, 4, 2, 3]),
    "memory": lambda: pictures.memory({"forward": {"a": 1e9}, "update": {"a": 1e9, "b": 2e9}}),
    "segments": lambda: pictures.segments(12, 4),
    "timeline": lambda: pictures.timeline({"useful": 0.1, "waiting": 0.3}, {"waiting": "workers"}),
    "ring": lambda: pictures.ring(4),
    "requests": lambda: pictures.requests(OUTPUTS, 4),
}


def said(picture, number=-1):
    return picture.frames[number][1]


@pytest.mark.parametrize("name", MADE)
def test_a_picture_is_whole_html_with_a_button_and_words_for_every_drawing(name):
    one = MADE[name]()
    root = ET.fromstring(re.sub(r"<style>.*?</style>", "", one._repr_html_(), flags=re.DOTALL)
                         .replace(" checked>", ">").replace('"><span>', '"/><span>'))  # fmt: skip
    drawings = root.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(root.findall(".//input")) == len(drawings) == len(one.frames) > 1
    assert [node.get("aria-label") for node in drawings] == [words for _, words in one.frames]
    assert str(one).splitlines()[0] == one.title
    assert one._repr_html_() == MADE[name]()._repr_html_(), "the same bytes every time"


def test_all_pictures_are_tried():
    assert set(MADE) == set(pictures.__all__) - {"Drawing", "Steps"}


def test_a_packed_document_lies_in_the_fullest_row_that_takes_it():
    rows, told = [], [words for _, words in MADE["packing"]().frames[1:]]
    for words in told:
        letter, length, where = re.match(r"(\w) \((\d+) tokens\) (opens|fits)", words).groups()
        behind = re.search(r"behind ([A-Z, ]+):", words)
        open_rows = [row for row in rows if sum(row.values()) + int(length) <= 1024]
        if where == "opens":
            assert not open_rows
            rows.append({letter: int(length)})
        else:
            best = max(open_rows, key=lambda row: sum(row.values()))
            assert list(best) == behind[1].split(", ")
            best[letter] = int(length)
    assert f"{len(rows)} rows" in told[-1]


def test_first_fit_is_drawn_as_first_fit():
    told = pictures.packing([5, 4, 3, 3], 8, method="first_fit_decreasing").frames[-2][1]
    assert told.startswith("C (3 tokens) goes into the first row with room, behind A:")
    with pytest.raises(ValueError, match="'split' cannot be drawn"):
        pictures.packing([1], 8, method="split")


def test_shares_are_those_of_the_library():
    waste = padding.measure([5, 3, 9], [range(3)]).waste
    assert units.share(waste) in said(MADE["rectangle"]())
    assert "105 pairs. 61 of them" in said(MADE["mask"](), 1)
    assert f"{24 / 13:.3g}" in said(MADE["micro_batches"](), -2)


def test_the_ring_ends_with_whole_sums_and_no_piece_is_summed_twice():
    *_, (last, words) = (ring := MADE["ring"]()).frames
    counts = [
        [int(n) for n in re.findall(r">(\d)</text>", one.svg("", ""))] for one, _ in ring.frames
    ]
    assert counts[-1] == [4] * 16 and max(map(max, counts)) == 4
    assert counts[3].count(4) == 4, "after the first half each rank has one whole piece"
    assert "1.5 times" in words and last.height > 0


def test_requests_take_the_passes_of_the_simulation():
    flat = serving.Affine(1.0, 0.0, 0.0)
    words = said(MADE["requests"]())
    for policy in ("static", "continuous"):
        trace = serving.at_once([1] * len(OUTPUTS), OUTPUTS)
        passes = serving.simulate(trace, flat, policy=policy, rows=4).decode_passes
        assert f"{passes} ({policy})" in words


def test_segments_never_hold_more_than_they_say():
    for layers, parts in ((12, 4), (7, 3), (5, 1), (6, 6)):
        told = [words for _, words in pictures.segments(layers, parts).frames[2:]]
        alive = [int(re.search(r"(\d+) are alive", words)[1]) for words in told]
        most = int(re.search(r"more than (\d+) at once", told[-1])[1])
        assert max(alive) <= most and len(told) == parts


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pictures.segments(4, 5), "4 layers make 1 to 4 segments, got 5"),
        (lambda: pictures.ring(1), "2 to 8 ranks"),
        (lambda: pictures.ring(9), "2 to 8 ranks"),
        (lambda: pictures.packing([1] * 27, 8), "at most 26 documents"),
        (lambda: pictures.memory({"a": dict.fromkeys("abcdefg", 1.0)}), "at most 6 kinds"),
        (lambda: pictures.Steps("none", []), "at least one step"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
