"""`packing.pack_dataset`: nothing lost, nothing crosses a shard, and what that costs in rows."""

import numpy as np
import pyarrow as pa
import pytest

from batchlab import lengths, packing, records
from batchlab.counts import IGNORE
from batchlab.packing import _dataset, _lists, pack_dataset, pack_table
from benchmarks import packing_shards

datasets = pytest.importorskip("datasets")


def made(sizes, labels=False):
    ids = [[100 + number] + [number] * (size - 1) for number, size in enumerate(sizes)]
    columns = {"input_ids": ids, "note": ["x"] * len(ids)}
    if labels:
        columns["labels"] = [[IGNORE] * (len(one) // 2) + one[len(one) // 2 :] for one in ids]
    return datasets.Dataset.from_dict(columns)


def documents_of(row):
    """The documents of a packed row, by their lengths."""
    ends = np.cumsum(row["seq_lengths"]).tolist()
    assert ends[-1] == len(row["input_ids"])
    return [
        tuple(row[name][begin:end] for name in ("input_ids", "labels") if name in row)
        for begin, end in zip([0, *ends[:-1]], ends, strict=True)
    ]


def numbers(rows):
    return [found[0][0] - 100 for row in rows for found in documents_of(row)]


def test_a_case_by_hand():
    three = datasets.Dataset.from_dict({"input_ids": [[1, 2, 3], [4, 5], [6, 7, 8, 9]]})
    assert pack_dataset(three, 6).to_list() == [
        {"input_ids": [4, 5, 6, 7, 8, 9], "seq_lengths": [2, 4]},
        {"input_ids": [1, 2, 3], "seq_lengths": [3]},
    ]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_every_document_lies_whole_in_one_row_with_others_of_its_shard(num_proc):
    sizes = np.random.default_rng(0).integers(1, 40, 60)
    given = made(sizes, labels=True)
    rows = pack_dataset(given, 64, shard=10, num_proc=num_proc)
    assert rows.column_names == ["input_ids", "labels", "seq_lengths"]
    seen = []
    for row in rows:
        assert sum(row["seq_lengths"]) <= 64
        found = documents_of(row)
        inside = [ids[0] - 100 for ids, _ in found]
        assert len({number // 10 for number in inside}) == 1, "nothing crosses a shard"
        for number, (ids, labels) in zip(inside, found, strict=True):
            assert ids == given[number]["input_ids"]
            assert labels == [IGNORE, *given[number]["labels"][1:]]
        seen += inside
    assert sorted(seen) == list(range(60))
    shards = [packing.pack(part, 64).row_count for part in np.split(sizes, 6)]
    assert len(rows) == sum(shards)


@pytest.mark.parametrize("method", packing.METHODS)
@pytest.mark.parametrize("policy", ["truncate", "split", "drop"])
def test_rows_are_those_of_pack_for_every_method_and_policy(method, policy):
    sizes = np.random.default_rng(1).integers(1, 90, 50)
    given = made(sizes)["input_ids"]
    packed = packing.pack(sizes, 64, method=method, too_long=policy)
    documents, starts = packed.piece_documents, packed.piece_starts
    wanted = []
    for row in packed.rows:
        ids, ends = [], []
        for piece in row.tolist():
            number = piece if documents is None else documents[piece]
            begin = 0 if starts is None else starts[piece]
            ids += given[number][begin : begin + packed.piece_lengths[piece]]
            ends.append(int(packed.piece_lengths[piece]))
        wanted.append({"input_ids": ids, "seq_lengths": ends})
    assert pack_dataset(made(sizes), 64, method=method, too_long=policy).to_list() == wanted


def test_what_is_sliced_chosen_or_large_is_packed_alike(monkeypatch):
    """Views of a table, tables of several chunks, lists with wide ends, and more than one fits."""
    sizes = np.random.default_rng(2).integers(1, 40, 80)
    whole = made(sizes)
    parts = datasets.concatenate_datasets([whole.select(range(30)), whole.select(range(30, 80))])
    assert pack_dataset(parts, 64).to_list() == pack_dataset(whole, 64).to_list()
    chosen = whole.shuffle(seed=0).select(range(5, 60))
    assert sorted(numbers(pack_dataset(chosen, 64, shard=7))) == sorted(
        ids[0] - 100 for ids in chosen["input_ids"]
    )
    wide = whole.cast_column("input_ids", datasets.LargeList(datasets.Value("int32")))
    assert pack_dataset(wide, 64).to_list() == pack_dataset(whole, 64).to_list()
    blocks = datasets.Dataset.from_dict(
        {"input_ids": [[1, 2], [3, 4], [5, 6]]},
        features=datasets.Features({"input_ids": datasets.List(datasets.Value("int16"), length=2)}),
    )
    assert pack_dataset(blocks, 4)["input_ids"] == [[1, 2, 3, 4], [5, 6]]
    monkeypatch.setattr(_dataset, "MOST_TOKENS", 100)
    rows = pack_dataset(whole, 64, load_from_cache_file=False)
    assert sorted(numbers(rows)) == list(range(80))


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64()])
def test_pieces_are_copied_from_where_they_lie(kind, monkeypatch):
    """Chunks stay apart, a long buffer has parts, a short piece lies in its view: the same rows."""
    lists = [list(range(size)) for size in np.random.default_rng(5).integers(1, 10, 80)]
    whole = pa.table({"input_ids": pa.array(lists, pa.list_(kind))})
    wanted = pack_table(whole, 7, too_long="split")
    assert wanted["seq_lengths"].combine_chunks().flatten().to_pylist().count(1) > 9
    monkeypatch.setattr(_lists, "FEW", 0)
    monkeypatch.setattr(_lists, "REACH", 4)
    chunks = pa.concat_tables([whole.slice(0, 30), whole.slice(30, 0), whole.slice(30)])
    assert pack_table(chunks, 7, too_long="split").equals(wanted)


def test_nodes_pack_their_own_part_and_every_process_makes_the_same_rows():
    from datasets.distributed import split_dataset_by_node

    sizes = np.random.default_rng(1).integers(1, 40, 60)
    nodes = [split_dataset_by_node(made(sizes), rank=rank, world_size=2) for rank in (0, 1)]
    assert sorted(numbers(row for one in nodes for row in pack_dataset(one, 64))) == list(range(60))
    once, again = (
        pack_dataset(made(sizes), 64, shard=8, load_from_cache_file=False) for _ in range(2)
    )
    assert once.to_list() == again.to_list()


def test_a_stream_that_knows_no_columns_is_packed():
    """As `IterableDataset.map` leaves one."""
    stream = made([3, 4, 1]).to_iterable_dataset().map(lambda row: {"input_ids": row["input_ids"]})
    assert stream.column_names is None
    assert sorted(numbers(pack_dataset(stream, 4))) == [0, 1, 2]


def test_a_stream_is_packed_and_resumed_in_the_middle_of_a_shard():
    sizes = np.random.default_rng(3).integers(1, 40, 100)

    def stream():
        return pack_dataset(made(sizes).to_iterable_dataset(num_shards=3), 64, shard=20)

    whole = list(stream())
    assert sorted(numbers(whole)) == list(range(100))
    for stop in (1, 9):
        first = stream()
        rows = iter(first)
        seen = [next(rows) for _ in range(stop)]
        second = stream()
        second.load_state_dict(first.state_dict())
        assert seen + list(second) == whole, stop
    with pytest.raises(ValueError, match="document 1 of a shard has 70 tokens"):
        next(iter(pack_dataset(made([5, 70]).to_iterable_dataset(), 64)))


def test_other_columns_are_packed_where_they_are_named():
    columns = {"input_ids": [[1, 2], [3], [4, 5, 6]], "part": [[0.5, 1], [2], [3, 4, 5]]}
    found = pack_dataset(datasets.Dataset.from_dict(columns), 4, columns=("input_ids", "part"))
    assert found["part"] == [[2, 3, 4, 5], [0.5, 1]]
    trl = datasets.Dataset.from_dict({"input_ids": [[1, 2]], "completion_mask": [[False, True]]})
    with pytest.raises(ValueError, match="completion_mask says which tokens are trained"):
        pack_dataset(trl, 4)
    found = pack_dataset(trl, 4, columns=("input_ids", "completion_mask"))
    assert found["completion_mask"] == [[0, 1]]


def test_what_cannot_be_packed_is_named():
    longer = made([5, 70, 3])
    with pytest.raises(ValueError, match="document 1 has 70 tokens, a row has 64; choose too_long"):
        pack_dataset(longer, 64, shard=1)
    assert numbers(pack_dataset(longer, 64, too_long="drop")) == [0, 2]
    nothing = pack_dataset(longer.select([1]), 64, too_long="drop")
    assert len(nothing) == 0
    fits = made([1, 3, 4])
    assert sorted(map(len, pack_dataset(fits, 4)["input_ids"])) == [4, 4]
    with pytest.raises(
        ValueError, match=r"a column input_ids are needed, as .*, got list with no columns"
    ):
        pack_dataset([[1, 2]], 64)
    with pytest.raises(ValueError, match="these rows have seq_lengths: they are packed already"):
        pack_dataset(pack_dataset(fits, 4), 4)
    bad = {
        "document 2 has no tokens": {"input_ids": [[1], [2], []]},
        "document 1 has 2 tokens but 1 labels": {"input_ids": [[1], [2, 3]], "labels": [[1], [2]]},
        "some documents are padded": {
            "input_ids": [[1, 0], [2, 3]], "attention_mask": [[1, 0], [1, 1]]},
        "input_ids has nulls": {"input_ids": [[1], None]},
        "input_ids must hold a list of numbers a document": {"input_ids": [["a"], ["b"]]},
    }  # fmt: skip
    splits = datasets.DatasetDict({"train": fits})
    with pytest.raises(ValueError, match="one data set is packed at a time, got DatasetDict of tr"):
        pack_dataset(splits, 4)
    with pytest.raises(
        ValueError, match=r"a list of names, got 'input_ids': write \['input_ids'\]"
    ):
        pack_dataset(fits, 4, columns="input_ids")
    with pytest.raises(ValueError, match="no column label to pack; there are input_ids, note, lab"):
        pack_dataset(made([1, 2], labels=True), 4, columns=("input_ids", "label"))
    with pytest.raises(ValueError, match="are named by shard, not batch_size"):
        pack_dataset(fits, 4, batch_size=100)
    labels = pa.array([[1]], pa.list_(pa.uint32()))
    with pytest.raises(ValueError, match="labels must be able to hold -100"):
        pack_table(pa.table({"input_ids": [[1]], "labels": labels}), 4)
    for said, columns in bad.items():
        with pytest.raises(ValueError, match=said):
            pack_dataset(datasets.Dataset.from_dict(columns), 4)


def test_a_table_is_packed_as_a_shard_by_whatever_hands_it_over():
    table = made([3, 4, 1], labels=True).with_format("arrow")[:]
    found = pack_table(table, 4)
    assert sorted(map(sorted, found["seq_lengths"].to_pylist())) == [[1, 3], [4]]
    assert found.to_pydict() == pack_dataset(made([3, 4, 1], labels=True), 4)[:]
    assert pack_table(table.slice(0, 0), 4).schema == found.schema, "a block may be empty"
    with pytest.raises(ValueError, match="document 1 of a shard has 4 tokens, a row has 3"):
        pack_table(table, 3)
    with pytest.raises(ValueError, match="got dict with no columns"):
        pack_table({"input_ids": [[1]]}, 4)
    tensors = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int64(), [1]),
                                             pa.array([[1]], pa.list_(pa.int64(), 1)))  # fmt: skip
    for kind in (tensors, pa.array([1])):  # Ray makes the former of arrays
        with pytest.raises(ValueError, match="input_ids must hold a list of numbers a document"):
            pack_table(pa.table({"input_ids": kind}), 4)


