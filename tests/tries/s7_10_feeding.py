WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- input-share
H = "def input_share(seen, warmup):\n"
RIGHT["input-share"] = {
 "loop": H + '''    waited = total = 0.0
    for number, (wait, step, _) in enumerate(seen):
        if number >= warmup:
            waited += wait
            total += wait + step
    return waited / total
''',
 "numpy": H + '''    table = np.array(seen[warmup:], dtype=float)
    wait, step, _ = table.sum(axis=0)
    return wait / (wait + step)
''',
 "torch float64 tensor": H + '''    table = torch.tensor(seen, dtype=torch.float64)[warmup:]
    return (table[:, 0].sum() / table[:, :2].sum()).item()
''',
 "torch 0-d tensor returned": H + '''    table = torch.tensor(seen, dtype=torch.float64)[warmup:]
    return table[:, 0].sum() / table[:, :2].sum()
''',
}
WRONG["input-share"] = {
 "building counted as loop time": H + '''    kept = seen[warmup:]
    return sum(w for w, _, _ in kept) / sum(w + s + b for w, s, b in kept)
''',
 "mean of the shares of the steps": H + '''    kept = seen[warmup:]
    return sum(w / (w + s) for w, s, _ in kept) / len(kept)
''',
 "waited / stepped": H + '''    kept = seen[warmup:]
    return sum(w for w, _, _ in kept) / sum(s for _, s, _ in kept)
''',
 "warm-up not left out": H + '''    return sum(w for w, _, _ in seen) / sum(w + s for w, s, _ in seen)
''',
 "one step too many left out": H + '''    kept = seen[warmup + 1:]
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
''',
 "warm-up left out of the numerator only": H + '''    return sum(w for w, _, _ in seen[warmup:]) / sum(w + s for w, s, _ in seen)
''',
 "built taken for waited": H + '''    kept = seen[warmup:]
    return sum(b for _, _, b in kept) / sum(b + s for _, s, b in kept)
''',
 "warmup 0 becomes 1 (warmup or 1)": H + '''    kept = seen[(warmup or 1):]
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
''',
 "last steps left out, not the first": H + '''    kept = seen[:len(seen) - warmup]
    return sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
''',
 "warm-up read as seconds": H + '''    begin, kept = 0.0, []
    for w, s, b in seen:
        if begin >= warmup:
            kept.append((w, s))
        begin += w + s
    return sum(w for w, _ in kept) / sum(w + s for w, s in kept)
''',
 "stepped first: columns swapped": H + '''    kept = seen[warmup:]
    return sum(w for _, w, _ in kept) / sum(w + s for w, s, _ in kept)
''',
 "in percent": H + '''    kept = seen[warmup:]
    return 100 * sum(w for w, _, _ in kept) / sum(w + s for w, s, _ in kept)
''',
}

# ---------------------------------------------------------------- loop-seconds
H = "def loop_seconds(build, take, step, workers):\n"
RIGHT["loop-seconds"] = {
 "if and max": H + '''    if workers == 0:
        return build + step
    return max(take + step, build / workers)
''',
 "numpy": H + '''    return float(np.maximum(take + step, build / workers)) if workers else build + step
''',
 "simulated rate: comparing paces": H + '''    if not workers:
        return build + step
    made, used = workers / build, 1 / (take + step)
    return 1 / min(made, used)
''',
}
WRONG["loop-seconds"] = {
 "0 workers not treated (as one worker)": H + '''    return max(take + step, build / max(workers, 1))
''',
 "take left out": H + '''    return max(step, build / workers) if workers else build + step
''',
 "one after the other": H + '''    return build / workers + take + step if workers else build + step
''',
 "take on the workers' side": H + '''    return max(build / workers + take, step) if workers else build + step
''',
 "0 workers take over too": H + '''    return max(build / workers, take + step) if workers else build + take + step
''',
 "max of three": H + '''    return max(build / workers, take, step) if workers else build + step
''',
 "the loop builds as well": H + '''    return max(build / (workers + 1), take + step) if workers else build + step
''',
 "taking is shared by workers": H + '''    return max((build + take) / workers, step) if workers else build + step
''',
 "the faster side": H + '''    return min(build / workers, take + step) if workers else build + step
''',
 "one worker counts as none": H + '''    return max(build / workers, take + step) if workers > 1 else build + step
''',
 "workers capped at this machine's cores": H + '''    import os
    if not workers:
        return build + step
    return max(build / min(workers, os.cpu_count()), take + step)
''',
 "take and step swapped": '''def loop_seconds(build, step, take, workers):
    return max(build / workers, take + step) if workers else build + step
''',
 "take is paid on either side": H + '''    return take + max(build / workers, step) if workers else build + step
''',
 "workers capped at 8": H + '''    return max(build / min(workers, 8), take + step) if workers else build + step
''',
}

