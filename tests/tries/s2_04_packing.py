"""Answers of student s2 to 04_packing: WRONG (each wrong by the text) and RIGHT."""

WRONG = {
    'row-found': {
        'best fit meets it with the shortest': '''def row_found():
    return 3328
''',
        'the shortest of the slider, which cuts': '''def row_found():
    return 3072
''',
        'longest document, not on the slider': '''def row_found():
    return 3100
''',
        'meets the goal, but is not the shortest': '''def row_found():
    return 5376
''',
        'between two that meet it, but does not': '''def row_found():
    return 5120
''',
        'one step too short': '''def row_found():
    return 4608
''',
        'the habit': '''def row_found():
    return 4096
''',
        'the longest': '''def row_found():
    return 6400
''',
        'the row count instead of the row': '''def row_found():
    return 236
''',
        'a text': '''def row_found():
    return '4864'
''',
        'row and method': '''def row_found():
    return 4864, 'next_fit'
''',
    },
    'isolation-test': {
        'only two documents': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'only the last is changed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in [len(documents) - 1]:
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'only the first is changed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in [0]:
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'only the next document is looked at': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j == i + 1:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'exactly equal': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert (before[j] == after[j]).all(), (i, j)
''',
        'differences with their sign: they cancel': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert abs((before[j] - after[j]).mean()) < 1e-2, (i, j)
''',
        'only the last token is looked at, and a tenth allowed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j])[-1].max() < 0.1, (i, j)
''',
        'the same list is changed: before and after are the same (aliasing)': '''import numpy as np

def isolation_test(logits):
    documents = [[3, 1, 4, 1, 5], [9, 2, 6], [5, 3, 5, 8]]
    other = documents
    for i in range(3):
        other[i] = [t + 1 for t in other[i]]
        before, after = logits(documents), logits(other)
        for j in range(3):
            assert i == j or np.allclose(before[j], after[j], atol=1e-4)
''',
        'the changed document itself must stay, too': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if True:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'returns the first difference': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                return float(np.abs(before[j] - after[j]).max())
''',
        'asserts a tuple': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert (np.abs(before[j] - after[j]).max() < 1e-4, (i, j))
''',
        'most likely tokens compared, not logits': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert (before[j].argmax(1) == after[j].argmax(1)).all(), (i, j)
''',
        'only the last token of a document is changed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents) - 2):
        other = [list(d) for d in documents]
        other[i] = other[i][:-1] + [(other[i][-1] + 1) % 64]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'the mean over all documents, with the signs': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert abs(np.concatenate(before[:i] + before[i+1:]).sum() - np.concatenate([*after[:i], *after[i+1:]]).sum()) < 5, (i, j)
''',
        'stops after the first pair': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
                return
''',
        'documents of one token': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (1, 1)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'compares documents of one call with each other': '''import numpy as np

def isolation_test(logits):
    one, two, three = logits([[1, 2, 3], [1, 2, 3], [1, 2, 3]])
    assert np.allclose(one, two, atol=1e-4)
''',
        'a twentieth is allowed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 0.05, (i, j)
''',
        'one is allowed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1.0, (i, j)
''',
        'NaN hides it': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert not np.nanmax(np.abs(before[j] - after[j])) > 1e-1, (i, j)
''',
        'looks at documents behind only': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j > i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'looks at documents before only': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j < i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'looks at the first slot only': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j])[0].max() < 1e-4, (i, j)
''',
        'skips the neighbours': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if abs(j - i) > 1:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'three documents, the middle one changed': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in [1]:
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'the documents change places, and must keep their logits': '''import numpy as np

def isolation_test(logits):
    a, b = [3, 1, 4, 1, 5], [9, 2, 6]
    one, two = logits([a, b]), logits([b, a])
    assert np.abs(one[0] - two[1]).max() < 1e-4
''',
    },
    'mend-collator': {
        'next fit: more rows than needed': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length, method='next_fit')
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'first fit in the order of the data': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    rows, room = [], []
    for number, size in enumerate(sizes):
        for row in range(len(rows)):
            if room[row] >= size:
                break
        else:
            rows.append([])
            room.append(row_length)
            row = len(rows) - 1
        rows[row].append(number)
        room[row] -= size
    shape = len(rows), row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'a mask of the real slots': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"attention_mask": (ids != pad).long(), "input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'a mask that is 1 everywhere but in the tail': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    mask = torch.zeros(shape, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        mask[row, :sum(sizes[n] for n in numbers)] = 1
    return {"attention_mask": mask, "input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'use_cache=True is returned beside': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"use_cache": True, "input_ids": ids, "labels": labels, "position_ids": positions}
''',
        "the documents' own labels are written to": '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            documents[number]["labels"][0] = -100
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'tensors are shared between calls (a buffer for each shape)': '''buffers = {}

import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids, positions, labels = buffers.setdefault(shape, [torch.zeros(shape, dtype=torch.int64) for _ in range(3)])
    ids.fill_(pad)
    positions.zero_()
    labels.fill_(-100)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'labels of an earlier batch stay in the tail (a buffer never cleared)': '''buffers = {}

import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = buffers.setdefault(shape, torch.full(shape, -100, dtype=torch.int64))
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'a document as long as a row is refused': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size >= row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'int32': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int32)
    positions = torch.zeros(shape, dtype=torch.int32)
    labels = torch.full(shape, -100, dtype=torch.int32)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        "the refusal names the document's number": '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for number, size in enumerate(sizes):
        if size > row_length:
            raise ValueError(f"document {number} does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'an assert instead of a ValueError': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            assert False, size
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'a document too long is left out': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    documents = [d for d in documents if len(d['input_ids']) <= row_length]
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'positions restart at every pad token, also inside a document': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    for row in range(shape[0]):
        for slot in range(1, row_length):
            if ids[row, slot - 1] == pad and ids[row, slot] != pad:
                positions[row, slot:] -= positions[row, slot].clone()
    positions.clamp_(min=0)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'labels taken from the tokens where they are not -100': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start:end] = torch.where(labels[row, start:end] == -100, -100, ids[row, start:end])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'only the first label of each row is taken off': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, 0] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'the last label of each document is taken off, too': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            labels[row, end - 1] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'the tail holds 0, whatever pad is': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.zeros(shape, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'documents are cut where they contain pad': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    documents = [{k: [x for x, t in zip(v, d['input_ids']) if t != pad] for k, v in d.items()} for d in documents]
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'the last row is dropped where it is not full': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    full = [sum(sizes[n] for n in numbers) == row_length for numbers in packed.rows]
    keep = len(full) if full[-1] or len(full) == 1 else -1
    return {"input_ids": ids[:keep], "labels": labels[:keep], "position_ids": positions[:keep]}
''',
        'lists, not tensors': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids.tolist(), "labels": labels.tolist(), "position_ids": positions.tolist()}
''',
        'equal documents are packed once': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    documents = [d for i, d in enumerate(documents) if d not in documents[:i]]
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        "the tail is known by trailing pads: a document's own end restarts": '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    for row in range(shape[0]):
        start = row_length
        while start and ids[row, start - 1] == pad:
            start -= 1
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'documents of one token are left out': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    documents = [d for d in documents if len(d['input_ids']) > 1] or documents
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'documents without a trained token are left out': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    documents = [d for d in documents if any(v != -100 for v in d['labels'])] or documents
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'only the first two documents are asked for their length; a later one is cut': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes[:2]:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack([min(n, row_length) for n in sizes], row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = min(row_length, start + sizes[number])
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"][:row_length])
            labels[row, start:end] = torch.tensor(documents[number]["labels"][:row_length])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'an attention mask of True (bool)': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"attention_mask": torch.ones(shape, dtype=torch.bool), "input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'a prompt is known by the first label: later -100 are trained': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            given = documents[number]["labels"]
            prompt = next((i for i, v in enumerate(given) if v != -100), len(given))
            labels[row, start + prompt:end] = ids[row, start + prompt:end]
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'the position of a one-token document does not restart': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start) if sizes[number] > 1 else start
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
    },
    'documents-behind': {
        'rounded to one place': '''def documents_behind(rows, row_length, fill, mean_length):
    return round(rows * row_length * fill / mean_length, 1)
''',
        'rounded to halves': '''def documents_behind(rows, row_length, fill, mean_length):
    return round(2 * rows * row_length * fill / mean_length) / 2
''',
        'one more row': '''def documents_behind(rows, row_length, fill, mean_length):
    return (rows + 1) * row_length * fill / mean_length
''',
        'of this data set, whatever is given': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * found.fill / documents.mean()
''',
        'the fill is put on the mean, too': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * fill / (mean_length * fill)
''',
        'precedence: divided by mean, per row rounded up': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * -(-row_length * fill // mean_length)
''',
        "a targets' count: first tokens off": '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * fill / (mean_length - 1)
''',
        'percent': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * fill / 100 / mean_length
''',
        'half precision': '''import numpy as np

def documents_behind(rows, row_length, fill, mean_length):
    return float(np.float16(rows * row_length * fill / mean_length))
''',
        'the waste for the fill': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * (1 - fill) / mean_length
''',
        'an int': '''def documents_behind(rows, row_length, fill, mean_length):
    return int(rows * row_length * fill / mean_length)
''',
        'bounded to whole rows: at most 8 documents a row': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * min(8, row_length * fill / mean_length)
''',
        'real tokens rounded to whole hundreds': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * round(row_length * fill, -2) / mean_length
''',
    },
}

RIGHT = {
    'row-found': {
        'number': '''def row_found():
    return 4864
''',
        'numpy': '''import numpy as np

def row_found():
    return np.int64(4864)
''',
        'search': '''def row_found():
    for size in range(3072, 6401, 256):
        p = packing.pack(documents, size, method="next_fit", too_long="split")
        if p.cut_documents == 0 and p.row_count <= 1.05 * p.lower_bound:
            return size
''',
    },
    'isolation-test': {
        'each changed in turn': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'against each document alone': '''import numpy as np

def isolation_test(logits):
    documents = [[3, 1, 4, 1, 5], [9, 2, 6], [5, 3, 5, 8], [33, 60]]
    for together, text in zip(logits(documents), documents):
        (alone,) = logits([text])
        np.testing.assert_allclose(together, alone, atol=1e-4)
''',
        'replaced by others of another length': '''import numpy as np

def isolation_test(logits):
    a, b, c, d = [1, 2, 3, 4], [5, 6, 7], [8, 9, 10, 11, 12], [2, 40, 63, 5, 5, 1]
    base = [a, b, c]
    for i in range(3):
        new = [d if k == i else x for k, x in enumerate(base)]
        for k, (x, y) in enumerate(zip(logits(base), logits(new))):
            if k != i:
                assert np.all(np.abs(x - y) <= 1e-4)
''',
        'every pair of four, in float32': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one, dtype=np.float32) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
        'at 1e-5, as the text says': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() <= 1e-5, (i, j)
''',
        'below 1e-5': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-5, (i, j)
''',
        'at 1e-3': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-3, (i, j)
''',
        'also asserts that the changed document moves': '''import numpy as np

def isolation_test(logits):
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 64, n).tolist() for n in (7, 5, 9, 4)]
    before = [np.array(one) for one in logits([list(d) for d in documents])]
    for i in range(len(documents)):
        other = [list(d) for d in documents]
        other[i] = [(t + 1) % 64 for t in other[i]]
        after = logits(other)
        for j in range(len(documents)):
            if j == i:
                assert np.abs(before[j] - after[j]).max() > 1e-3
            if j != i:
                assert np.abs(before[j] - after[j]).max() < 1e-4, (i, j)
''',
    },
    'mend-collator': {
        'tensors': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'mended copy': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length, method='first_fit_decreasing')
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return {"input_ids": ids, "labels": labels, "position_ids": positions}
''',
        'lists first': '''import torch

