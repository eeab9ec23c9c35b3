"""Shards packed on their own: nothing lost, nothing crosses, and what it costs in rows."""

import numpy as np
import pytest

from batchlab import data, packing, records
from batchlab.counts import IGNORE
from benchmarks import packing_shards


def made(sizes, labels=False):
    from datasets import Dataset

    ids = [[100 + number] + [number] * (size - 1) for number, size in enumerate(sizes)]
    columns = {"input_ids": ids, "note": ["x"] * len(ids)}
    if labels:
        columns["labels"] = [[IGNORE] * (len(one) // 2) + one[len(one) // 2 :] for one in ids]
    return Dataset.from_dict(columns)


def documents_of(row):
    """The documents of a packed row, cut where positions begin anew."""
    starts = [at for at, place in enumerate(row["position_ids"]) if place == 0]
    return [
        (row["input_ids"][begin:end], row["labels"][begin:end])
        for begin, end in zip(starts, [*starts[1:], None], strict=True)
    ]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_every_document_lies_whole_in_one_row_with_others_of_its_shard(num_proc):
    sizes = np.random.default_rng(0).integers(1, 40, 60)
    rows = data.packed(made(sizes, labels=True), 64, shard=10, num_proc=num_proc)
    assert rows.column_names == ["input_ids", "labels", "position_ids"]
    assert max(len(row["input_ids"]) for row in rows) <= 64
    given, seen = made(sizes, labels=True), []
    for row in rows:
        found = documents_of(row)
        numbers = [ids[0] - 100 for ids, _ in found]
        assert len({number // 10 for number in numbers}) == 1, "nothing crosses a shard"
        for number, (ids, labels) in zip(numbers, found, strict=True):
            assert ids == given[number]["input_ids"]
            assert labels == [IGNORE, *given[number]["labels"][1:]]
        seen += numbers
    assert sorted(seen) == list(range(60))
    shards = [packing.pack(part, 64).row_count for part in np.split(sizes, 6)]
    assert len(rows) == sum(shards)


def test_nodes_pack_their_own_part_of_a_data_set():
    from datasets.distributed import split_dataset_by_node

    sizes = np.random.default_rng(1).integers(1, 40, 60)
    nodes = [split_dataset_by_node(made(sizes), rank=rank, world_size=2) for rank in (0, 1)]
    rows = [row for one in nodes for row in data.packed(one, 64)]
    seen = [ids[0] - 100 for row in rows for ids, _ in documents_of(row)]
    assert sorted(seen) == list(range(60))


def test_what_cannot_be_packed_is_named():
    longer = made([5, 70, 3])
    with pytest.raises(ValueError, match="document 1 has 70 tokens, a row has 64: split such"):
        data.packed(longer, 64, shard=1)
    rows = data.packed(longer, 64, drop_longer=True)
    assert [ids[0] - 100 for row in rows for ids, _ in documents_of(row)] == [0, 2]
    with pytest.raises(ValueError, match=r"a column input_ids is needed, got list with no colu"):
        data.packed([[1, 2]], 64)


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