# ---------------------------------------------------------------- least-prefetch
H = "def least_prefetch():\n"
RIGHT["least-prefetch"] = {
 "number read off": H + "    return 7\n",
 "numpy integer": H + "    return np.int64(7)\n",
 "from the finder's table": H + '''    table = probe.finder()
    def waits(workers, prefetch):
        return float(table.scene({"workers": workers, "prefetch": prefetch})["the loop waits"].split()[0])
    for workers in range(1, 9):
        for prefetch in range(1, 13):
            if waits(workers, prefetch) < 1:
                return prefetch
''',
}
WRONG["least-prefetch"] = {
 "at five workers (the first comfortable setting)": H + "    return 2\n",
 "smallest prefetch offered": H + "    return 1\n",
 "the number of workers": H + "    return 4\n",
 "held in all, workers x prefetch": H + "    return 28\n",
 "one too few (1.27 %)": H + "    return 6\n",
 "one too many": H + "    return 8\n",
 "the largest": H + "    return 12\n",
 "workers with no waiting at all: 5, prefetch 3": H + "    return 3\n",
 "(workers, prefetch)": H + "    return 4, 7\n",
 "below 10 %": H + "    return 2\n",
 "as text": H + "    return '7'\n",
 "workers x prefetch at five": H + "    return 10\n",
}

# ---------------------------------------------------------------- own-part
H = "def own_part(stream, rank, ranks, worker, workers):\n"
RIGHT["own-part"] = {
 "enumerate and remainder": H + '''    for number, document in enumerate(stream):
        if number % (ranks * workers) == rank * workers + worker:
            yield document
''',
 "islice, worker-major": H + '''    return islice(stream, worker * ranks + rank, None, ranks * workers)
''',
 "countdown": H + '''    left = rank + ranks * worker
    for document in stream:
        if left == 0:
            yield document
            left = ranks * workers
        left -= 1
''',
 "counted from 1": H + '''    me = rank * workers + worker
    for number, document in enumerate(stream, 1):
        if number % (ranks * workers) == me:
            yield document
''',
 "rank's part, then the worker's": H + '''    mine = islice(stream, rank, None, ranks)
    return islice(mine, worker, None, workers)
''',
}
WRONG["own-part"] = {
 "ranks only: every worker reads the rank's part": H + '''    return islice(stream, rank, None, ranks)
''',
 "workers only: all ranks read the same": H + '''    return islice(stream, worker, None, workers)
''',
 "reader number with ranks: rank * ranks + worker": H + '''    return islice(stream, rank * ranks + worker, None, ranks * workers)
''',
 "rank + worker": H + '''    return islice(stream, rank + worker, None, ranks * workers)
''',
 "two remainders that must both fit": H + '''    for number, document in enumerate(stream):
        if number % ranks == rank and number % workers == worker:
            yield document
''',
 "whole stream into a list": H + '''    return iter(list(stream)[rank * workers + worker::ranks * workers])
''',
 "a round is read before its document is given out": H + '''    readers, me = ranks * workers, rank * workers + worker
    stream = iter(stream)
    while chunk := list(islice(stream, readers)):
        if len(chunk) > me:
            yield chunk[me]
''',
 "last round dropped": H + '''    readers, me = ranks * workers, rank * workers + worker
    stream = iter(stream)
    for chunk in zip(*[stream] * readers):
        yield chunk[me]
''',
 "contiguous parts": H + '''    every = list(stream)
    per = -(-len(every) // (ranks * workers))
    me = rank * workers + worker
    yield from every[me * per:(me + 1) * per]
''',
 "empty documents passed over": H + '''    number = 0
    for document in stream:
        if not document and document != 0:
            continue
        if number % (ranks * workers) == rank * workers + worker:
            yield document
        number += 1
''',
 "next() without an end: RuntimeError on short streams": H + '''    stream = iter(stream)
    for _ in range(rank * workers + worker):
        next(stream)
    while True:
        try:
            yield next(stream)
        except StopIteration:
            return
        for _ in range(ranks * workers - 1):
            next(stream, None)
''',
 "None ends the stream": H + '''    stream, me = iter(stream), rank * workers + worker
    number = 0
    while (document := next(stream, None)) is not None:
        if number % (ranks * workers) == me:
            yield document
        number += 1
''',
 "looks one document ahead": H + '''    held = []
    for number, document in enumerate(stream):
        if held:
            yield held.pop()
        if number % (ranks * workers) == rank * workers + worker:
            held.append(document)
    yield from held
''',
 "by hash of the document": H + '''    for document in stream:
        if hash(str(document)) % (ranks * workers) == rank * workers + worker:
            yield document
''',
 "the next document is found before this one is given out": H + '''    mine = islice(stream, rank * workers + worker, None, ranks * workers)
    last = next(mine, StopIteration)
    for document in mine:
        yield last
        last = document
    if last is not StopIteration:
        yield last
''',
}