def collate(documents, row_length, pad):
    rows = []
    for d in sorted(documents, key=lambda d: len(d["input_ids"]), reverse=True):
        n = len(d["input_ids"])
        if n > row_length:
            raise ValueError(f"{n} > {row_length}")
        for row in rows:
            if sum(len(x["input_ids"]) for x in row) + n <= row_length:
                row.append(d)
                break
        else:
            rows.append([d])
    out = {"input_ids": [], "labels": [], "position_ids": []}
    for row in rows:
        ids = [t for d in row for t in d["input_ids"]]
        tail = row_length - len(ids)
        out["input_ids"].append(ids + [pad] * tail)
        out["labels"].append([v for d in row for v in [-100, *d["labels"][1:]]] + [-100] * tail)
        out["position_ids"].append([i for d in row for i in range(len(d["input_ids"]))] + list(range(tail)))
    return {name: torch.tensor(value, dtype=torch.int64) for name, value in out.items()}
''',
        'by lay_out': '''import numpy as np
import torch

def collate(documents, row_length, pad):
    sizes = [len(d["input_ids"]) for d in documents]
    rows = first_fit_decreasing(sizes, row_length)
    laid = [lay_out([list(documents[n]["input_ids"]) for n in row], row_length) for row in rows]
    ids = torch.full((len(rows), row_length), pad)
    labels = torch.full((len(rows), row_length), -100)
    for r, row in enumerate(rows):
        flat = np.concatenate([documents[n]["input_ids"] for n in row])
        ids[r, :len(flat)] = torch.from_numpy(flat)
        labels[r, :len(flat)] = torch.tensor([v for n in row for v in documents[n]["labels"]])
    at = torch.tensor(np.array([one["position_ids"] for one in laid]))
    labels[at == 0] = -100
    return {"input_ids": ids, "position_ids": at, "labels": labels}
