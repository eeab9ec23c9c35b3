"""Packing: cases by hand, laws, and textbook algorithms that place one document at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchlab import lengths as ln
from batchlab import packing
from batchlab.packing import _stream as streaming
from batchlab.packing import lower_bound, pack

METHODS = ["best_fit_decreasing", "first_fit_decreasing", "next_fit"]
ROW = 60


def textbook(lengths, row_length, choose):
    """One document at a time, longest first; `choose` picks among the rows that have room."""
    rooms: list[int] = []
    for tokens in sorted(lengths, reverse=True):
        open_rows = [i for i, room in enumerate(rooms) if room >= tokens]
        if open_rows:
            rooms[choose(open_rows, rooms)] -= tokens
        else:
            rooms.append(row_length - tokens)
    return rooms


def fullest(open_rows, rooms):
    return min(open_rows, key=lambda i: rooms[i])


def first(open_rows, rooms):
    return open_rows[0]


def fewest_rows(lengths, row_length):
    """Brute force: branch and bound over all assignments."""
    best = len(lengths)
    items = sorted(lengths, reverse=True)

    def place(i, rooms):
        nonlocal best
        if len(rooms) >= best:
            return
        if i == len(items):
            best = len(rooms)
            return
        for room in sorted(set(rooms)):
            if room >= items[i]:
                others = list(rooms)
                others[others.index(room)] -= items[i]
                place(i + 1, others)
        place(i + 1, [*rooms, row_length - items[i]])

    place(0, [])
    return best


def rooms_of(found):
    used = np.bincount(found.row_of, weights=found.piece_lengths, minlength=found.row_count)
    return sorted((found.row_length - used).astype(int).tolist())


documents = st.lists(st.integers(1, ROW), min_size=1, max_size=80)


@given(documents)
@settings(max_examples=300, deadline=None)
def test_whole_blocks_move_as_single_documents_would(lengths):
    assert rooms_of(pack(lengths, ROW)) == sorted(textbook(lengths, ROW, fullest))
    by_first = pack(lengths, ROW, method="first_fit_decreasing")
    assert rooms_of(by_first) == sorted(textbook(lengths, ROW, first))


@given(documents, st.sampled_from(METHODS))
@settings(max_examples=200, deadline=None)
def test_every_document_lies_in_one_row_and_no_row_is_over_full(lengths, method):
    found = pack(lengths, ROW, method=method)
    assert sorted(np.concatenate(found.rows).tolist()) == list(range(len(lengths)))
    assert all(0 < sum(lengths[i] for i in row) <= ROW for row in found.rows)
    assert found.real_tokens == sum(lengths) and found.lower_bound <= found.row_count
    for number, row in enumerate(found.rows):
        assert (found.row_of[row] == number).all()


@given(st.lists(st.integers(1, 20), min_size=1, max_size=9))
@settings(max_examples=150, deadline=None)
def test_bounds_hold_against_the_best_of_all_packings(lengths):
    best = fewest_rows(lengths, 20)
    assert -(-sum(lengths) // 20) <= lower_bound(lengths, 20) <= best
    # Dosa 2007: FFD <= 11/9 OPT + 6/9, tight
    assert pack(lengths, 20, method="first_fit_decreasing").row_count <= 11 / 9 * best + 6 / 9


def test_one_row_over_capacity_by_one_would_be_seen():
    """The mistake beside the law: 4 + 3 does not fit into 6."""
    assert pack([4, 3], 6).row_count == 2
    assert pack([4, 3], 7).row_count == 1


def test_the_johnson_instance_needs_eleven_rows_where_nine_suffice():
    lengths = 6 * [510] + 6 * [270] + 6 * [260] + 12 * [230]
    for method in METHODS[:2]:
        found = pack(lengths, 1000, method=method)
        assert (found.row_count, found.lower_bound, found.is_optimal) == (11, 9, False)


def test_l2_proves_what_counting_tokens_cannot():
    found = pack(5 * [7], 10)
    assert (found.row_count, found.lower_bound) == (5, 5)
    assert -(-35 // 10) == 4, "tokens alone would allow four rows"


@pytest.mark.parametrize(
    ("lengths", "row_length", "fill"),
    [
        ([512, 480, 580, 580, 610, 610, 640, 4000], 4096, 0.978),
        ([900, 1200, 1000, 1100, 950, 1150, 1050, 8000], 8192, 0.9369),
    ],
)
def test_the_published_outliers_fit_into_two_rows(lengths, row_length, fill):
    found = pack(lengths, row_length)
    assert found.row_count == found.lower_bound == 2
    assert found.fill == pytest.approx(fill, abs=1e-4)


def test_policies_for_long_documents_are_told_never_silent():
    lengths = [5, 2, 3, 1]  # the doctest of TRL's bfd: truncate gives [4], [3, 1], [2]
    with pytest.raises(ValueError, match="document 0 has 5 tokens, a row has 4 slots"):
        pack(lengths, 4)
    cut = pack(lengths, 4, too_long="truncate")
    assert sorted(sorted(cut.piece_lengths[row].tolist()) for row in cut.rows) == [
        [1, 3], [2], [4]
    ]  # fmt: skip
    assert (cut.cut_tokens, cut.cut_documents) == (1, 1)
    split = pack(lengths, 4, too_long="split")
    assert sorted(sorted(split.piece_lengths[row].tolist()) for row in split.rows) == [
        [1, 2], [1, 3], [4]
    ]  # fmt: skip
    assert split.real_tokens == sum(lengths) and split.piece_starts.tolist() == [0, 4, 0, 0, 0]
    dropped = pack(lengths, 4, too_long="drop")
    assert (dropped.dropped, dropped.real_tokens, dropped.row_of[0]) == (1, 6, -1)


def test_the_figure_of_ding_takes_four_rows_either_way():
    lengths = [
        14,
        7,
        5,
        2,
        3,
    ]  # Ding et al. 2024, figure 1: best fit cuts one document, split three
    best = pack(lengths, 8, too_long="split")
    concatenated = pack(lengths, 8, method="split")
    assert best.row_count == concatenated.row_count == 4
    assert (best.cut_documents, concatenated.cut_documents) == (1, 3)


@given(documents, st.integers(1, 70))
@settings(max_examples=200, deadline=None)
def test_split_fills_every_row_but_the_last_and_loses_nothing(lengths, row_length):
    found = pack(lengths, row_length, method="split")
    used = np.bincount(found.row_of, weights=found.piece_lengths)
    assert (used[:-1] == row_length).all() and used.sum() == sum(lengths)
    for document, tokens in enumerate(lengths):
        mine = found.piece_documents == document
        starts, sizes = found.piece_starts[mine], found.piece_lengths[mine]
        assert starts.tolist() == [0, *np.cumsum(sizes)[:-1].tolist()] and sizes.sum() == tokens


def test_long_tailed_lengths_are_packed_to_the_proven_minimum():
    lengths = ln.lognormal(4096, median=500, sigma=1, longest=4096)
    found = pack(lengths, 4096)
    assert found.is_optimal and found.fill > 0.99


def test_mild_lengths_leave_less_than_a_per_cent_over_the_bound():
    """Few short documents: nothing small is left to fill the last gaps, and nothing is proven."""
    found = pack(ln.gsm8k(), 2048)
    assert not found.is_optimal
    assert found.lower_bound < found.row_count <= 1.01 * found.lower_bound


def test_long_rows_and_long_lengths_sort_right():
    lengths = np.random.default_rng(0).integers(1, 120_000, 3000)
    found = pack(lengths, 131_072)
    assert rooms_of(found) == sorted(textbook(lengths.tolist(), 131_072, fullest))


def test_shuffled_rows_keep_their_documents_and_follow_the_seed():
    found = pack(ln.gsm8k()[:500], 1024)
    once, again, other = (found.shuffled_rows(seed) for seed in (1, 1, 2))
    assert [r.tolist() for r in once] == [r.tolist() for r in again] != [r.tolist() for r in other]
    assert sorted(r.tolist() for r in once) == sorted(r.tolist() for r in found.rows)


def test_the_stream_loses_nothing_and_little_room():
    lengths = ln.lognormal(20_000, median=370, sigma=1, longest=2048)
    whole = pack(lengths, 2048).row_count
    rows = list(streaming.rows_of_stream(lengths.tolist(), 2048, buffer=2048))
    assert sorted(i for row in rows for i in row) == list(range(len(lengths)))
    assert max(sum(lengths[i] for i in row) for row in rows) <= 2048
    assert whole <= len(rows) <= 1.01 * whole
    assert len(rows) < pack(lengths, 2048, method="next_fit").row_count, "better than one open row"


def test_the_stream_never_holds_more_than_its_buffer():
    seen = 0

    def counted():
        nonlocal seen
        for tokens in ln.gsm8k()[:3000].tolist():
            seen += 1
            yield tokens

    out = 0
    for row in streaming.rows_of_stream(counted(), 1024, buffer=64):
        out += len(row)
        assert seen - out <= 64 + 64  # those held, and those of rows on their way out


def test_a_saved_packing_is_read_back_and_other_documents_are_refused(tmp_path):
    lengths = np.array([5, 2, 3, 1])
    for policy in ("truncate", "split", "drop"):
        found = pack(lengths, 4, too_long=policy)
        streaming.save(found, tmp_path / "pack.npz")
        back = streaming.load(tmp_path / "pack.npz", lengths=lengths)
        assert [r.tolist() for r in back.rows] == [r.tolist() for r in found.rows]
        assert (back.cut_tokens, back.dropped) == (found.cut_tokens, found.dropped)
        with pytest.raises(ValueError, match="other documents"):
            streaming.load(tmp_path / "pack.npz", lengths=np.array([5, 2, 2, 1]))
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 no more")
    with pytest.raises(ValueError, match="not a saved packing"):
        streaming.load(tmp_path / "torn.npz")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pack([], 4), "empty"),
        (lambda: pack([1], 0), "row_length must be a whole number of at least 1, got 0"),
        (lambda: pack([1, -2], 4), "got -2 at position 1"),
        (lambda: pack([1.5], 4), "integers"),
        (lambda: pack([1], 4, method="tetris"), "tetris"),
        (lambda: pack([1], 4, too_long="ignore"), "ignore"),
        (lambda: pack([9], 4, too_long="drop"), "every document"),
        (lambda: lower_bound([9], 4), "9 tokens, a row 4"),
        (lambda: list(streaming.rows_of_stream([3, 9], 4)), "document 1 has 9 tokens"),
    ],
)
def test_bad_input_gets_one_line_with_its_value(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_all_methods_and_policies_are_offered():
    assert set(METHODS) | {"split"} == set(packing.METHODS)