# ---------------------------------------------------------------- shuffled
H = "def shuffled(read, block, seed, epoch, done=0):\n"
RIGHT["shuffled"] = {
 "numpy, read per block": H + '''    for number in count(done // block):
        held = list(islice(read(number * block), block))
        if not held:
            return
        order = np.random.default_rng([seed, epoch, number]).permutation(len(held))
        for place in order[max(0, done - number * block):]:
            yield held[place]
''',
 "random.Random with a text, one iterator": H + '''    import random
    number = done // block
    stream = read(number * block)
    skip = done % block
    while held := list(islice(stream, block)):
        random.Random(f"{seed} {epoch} {number}").shuffle(held)
        yield from held[skip:]
        skip, number = 0, number + 1
''',
 "order of a full block, places behind the end left out": H + '''    begin = done // block * block
    skip, stream = done - begin, read(begin)
    for number in count(done // block):
        held = list(islice(stream, block))
        order = np.random.default_rng([seed, epoch, number]).permutation(block).tolist()
        held_order = [at for at in order if at < len(held)]
        for at in held_order[skip:]:
            yield held[at]
        skip = 0
        if len(held) < block:
            return
''',
 "torch generator from SeedSequence": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            break
        state = np.random.SeedSequence([seed, epoch, number]).generate_state(1, np.uint64)
        maker = torch.Generator().manual_seed(int(state[0] >> np.uint64(1)))
        for at in torch.randperm(len(held), generator=maker).tolist()[skip:]:
            yield held[at]
        skip = 0
''',
 "one generator for the epoch, passed over block by block": H + '''    rng = np.random.default_rng([seed, epoch])
    first, skip = divmod(done, block)
    for _ in range(first):
        rng.permutation(block)
    stream = read(first * block)
    while held := list(islice(stream, block)):
        order = rng.permutation(len(held))
        yield from (held[at] for at in order[skip:])
        skip = 0
''',
}
def shuf(rng="np.random.default_rng([seed, epoch, number])", body=None):
    return H + f'''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            return
        order = {rng}.permutation(len(held))
        for at in order[skip:]:
            yield held[at]
        skip = 0
'''
WRONG["shuffled"] = {
 "epoch left out of the seed": shuf("np.random.default_rng([seed, number])"),
 "block left out of the seed": shuf("np.random.default_rng([seed, epoch])"),
 "seed + epoch + block": shuf("np.random.default_rng(seed + epoch + number)"),
 "digits: 10000 * seed + 100 * epoch + block": shuf("np.random.default_rng(10000 * seed + 100 * epoch + number)"),
 "written side by side without a gap": shuf('np.random.default_rng(int(f"{seed}{epoch}{number}"))'),
 "exclusive or": shuf("np.random.default_rng(seed ^ epoch ^ number)"),
 "product": shuf("np.random.default_rng((seed + 1) * (epoch + 1) * (number + 1))"),
 "hash of a text: another one in every process": shuf('np.random.default_rng(abs(hash(f"{seed} {epoch} {number}")))'),
 "hash of text with random.Random": H + '''    import random
    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            return
        random.Random(hash(("shuffle", seed, epoch, number))).shuffle(held)
        yield from held[skip:]
        skip = 0
''',
 "block number counted from where this life begins": H + '''    first, skip = divmod(done, block)
    stream, number = read(first * block), 0
    while held := list(islice(stream, block)):
        order = np.random.default_rng([seed, epoch, number]).permutation(len(held))
        yield from (held[at] for at in order[skip:])
        skip, number = 0, number + 1
''',
 "one generator that starts anew after a kill": H + '''    rng = np.random.default_rng([seed, epoch])
    first, skip = divmod(done, block)
    stream = read(first * block)
    while held := list(islice(stream, block)):
        yield from (held[at] for at in rng.permutation(len(held))[skip:])
        skip = 0
''',
 "given out ones of the block come again": H + '''    stream = read(done // block * block)
    for number in count(done // block):
        held = list(islice(stream, block))
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held)):
            yield held[at]
''',
 "rest of the block lost: goes on with the next block": H + '''    first = -(-done // block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held)):
            yield held[at]
''',
 "reads from the beginning and passes over": H + '''    stream, left = read(0), done
    for number in count():
        held = list(islice(stream, block))
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held)):
            if left:
                left -= 1
            else:
                yield held[at]