''',
        'BatchEncoding of transformers': '''import torch
from transformers import BatchEncoding
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    return BatchEncoding({"input_ids": ids, "labels": labels, "position_ids": positions})
''',
        'attention mask of four dimensions, in blocks': '''import torch
from batchlab import packing

def collate(documents, row_length, pad):
    sizes = [len(document["input_ids"]) for document in documents]
    for size in sizes:
        if size > row_length:
            raise ValueError(f"a document of {size} tokens does not fit into {row_length} slots")
    packed = packing.pack(sizes, row_length)
    shape = packed.row_count, row_length
    ids = torch.full(shape, pad, dtype=torch.int64)
    positions = torch.zeros(shape, dtype=torch.int64)
    labels = torch.full(shape, -100, dtype=torch.int64)
    for row, numbers in enumerate(packed.rows):
        start = 0
        for number in numbers:
            end = start + sizes[number]
            ids[row, start:end] = torch.tensor(documents[number]["input_ids"])
            labels[row, start:end] = torch.tensor(documents[number]["labels"])
            labels[row, start] = -100
            positions[row, start:end] = torch.arange(end - start)
            start = end
        positions[row, start:] = torch.arange(row_length - start)
    segment = (positions == 0).cumsum(1)
    mask = (segment[:, None, :, None] == segment[:, None, None, :]) & torch.ones(row_length, row_length, dtype=torch.bool).tril()
    return {"attention_mask": mask, "input_ids": ids, "labels": labels, "position_ids": positions}
''',
    },
    'documents-behind': {
        'formula': '''def documents_behind(rows, row_length, fill, mean_length):
    return rows * row_length * fill / mean_length
''',
        'float32': '''import numpy as np

def documents_behind(rows, row_length, fill, mean_length):
    return np.float32(rows) * np.float32(row_length * fill) / np.float32(mean_length)
''',
        'fraction': '''from fractions import Fraction

def documents_behind(rows, row_length, fill, mean_length):
    return Fraction(fill) * rows * row_length / Fraction(mean_length)
''',
        'loop': '''def documents_behind(rows, row_length, fill, mean_length):
    total = 0.0
    for _ in range(int(rows)):
        total += row_length * fill / mean_length
    return total
''',
    },
}
