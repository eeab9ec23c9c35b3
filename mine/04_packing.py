"""Yours, from lesson 04_packing: the keep cell of that lesson writes this file."""

import batchlab.packing as packing


def first_fit_decreasing(lengths, row_length):
    """Rows as lists of document numbers: longest first, each into the first row with room."""
    ### BEGIN SOLUTION
    rows, room = [], []
    for number in sorted(range(len(lengths)), key=lambda i: -int(lengths[i])):
        length = int(lengths[number])
        if length > row_length:
            raise ValueError(f"a document of {length} tokens, a row of {row_length} slots")
        for row, left in enumerate(room):
            if left >= length:
                break
        else:
            row = len(rows)
            rows.append([])
            room.append(row_length)
        rows[row].append(number)
        room[row] -= length
    return rows


def collate(documents, row_length, pad):
    """Rows of packed documents: input_ids, labels and position_ids, (rows, row_length) int64."""
    ### BEGIN SOLUTION
    import torch

    packed = packing.pack([len(one["input_ids"]) for one in documents], row_length)
    shape = packed.row_count, row_length
    batch = {
        "input_ids": torch.full(shape, pad),
        "labels": torch.full(shape, -100),
        "position_ids": torch.zeros(shape, dtype=torch.int64),
    }
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            ids = torch.as_tensor(documents[number]["input_ids"])
            end = start + len(ids)
            batch["input_ids"][row, start:end] = ids
            batch["position_ids"][row, start:end] = torch.arange(len(ids))
            batch["labels"][row, start:end] = torch.as_tensor(documents[number]["labels"])
            batch["labels"][row, start] = -100  # else the document before would predict it
            start = end
        batch["position_ids"][row, start:] = torch.arange(row_length - start)
    return batch