''',
 "short last block dropped": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if len(held) < block:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(block)[skip:]:
            yield held[at]
        skip = 0
''',
 "a buffer that documents leave at random": H + '''    rng, held = np.random.default_rng([seed, epoch]), []
    def order():
        for document in read(0):
            held.append(document)
            if len(held) == block:
                yield held.pop(int(rng.integers(block)))
        while held:
            yield held.pop(int(rng.integers(len(held))))
    return islice(order(), done, None)
''',
 "next block read before this one is given out": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    held, number = list(islice(stream, block)), first
    while held:
        coming = list(islice(stream, block))
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held))[skip:]:
            yield held[at]
        held, skip, number = coming, 0, number + 1
''',
 "first ones of the stream, not of the order, left out": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))[skip:]
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held)):
            yield held[at]
        skip = 0
''',
 "permutation of the documents themselves: lists become arrays or fail": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            return
        yield from np.random.default_rng([seed, epoch, number]).permutation(held).tolist()[skip:]
        skip = 0
''',
 "an empty document ends the stream": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = []
        while len(held) < block:
            document = next(stream, None)
            if document is None or document == []:
                break
            held.append(document)
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held))[skip:]:
            yield held[at]
        skip = 0
''',
 "None-documents or falsy ones end the block (while document := next)": H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = [document for document in islice(stream, block) if document]
        if not held:
            return
        for at in np.random.default_rng([seed, epoch, number]).permutation(len(held))[skip:]:
            yield held[at]
        skip = 0
''',
 "whole epoch into memory": H + '''    every = list(read(0))
    out = []
    for number, begin in enumerate(range(0, len(every), block)):
        held = every[begin:begin + block]
        out += [held[at] for at in np.random.default_rng([seed, epoch, number]).permutation(len(held))]
    yield from out[done:]
''',
 "order remembered between calls": "ORDERS = {}\n" + H + '''    first, skip = divmod(done, block)
    stream = read(first * block)
    for number in count(first):
        held = list(islice(stream, block))
        if not held:
            return
        key = (seed, epoch, number, len(held))
        if key not in ORDERS:
            ORDERS[key] = np.random.permutation(len(held))
        for at in ORDERS[key][skip:]:
            yield held[at]
        skip = 0
''',
}

# ---------------------------------------------------------------- resume-test
H = "def resume_test(make):\n"
FULL = '''    for many in (0, 1, 2, 3, 7, 24, 40):
        documents = list(range(100, 100 + many))
        want = list(islice(make(list(documents)), many + 10))
        assert sorted(want) == documents
        for kill in range(many + 1):
            for past in (0, 1, 5):
                reader = make(list(documents))
                it = iter(reader)
                out = list(islice(it, kill))
                state = reader.state_dict()
                list(islice(it, past))
                try:
                    state = json.loads(json.dumps(state))
                except TypeError:
                    raise AssertionError("no JSON")
                reader = make(list(documents))
                reader.load_state_dict(state)
                assert out + list(islice(reader, many + 10)) == want
'''
TWICE = '''                for second in (0, 1, 4):
                    reader = make(list(documents))
                    reader.load_state_dict(json.loads(json.dumps(state)))
                    it = iter(reader)
                    more = list(islice(it, second))
                    again = reader.state_dict()
                    list(islice(it, 2))
                    again = json.loads(json.dumps(again))
                    reader = make(list(documents))
                    reader.load_state_dict(again)
                    assert out + more + list(islice(reader, many + 10)) == want
'''
GEN = '''
def lives(make, documents, kills, past):
    out, place = [], None
    for kill in [*kills, len(documents) + 9]:
        reader = make(list(documents))
        if place is not None:
            reader.load_state_dict(json.loads(place))
        going = iter(reader)
        out += list(islice(going, kill))
        state = reader.state_dict()
        for _ in range(past):
            next(going, None)
        place = json.dumps(state)
    return out

'''
RIGHT["resume-test"] = {
 "loops, all kills, two lives": H + FULL + TWICE,
 "helper with lists of kills": GEN + H + '''    for many in (1, 9, 20):
        documents = list(range(many))
        want = list(islice(make(documents), many + 9))
        assert sorted(want) == documents
        for past in (0, 1):
            for a in range(many + 1):
                assert lives(make, documents, [a], past) == want, a
                for b in (0, 1, 2, 5):
                    assert lives(make, documents, [a, b], past) == want, (a, b)
            assert lives(make, documents, [1] * many, past) == want