def test_lengths_are_read_from_tables():
    sizes = np.random.default_rng(4).integers(1, 40, 50)
    data = made(sizes)
    assert lengths.of_dataset(data).tolist() == sizes.tolist()
    chosen = [7, 3, 3, 40]
    assert lengths.of_dataset(data.select(chosen)).tolist() == sizes[chosen].tolist()
    with pytest.raises(ValueError, match="with a column input_ids is needed"):
        lengths.of_dataset([[1, 2]])


def test_the_record_says_what_shards_cost_and_is_made_anew():
    lines = records.read("packing_shards")
    drawn = packing_shards.lengths()
    assert {line["lengths"] for line in lines} == drawn.keys() and len(lines) == 5 * len(drawn)
    for line in lines:
        if line["shard_documents"] in (8192, line["documents"]):
            rows = packing_shards.in_shards(drawn[line["lengths"]], line["shard_documents"])
            assert rows == line["rows"]
        most = {64: 0.1, 1024: 0.02}.get(line["shard_documents"], 0.01)
        assert 0 <= line["more_rows"] < most, line


def test_the_record_of_packing_a_data_set_is_beside_a_copy_and_trl():
    lines = records.read("packing_datasets")
    assert {line["documents"] for line in lines} == {10**6}
    for line in lines:
        assert line["rows"] <= line["trl_rows"], "shards of 16,384 are fuller than those of 1,000"
        assert line["pack_seconds"] < line["trl_seconds"] / 5