''',
 "documents are lists of tokens": GEN + H + '''    documents = [[n, n + 1] for n in range(17)]
    want = list(make(documents))
    assert len(want) == 17 and sorted(want) == documents
    for past in (0, 1):
        for a in range(18):
            for b in range(18 - a):
                assert lives(make, documents, [a, b], past) == want
                assert lives(make, documents, [a, b, 1], past) == want
''',
 "state written at once, as the text says, and also later": GEN + H + '''    documents = list(range(15))
    want = list(make(documents))
    assert sorted(want) == documents
    for a in range(16):
        for b in range(16):
            assert lives(make, documents, [a, b], 0) == want
            assert lives(make, documents, [a, b], 3) == want
''',
}
WRONG["resume-test"] = {
 "one kill in the middle only": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    assert lives(make, documents, [10], 0) == want
''',
 "all kills, one life only": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    for kill in range(21):
        assert lives(make, documents, [kill], 1) == want
''',
 "state written at once: a place that goes on is not seen": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    for a in range(21):
        for b in (0, 1, 5):
            assert lives(make, documents, [a, b], 0) == want
''',
 "compares sets: order and twice not seen": GEN + H + '''    documents = list(range(20))
    for past in (0, 1):
        for a in range(21):
            for b in (0, 1, 5):
                assert set(lives(make, documents, [a, b], past)) == set(documents)
''',
 "compares sorted: order not seen": GEN + H + '''    documents = list(range(20))
    for past in (0, 1):
        for a in range(21):
            for b in (0, 1, 5):
                assert sorted(lives(make, documents, [a, b], past)) == documents
''',
 "expects the order of the stream": GEN + H + '''    documents = list(range(20))
    for past in (0, 1):
        for a in range(21):
            for b in (0, 1, 5):
                assert lives(make, documents, [a, b], past) == documents
''',
 "no JSON between": H + '''    documents = list(range(20))
    want = list(make(documents))
    for a in range(21):
        for b in (0, 1, 5):
            reader = make(documents)
            out = list(islice(reader, a))
            state = reader.state_dict()
            reader = make(documents)
            reader.load_state_dict(state)
            out += list(islice(reader, b))
            state = reader.state_dict()
            reader = make(documents)
            reader.load_state_dict(state)
            assert out + list(reader) == want
''',
 "state loaded into the same reader": H + '''    documents = list(range(20))
    want = list(make(documents))
    for a in range(21):
        reader = make(documents)
        it = iter(reader)
        out = list(islice(it, a))
        state = reader.state_dict()
        next(it, None)
        reader.load_state_dict(json.loads(json.dumps(state)))
        assert out + list(islice(reader, 30)) == want
''',
 "two documents only": GEN + H + '''    documents = list(range(2))
    want = list(make(documents))
    for past in (0, 1):
        for a in range(3):
            for b in range(3):
                assert lives(make, documents, [a, b], past) == want
''',
 "never before the first document nor behind the last": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    for past in (0, 1):
        for a in range(1, 19):
            for b in range(1, 19 - a):
                assert lives(make, documents, [a, b], past) == want
''',
 "only the first resumed document is compared": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    for past in (0, 1):
        for a in range(20):
            for b in range(20 - a):
                assert lives(make, documents, [a, b], past)[:a + b + 1] == want[:a + b + 1]
''',
 "lengths compared only": GEN + H + '''    documents = list(range(20))
    for past in (0, 1):
        for a in range(21):
            for b in (0, 1, 5):
                assert len(lives(make, documents, [a, b], past)) == 20
''',
 "result returned, not asserted": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    return all(lives(make, documents, [a, b], past) == want for past in (0, 1) for a in range(21) for b in (0, 1, 5))
''',
 "even kills only": GEN + H + '''    documents = list(range(20))
    want = list(make(documents))
    for past in (0, 1):
        for a in range(0, 21, 4):
            for b in (0, 4, 8):
                assert lives(make, documents, [a, b], past) == want
''',
}

# ---------------------------------------------------------------- packer
INIT = '''class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.next, self.pool = 0, []

'''
STATE = '''    def state_dict(self):
        return {"next": self.next, "pool": [list(one) for one in self.pool]}

'''
LOAD = '''    def load_state_dict(self, state):
        self.next, self.pool = state["next"], [list(one) for one in state["pool"]]
'''
FILL = '''    def _fill(self, stream, pool, number):
        while len(pool) < self.hold:
            try:
                document = next(stream)
            except StopIteration:
                break
            if len(document) > self.row_length:
                raise ValueError(f"document {number} has {len(document)} tokens, a row {self.row_length}")
            pool.append(document)
            number += 1
        return number

'''
ROW = '''    def _row(self, pool):
        row = [pool.pop(0)]
        room = self.row_length - len(row[0])
        while True:
            best = None
            for at, one in enumerate(pool):
                if len(one) <= room and (best is None or len(one) > len(pool[best])):
                    best = at
            if best is None:
                return row
            row.append(pool.pop(best))
            room -= len(row[-1])

'''
ITER = '''    def __iter__(self):
        stream = iter(self.read(self.next))
        number, pool = self.next, list(self.pool)
        while True:
            made = []
            for _ in range(self.ranks):
                number = self._fill(stream, pool, number)
                if not pool:
                    return
                made.append(self._row(pool))
            self.next, self.pool = number, list(pool)
            yield made[self.rank]

'''
BASE = INIT + FILL + ROW + ITER + STATE + LOAD
def sub(*pairs, base=BASE):
    for old, new in pairs:
        assert old in base, old
        base = base.replace(old, new)
    return base

RIGHT["packer"] = {
 "helpers, place per round": BASE,
 "max with a key, deep copies": '''import copy
class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.place = {"read": 0, "pool": []}

    def __iter__(self):
        documents = enumerate(self.read(self.place["read"]), self.place["read"])
        now = copy.deepcopy(self.place)
        rows = []
        while True:
            for number, document in islice(documents, self.hold - len(now["pool"])):
                if len(document) > self.row_length:
                    raise ValueError(f"document {number} is too long")
                now["pool"].append(document)
                now["read"] = number + 1
            if not now["pool"]:
                return
            row, left = [], self.row_length
            fitting = now["pool"][:1]
            while fitting:
                one = max(fitting, key=len)
                row.append(one)
                left -= len(one)
                at = next(i for i, other in enumerate(now["pool"]) if other is one)
                del now["pool"][at]
                fitting = [other for other in now["pool"] if len(other) <= left]
            rows.append(row)
            if len(rows) == self.ranks:
                self.place = copy.deepcopy(now)
                mine, rows = rows[self.rank], []
                yield mine

    def state_dict(self):
        return copy.deepcopy(self.place)

    def load_state_dict(self, state):
        self.place = copy.deepcopy(state)
''',
 "sorted pool of (-length, number), numpy inside": '''class StreamingPacker:
    def __init__(self, read, row_length, hold, rank=0, ranks=1):
        self.read, self.row_length, self.hold = read, row_length, hold
        self.rank, self.ranks = rank, ranks
        self.saved = json.dumps({"at": 0, "waiting": []})

    def __iter__(self):
        place = json.loads(self.saved)
        at, waiting = place["at"], {int(n): d for n, d in place["waiting"]}
        source, ended = self.read(at), False
        while True:
            rows = []
            while len(rows) < self.ranks:
                while len(waiting) < self.hold and not ended:
                    fresh = list(islice(source, 1))
                    if not fresh:
                        ended = True
                        break
                    if len(fresh[0]) > self.row_length:
                        raise ValueError(at)
                    waiting[at] = fresh[0]
                    at += 1
                if not waiting:
                    return
                first = min(waiting)
                row = [waiting.pop(first)]
                left = self.row_length - len(row[0])
                while waiting:
                    numbers = np.array(sorted(waiting))
                    sizes = np.array([len(waiting[n]) for n in numbers])
                    sizes[sizes > left] = -1
                    if sizes.max() < 0:
                        break
                    chosen_one = waiting.pop(int(numbers[sizes.argmax()]))
                    row.append(chosen_one)
                    left -= len(chosen_one)
                rows.append(row)
            self.saved = json.dumps({"at": at, "waiting": sorted(waiting.items())})
            yield rows[self.rank]

    def state_dict(self):
        return json.loads(self.saved)

    def load_state_dict(self, state):
        self.saved = json.dumps(state)
''',
 "asks read(n) anew for each fill": sub(
   ("        stream = iter(self.read(self.next))\n", ""),
   ("self._fill(stream, pool, number)", "self._fill(self.read(number), pool, number)")),
 "AMBIGUOUS text: row k counted from the stream's beginning, k % ranks": sub(
   ("        self.next, self.pool = 0, []\n", "        self.next, self.pool, self.made = 0, [], 0\n"),
   ('{"next": self.next, ', '{"next": self.next, "made": self.made, '),
   ('self.next, self.pool = state["next"], ', 'self.made = state["made"]\n        self.next, self.pool = state["next"], '),
   ("            self.next, self.pool = number, list(pool)\n            yield made[self.rank]",
    "            self.next, self.pool = number, list(pool)\n            first = self.made\n            self.made += self.ranks\n            yield made[(self.rank - first) % self.ranks]")),
}
ROWWISE = '''    def __iter__(self):
        stream = iter(self.read(self.next))
        while True:
            made = []
            for _ in range(self.ranks):
                self.next = self._fill(stream, self.pool, self.next)
                if not self.pool:
                    return
                made.append(self._row(self.pool))
            yield made[self.rank]

'''
WRONG["packer"] = {
 "place changed behind the yield": sub(
   ("            self.next, self.pool = number, list(pool)\n            yield made[self.rank]\n",
    "            yield made[self.rank]\n            self.next, self.pool = number, list(pool)\n")),
 "state holds the living pool": sub(
   ("self.next, self.pool = number, list(pool)", "self.next, self.pool = number, pool"),
   ('"pool": [list(one) for one in self.pool]', '"pool": self.pool')),
 "place moves row by row: the dropped round is gone, too": INIT + FILL + ROW + ROWWISE + STATE + LOAD,
 "loaded state is changed as the packer goes on (no copy in load)": INIT + FILL + ROW + ROWWISE.replace(
   "            made = []", "            made, kept, at = [], self.pool, self.next").replace(
   "                    return", "                    return") .replace("made, kept, at = [], self.pool, self.next", "made = []") + STATE
   + '''    def load_state_dict(self, state):
        self.next, self.pool = state["next"], state["pool"]
''',
 "loaded pool not copied, place per round": sub(
   ("number, pool = self.next, list(self.pool)", "number, pool = self.next, self.pool"),
   ('state["next"], [list(one) for one in state["pool"]]', 'state["next"], state["pool"]')),
 "pool not in the state: documents lost": sub(
   ('"pool": [list(one) for one in self.pool]', '"pool": []')),
 "a list of numbers, the pool read again": sub(
   ("        self.next, self.pool = 0, []\n", "        self.next, self.pool, self.rows = 0, [], 0\n"),
   ("        stream = iter(self.read(self.next))\n        number, pool = self.next, list(self.pool)\n",
    "        stream, number, pool = iter(self.read(0)), 0, []\n        for _ in range(self.rows):\n            number = self._fill(stream, pool, number)\n            if pool:\n                self._row(pool)\n"),
   ("            self.next, self.pool = number, list(pool)\n", "            self.rows += self.ranks\n"),
   ('return {"next": self.next, "pool": [list(one) for one in self.pool]}', 'return {"rows": self.rows}'),
   ('self.next, self.pool = state["next"], [list(one) for one in state["pool"]]', 'self.rows = state["rows"]')),
 "longest first, not the oldest": sub(
   ("        row = [pool.pop(0)]\n", "        row = [pool.pop(max(range(len(pool)), key=lambda at: len(pool[at])))]\n")),
 "youngest of equally long ones": sub(("len(one) > len(pool[best])", "len(one) >= len(pool[best])")),
 "first fit instead of the longest that fits": sub(
   ("(best is None or len(one) > len(pool[best]))", "best is None")),
 "last round given out though not full": sub(
   ("                if not pool:\n                    return\n", "                if not pool:\n                    if len(made) > self.rank:\n                        self.next, self.pool = number, []\n                        yield made[self.rank]\n                    return\n")),
 "pool filled once a round": sub(
   ("            for _ in range(self.ranks):\n                number = self._fill(stream, pool, number)\n",
    "            number = self._fill(stream, pool, number)\n            for _ in range(self.ranks):\n")),
 "pool filled only when it is empty": sub(
   ("                number = self._fill(stream, pool, number)\n", "                if not pool:\n                    number = self._fill(stream, pool, number)\n")),
 "one document more than hold is held": sub(("while len(pool) < self.hold:", "while len(pool) <= self.hold:")),
 "ValueError numbers this life's documents": sub(
   ("        number, pool = self.next, list(self.pool)\n", "        self.base = self.next\n        number, pool = self.next, list(self.pool)\n"),
   ('raise ValueError(f"document {number} has', 'raise ValueError(f"document {number - self.base} has')),
 "too long documents passed over": sub(
   ('                raise ValueError(f"document {number} has {len(document)} tokens, a row {self.row_length}")\n',
    "                number += 1\n                continue\n")),
 "too long documents cut": sub(
   ('                raise ValueError(f"document {number} has {len(document)} tokens, a row {self.row_length}")\n',
    "                document = document[:self.row_length]\n")),
 "a document as long as a row refused": sub(("if len(document) > self.row_length", "if len(document) >= self.row_length")),
 "number counted from 1": sub(('f"document {number} has', 'f"document {number + 1} has')),
 "message without the number": sub(
   ('f"document {number} has {len(document)} tokens, a row {self.row_length}"', '"a document is longer than a row"')),
 "rank in the state": sub(
   ('return {"next": self.next, ', 'return {"rank": self.rank, "next": self.next, '),
   ('        self.next, self.pool = state', '        self.rank = state["rank"]\n        self.next, self.pool = state')),
 "given out numbers kept: state grows": sub(
   ("        self.next, self.pool = 0, []\n", "        self.next, self.pool, self.out = 0, [], 0\n        self.history = []\n"),
   ("            yield made[self.rank]", "            self.history.append(len(made[self.rank]))\n            yield made[self.rank]"),
   ('return {"next": self.next, ', 'return {"history": list(self.history), "next": self.next, '),
   ('        self.next, self.pool = state', '        self.history = list(state["history"])\n        self.next, self.pool = state')),
 "second kill: reading counted from this life": sub(
   ("number, pool = self.next, list(self.pool)", "number, pool = 0, list(self.pool)")),
 "an empty document ends the stream": sub(
   ("            try:\n                document = next(stream)\n            except StopIteration:\n                break\n",
    "            document = next(stream, None)\n            if not document:\n                break\n")),
 "a full row takes no empty document (while room)": sub(
   ("        while True:\n            best = None", "        while room:\n            best = None"),
   ("            room -= len(row[-1])\n", "            room -= len(row[-1])\n        return row\n")),
 "a second iter() begins where the state was loaded": sub(
   ("        self.next, self.pool = 0, []\n", "        self.next, self.pool = 0, []\n        self.begin = (0, [])\n"),
   ("        stream = iter(self.read(self.next))\n        number, pool = self.next, list(self.pool)\n",
    "        number, pool = self.begin[0], list(self.begin[1])\n        stream = iter(self.read(number))\n"),
   (LOAD, LOAD + '        self.begin = (self.next, list(self.pool))\n')),
 "each rank packs its own part of the stream": sub(
   ("        stream = iter(self.read(self.next))\n", "        stream = islice(self.read(self.next), self.rank, None, self.ranks)\n"),
   ("            for _ in range(self.ranks):\n", "            for _ in range(1):\n"),
   ("            yield made[self.rank]", "            yield made[0]")),
 "documents come out as tuples": sub(("pool.append(document)", "pool.append(tuple(document))")),
 "place moves when a rank's own row is made, not the round": sub(
   (ITER, '''    def __iter__(self):
        stream = iter(self.read(self.next))
        number, pool, k = self.next, list(self.pool), 0
        while True:
            number = self._fill(stream, pool, number)
            if not pool:
                return
            row = self._row(pool)
            self.next, self.pool = number, list(pool)
            if k % self.ranks == self.rank:
                yield row
            k += 1

''')),
 "documents read ahead: one row prepared before the last is given out": sub(
   (ITER, '''    def _made(self):
        stream = iter(self.read(self.next))
        number, pool = self.next, list(self.pool)
        while True:
            made = []
            for _ in range(self.ranks):
                number = self._fill(stream, pool, number)
                if not pool:
                    return
                made.append(self._row(pool))
            yield made[self.rank], number, list(pool)

    def __iter__(self):
        waiting = []
        for one in self._made():
            waiting.append(one)
            if len(waiting) == 2:
                row, self.next, self.pool = waiting.pop(0)
                yield row
        for row, self.next, self.pool in waiting:
            yield row

''')),
 "pool filled again behind the row, before it is given out": sub(
   ("                made.append(self._row(pool))\n", "                made.append(self._row(pool))\n            number = self._fill(stream, pool, number)\n")),
 "hold 1: the pool is the row's candidates without the oldest": sub(
   ("while len(pool) < self.hold:", "while len(pool) < self.hold + (len(pool) > 0):")),
 "state's tokens as numpy: no JSON": sub(
   ('[list(one) for one in self.pool]}', '[np.array(one) for one in self.pool]}')),
 "state_dict before the first row of a resumed life is empty": sub(
   ("        self.next, self.pool = 0, []\n", "        self.next, self.pool = 0, []\n        self.saved = {'next': 0, 'pool': []}\n"),
   ("            self.next, self.pool = number, list(pool)\n", "            self.saved = {'next': number, 'pool': list(pool)}\n"),
   ('return {"next": self.next, "pool": [list(one) for one in self.pool]}', 'return json.loads(json.dumps(self.saved))')),
}
del WRONG["packer"]["loaded state is changed as the packer goes on (no copy in load)"]
