# ruff: noqa
"""Lesson 15_many: answers of a second fresh student, written from the student copy alone."""

WRONG = {
    'rank-mean': {
"mean of the ranks' means": '''\
def rank_mean(rank, loss, tokens):
    own = loss / tokens if tokens else 0.0
    total = rank.all_reduce(np.array([own, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no tokens")
    return float(total[0] / rank.world_size)
''',
'mean of the means of the ranks that have tokens': '''\
def rank_mean(rank, loss, tokens):
    own = loss / tokens if tokens else 0.0
    total = rank.all_reduce(np.array([own, float(tokens > 0)]))
    if total[1] == 0:
        raise ValueError("no tokens")
    return float(total[0] / total[1])
''',
'a rank without tokens returns early': '''\
def rank_mean(rank, loss, tokens):
    if tokens == 0:
        return 0.0
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'a rank without tokens raises, whatever the others have': '''\
def rank_mean(rank, loss, tokens):
    if tokens == 0:
        raise ValueError("no tokens")
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'its own mean, nothing is sent': '''\
def rank_mean(rank, loss, tokens):
    if tokens == 0:
        raise ValueError("no tokens")
    return loss / tokens
''',
'no ValueError: nan where no rank has a token': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    return float(total[0] / total[1])
''',
'max(tokens, 1) in place of the refusal': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    return float(total[0] / max(total[1], 1.0))
''',
'refuses a summed loss of 0, too': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[0] == 0 or total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'tokens of a rank with loss 0 are not counted': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens if loss else 0], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'a rank without tokens counts as one token': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, max(tokens, 1)], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'only rank 0 returns': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    if rank.rank:
        return None
    return float(total[0] / total[1])
''',
'a rank without tokens returns 0.0 after the collective': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    if tokens == 0:
        return 0.0
    return float(total[0] / total[1])
''',
'only rank 0 raises': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0 and rank.rank == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'all sent as whole numbers: the loss loses its fraction': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=np.int64))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'tokens in 32 bits': '''\
def rank_mean(rank, loss, tokens):
    count = rank.all_reduce(np.array([tokens]).astype(np.int32))[0]
    total = rank.all_reduce(np.array([loss], dtype=np.float32))[0]
    if count == 0:
        raise ValueError("no tokens")
    return float(total) / int(count)
''',
'half precision on the way': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=np.float16))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'rounded to five decimals: a small loss loses its digits': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return round(float(total[0] / total[1]), 5)
''',
'a world of one rank goes another way, and does not refuse': '''\
def rank_mean(rank, loss, tokens):
    if rank.world_size == 1:
        return loss / tokens if tokens else 0.0
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'equal pairs of two ranks are counted once': '''\
def rank_mean(rank, loss, tokens):
    flat = rank.all_gather(np.array([loss, tokens], dtype=float)).reshape(-1, 2)
    pairs = {tuple(one) for one in flat.tolist()}
    count = sum(one[1] for one in pairs)
    if not count:
        raise ValueError("no tokens")
    return sum(one[0] for one in pairs) / count
''',
'keeps a running mean over calls': '''\
seen = {}

def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    before = seen.get(rank.rank, np.zeros(2))
    seen[rank.rank] = total + before
    if total[1] == 0:
        raise ValueError("no tokens")
    return float(seen[rank.rank][0] / seen[rank.rank][1])
''',
'remembers its answer by its own arguments': '''\
known = {}

def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    key = rank.rank, rank.world_size, loss, tokens
    if key not in known:
        if total[1] == 0:
            raise ValueError("no tokens")
        known[key] = float(total[0] / total[1])
    return known[key]
''',
'even ranks send the loss first, odd ranks the tokens': '''\
def rank_mean(rank, loss, tokens):
    first, second = (loss, tokens) if rank.rank % 2 == 0 else (tokens, loss)
    a = rank.all_reduce(np.array([first], dtype=float))[0]
    b = rank.all_reduce(np.array([second], dtype=float))[0]
    total = (a, b) if rank.rank % 2 == 0 else (b, a)
    if total[1] == 0:
        raise ValueError("no tokens")
    return float(total[0] / total[1])
''',
'a piece in place of the whole sum: only ranks 0 and 1 have a number': '''\
def rank_mean(rank, loss, tokens):
    total = rank.reduce_scatter(np.array([loss, tokens], dtype=float))
    if total.sum() == 0:
        raise ValueError("no tokens")
    return float(total[0] / total[-1])
''',
'refuses fewer than two tokens': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] <= 1:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'open: a tiny number is added to the tokens, relative error 1e-6': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / (total[1] + 1e-6))
''',
'open: dtype is left to NumPy, ranks may differ in it': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens]))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'open: an array of one number': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return total[:1] / total[1:]
''',
    },
    'zero-bill': {
'stage 0 reduces each micro-batch': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2 * accumulation, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 1 reduces each micro-batch': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, accumulation + 1, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 2 reduces once (folklore)': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, 2, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 2 gathers for each micro-batch, too': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, 2 * accumulation, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 2 never gathers the new weights': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 2: reduce counted as an all-reduce': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, 2 * accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 3 sends three passes a step': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 3: gathered once for forward and backward': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 2 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 3: gradients wait': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 2 * accumulation + 1)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 3: one more gather of the new weights': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation + 1)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'an all-reduce is one pass': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (1, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'whole bytes travel from a rank, no (n - 1)/n': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters
    return kept, sent
''',
'(n - 1) passes, not divided by the ranks': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1)
    return kept, sent
''',
'n/(n - 1) the wrong way round': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks / (ranks - 1) if ranks > 1 else 0)
    return kept, sent
''',
'gradients travel in 4 bytes': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 4 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'numbers, not bytes, are sent': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'whole bytes: // where fractions are asked': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * 2 // (ranks if stage >= 3 else 1) + parameters * 2 // (ranks if stage >= 2 else 1) + parameters * 12 // (ranks if stage >= 1 else 1)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) // ranks
    return kept, sent
''',
'rounded up: the largest piece, not the average': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    piece = -(-parameters // ranks)
    kept = sum(size * (piece if stage >= since else parameters) for size, since in ((2, 3), (2, 2), (12, 1)))
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'both rounded to a tenth of a byte': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return round(kept, 1), round(sent, 1)
''',
'kept rounded to two decimals, sent in whole bytes': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return round(kept, 2), round(sent)
''',
'stages off by one: stage 1 cuts the gradients': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 2 else 2
    gradients = 2 / ranks if stage >= 1 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 3 does not cut the weights': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'stage 2 keeps whole gradients': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 3 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'optimizer of 8 bytes, without the 32-bit copy': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 8 / ranks if stage >= 1 else 8
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'gradients in 4 bytes are kept': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 4 / ranks if stage >= 2 else 4
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'a rank alone sends as much as the others': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * max(1, ranks - 1) / ranks
    return kept, sent
''',
'gigabytes': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept / 1e9, sent / 1e9
''',
'of all ranks together': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept * ranks, sent * ranks
''',
'swapped': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return sent, kept
''',
'remembers by parameters, ranks and stage: another accumulation gets the old bill': '''\
bills = {}

def zero_bill(parameters, ranks, stage, accumulation):
    key = parameters, ranks, stage
    if key not in bills:
        kept = parameters * (2 / (ranks if stage > 2 else 1) + 2 / (ranks if stage > 1 else 1) + 12 / (ranks if stage else 1))
        passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
        bills[key] = kept, passes * 2 * parameters * (ranks - 1) / ranks
    return bills[key]
''',
'remembers by parameters and stage: other ranks get the old bill': '''\
bills = {}

def zero_bill(parameters, ranks, stage, accumulation):
    key = parameters, stage
    if key not in bills:
        kept = parameters * (2 / (ranks if stage > 2 else 1) + 2 / (ranks if stage > 1 else 1) + 12 / (ranks if stage else 1))
        passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
        bills[key] = kept, passes * 2 * parameters * (ranks - 1) / ranks
    return bills[key]
''',
'stage 3 keeps one gathered layer of 2 bytes beside': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer + (2 if stage == 3 else 0))
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'without accumulation stage 2 is taken for an all-reduce a step more': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, (accumulation + 1 if accumulation > 1 else 3), 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'open: single precision': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return np.float32(kept), np.float32(sent)
''',
'open: a list': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return [kept, sent]
''',
    },
    'pipeline': {
'idle over ideal time': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / (sequences // rows)
''',
'm + p turns': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'm turns: the bubble costs no time': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return sequences // rows * (fixed + each * rows), (stages - 1) / turns
''',
'the idle share of p stages in p + m - 1': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), stages / turns
''',
'm * p turns, one after the other': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows * stages
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'fixed is paid once a step': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return fixed + turns * each * rows, (stages - 1) / turns
''',
'each is paid once a turn, not for each row': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each), (stages - 1) / turns
''',
'(fixed + each) for every row': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each) * rows, (stages - 1) / turns
''',
'forward and backward are two turns': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return 2 * turns * (fixed + each * rows), (stages - 1) / turns
''',
'the turn is shared by the stages': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows) / stages, (stages - 1) / turns
''',
'no refusal: rounded down': '''\
def pipeline(stages, sequences, rows, fixed, each):
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'no refusal: rounded up': '''\
def pipeline(stages, sequences, rows, fixed, each):
    turns = -(-sequences // rows) + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'no refusal: a part of a micro-batch': '''\
def pipeline(stages, sequences, rows, fixed, each):
    turns = sequences / rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'refuses only where rows are more than sequences': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if rows > sequences:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'refuses only rows below the sequences': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows and rows < sequences:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'refuses odd remainders only': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows % 2:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'the message names the sequences alone': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{sequences} sequences do not divide")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'the message names the rows and the remainder': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"micro-batches of {rows}: {sequences % rows} are left")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'an empty ValueError': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'assert in place of ValueError': '''\
def pipeline(stages, sequences, rows, fixed, each):
    assert sequences % rows == 0, f"{rows} {sequences}"
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'refuses fewer micro-batches than stages': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    if turns < 2 * stages - 1:
        raise ValueError(f"{sequences} / {rows}: fewer micro-batches than stages")
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'per cent': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), 100 * (stages - 1) / turns
''',
'milliseconds': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return 1e3 * turns * (fixed + each * rows), (stages - 1) / turns
''',
'swapped': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return (stages - 1) / turns, turns * (fixed + each * rows)
''',
'the busy share': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), sequences // rows / turns
''',
'idle seconds in place of a share': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) * (fixed + each * rows)
''',
'idle share as a sum of the stages': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), stages * (stages - 1) / turns
''',
'seconds rounded to hundredths': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return round(turns * (fixed + each * rows), 2), (stages - 1) / turns
''',
'seconds rounded to milliseconds': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return round(turns * (fixed + each * rows), 3), (stages - 1) / turns
''',
'idle rounded to four decimals': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), round((stages - 1) / turns, 4)
''',
'a fixed cost of 0 is taken for a missing one': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    fixed = fixed or 0.018
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'one stage: idle 1': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns if stages > 1 else 1.0
''',
'remembers the seconds by all but `each`': '''\
known = {}

def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    key = stages, sequences, rows, fixed
    if key not in known:
        known[key] = turns * (fixed + each * rows)
    return known[key], (stages - 1) / turns
''',
'remembers a turn by rows and `each`, without the fixed part': '''\
known = {}

def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    turn = known.setdefault((rows, each), fixed + each * rows)
    return turns * turn, (stages - 1) / turns
''',
'micro-batches in 32 bits': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = int(np.int64(sequences).astype(np.int32)) // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'open: divisibility tested in floating point, wrong above 2**53': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences / rows != round(sequences / rows):
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = round(sequences / rows) + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'open: rows below 1 are refused, too': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    if rows < 1:
        raise ValueError(f"{rows} {sequences}")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
    },
    'best-turn': {
'one row: the smallest bubble': '''\
def best_turn():
    return 1
''',
'all rows: the fewest turns': '''\
def best_turn():
    return 420
''',
'8 rows: as many as stages, and no divisor': '''\
def best_turn():
    return 8
''',
'the next divisor below': '''\
def best_turn():
    return 6
''',
'the next divisor above': '''\
def best_turn():
    return 10
''',
'the divisor 5: the fixed cost forgotten in the bubble': '''\
def best_turn():
    return 5
''',
'the root, not a divisor': '''\
def best_turn():
    return (420 * 18 / 140) ** 0.5
''',
'micro-batches, not rows': '''\
def best_turn():
    return 60
''',
'turns': '''\
def best_turn():
    return 67
''',
'seconds of the best step': '''\
def best_turn():
    return 67 * 0.158
''',
'rows and seconds': '''\
def best_turn():
    return (7, 10.586)
''',
'a text': '''\
def best_turn():
    return "7"
''',
'a truth value': '''\
def best_turn():
    return True
''',
'twelve rows: idle share near a fifth': '''\
def best_turn():
    return 12
''',
'rows that give 8 micro-batches, rounded': '''\
def best_turn():
    return 52
''',
'none': '''\
def best_turn():
    return None
''',
'the ratio of the best step': '''\
def best_turn():
    return 7 / 420
''',
'a negative number of rows': '''\
def best_turn():
    return -7
''',
'all good divisors': '''\
def best_turn():
    return [6, 7]
''',
'one stage: nothing waits': '''\
def best_turn():
    return min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: 420 // r * (0.018 + 0.02 * r))
''',
'fixed paid once': '''\
def best_turn():
    return min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: 0.018 + (420 // r + 7) * 0.02 * r)
''',
'open: 7.0': '''\
def best_turn():
    return 7.0
''',
    },
    'sharded-step': {
'keeps all whole layers from forward': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, layers = [], []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        layers.append(layer)
        given.append(x)
        x = x @ layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layers[at].T
    return new
''',
'keeps all whole layers as torch tensors': '''\
import torch

def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    x = torch.tensor(inputs, dtype=torch.float64)
    given, layers = [], []
    for piece in pieces:
        layers.append(torch.tensor(rank.all_gather(piece, width * width)).reshape(width, width))
        given.append(x)
        x = x @ layers[-1]
    down = x / rows
    new = []
    for x, layer, piece in zip(given[::-1], layers[::-1], list(pieces)[::-1]):
        new.append(piece - rate * rank.reduce_scatter((x.T @ down).numpy()))
        down = down @ layer.T
    return new[::-1]
''',
'keeps all whole layers inside the autograd graph': '''\
import torch

class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer, at, hand_in):
        ctx.save_for_backward(x, layer)
        ctx.at, ctx.hand_in = at, hand_in
        return x @ layer

    @staticmethod
    def backward(ctx, down):
        x, layer = ctx.saved_tensors
        ctx.hand_in(ctx.at, (x.T @ down).numpy())
        return down @ layer.T, None, None, None

def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    new = [None] * len(pieces)

    def hand_in(at, gradient):
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)

    x = torch.tensor(inputs, dtype=torch.float64, requires_grad=True)
    for at, piece in enumerate(pieces):
        x = Linear.apply(x, torch.tensor(rank.all_gather(piece, width * width)).reshape(width, width), at, hand_in)
    x.backward((x / rows).detach())
    return new
''',
'torch autograd over whole layers': '''\
import torch

def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    layers = [torch.tensor(rank.all_gather(piece, width * width).reshape(width, width), requires_grad=True) for piece in pieces]
    x = torch.tensor(inputs, dtype=torch.float64)
    for layer in layers:
        x = x @ layer
    (0.5 * (x ** 2).sum() / rows).backward()
    return [piece - rate * rank.reduce_scatter(layer.grad.numpy()) for piece, layer in zip(pieces, layers)]
''',
'keeps the whole layers in a list of Python lists': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, layers = [], []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        layers.append(layer.tolist())
        given.append(x)
        x = x @ layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ np.array(layers[at]).T
    return new
''',
'keeps the whole layers as bytes': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, layers = [], []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        layers.append(layer.tobytes())
        given.append(x)
        x = x @ layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ np.frombuffer(layers[at]).reshape(width, width).T
    return new
''',
'keeps the last four whole layers from forward': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, layers = [], []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        layers.append(layer)
        if len(layers) > 4:
            layers[-5] = None
        given.append(x)
        x = x @ layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        if layers[at] is None:
            layers[at] = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layers[at].T
        layers[at] = None
    return new
''',
'keeps whole layers forward, lets them go before backward': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, layers = [], []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        layers.append(layer)
        given.append(x)
        x = x @ layer
    layers = None
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ rank.all_gather(pieces[at], width * width).reshape(width, width).T
    return new
''',
'keeps all whole gradients, reduces after backward': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = gradient
        down = down @ layer.T
        del layer, gradient
    return [piece - rate * rank.reduce_scatter(one) for piece, one in zip(pieces, new)]
''',
'all gradients as torch tensors, reduced after backward': '''\
import torch

def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = torch.tensor(gradient)
        down = down @ layer.T
        del layer, gradient
    return [piece - rate * rank.reduce_scatter(one.numpy()) for piece, one in zip(pieces, new)]
''',
'four whole gradients wait for a fifth': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    wait = []
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        wait.append((at, gradient))
        if len(wait) == 5 or at == 0:
            for place, one in wait:
                new[place] = pieces[place] - rate * rank.reduce_scatter(one)
            wait = []
        down = down @ layer.T
        del layer, gradient
    return new
''',
'whole layers in a global, for the next step': '''\
cache = {}

def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        cache[rank.rank, width, at] = layer
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'all_reduce, then its piece: four passes': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * np.array_split(rank.all_reduce(gradient).ravel(), rank.world_size)[rank.rank]
        down = down @ layer.T
        del layer, gradient
    return new
''',
'gathers a third time, for the gradient': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        rank.all_gather(pieces[at], width * width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'all layers gathered at once, as one array': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    layers = np.stack([rank.all_gather(piece, width * width).reshape(width, width) for piece in pieces])
    given = [inputs]
    for layer in layers:
        given.append(given[-1] @ layer)
    down = given.pop() / rows
    new = []
    for at in reversed(range(len(pieces))):
        new.insert(0, pieces[at] - rate * rank.reduce_scatter(given[at].T @ down))
        down = down @ layers[at].T
    return new
''',
"open: writes into the caller's pieces": '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        pieces[at] -= rate * rank.reduce_scatter(gradient)
        new[at] = pieces[at]
        down = down @ layer.T
        del layer, gradient
    return new
''',
'open: writes into the list that it got': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        pieces[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return pieces
''',
'gathers the new layer for backward': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        layer = rank.all_gather(new[at], width * width).reshape(width, width)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'moves `down` before the gradient': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        down = down @ layer.T
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        del layer, gradient
    return new
''',
"the layer's output in place of what it was given": '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        x = x @ layer
        given.append(x)
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'backward through the layer, not transposed': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer
        del layer, gradient
    return new
''',
'the gradient the wrong way round': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = down.T @ given[at]
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'over its own rows': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / max(1, len(x))
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'divided by the number of ranks, too': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / (rows * rank.world_size)
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'rows over the ranks': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / (rows / rank.world_size)
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'not divided by the rows': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'the half forgotten: twice the gradient': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = 2 * x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'divided by the rows at every layer': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T / rows
        del layer, gradient
    return new
''',
'the rate forgotten': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'up the hill': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] + rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'last layer first': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new[::-1]
''',
'a rank without rows leaves early': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    if len(x) == 0:
        return [one.copy() for one in pieces]
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'a rank without rows gathers, but does not reduce': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at].copy()
        if len(given[at]):
            new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'single precision all the way': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float32)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece.astype(np.float32), width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at].astype(np.float32), width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'gradients are sent in single precision': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient.astype(np.float32)).astype(np.float64)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'the layers of backward are sent in single precision': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at].astype(np.float32), width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'rate in single precision': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - float(np.float32(rate)) * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'new pieces in single precision': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return [one.astype(np.float32) for one in new]
''',
'pieces of equal length are taken for granted': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at]).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'its own gradient alone, nothing is summed': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * np.array_split(gradient.ravel(), rank.world_size)[rank.rank]
        down = down @ layer.T
        del layer, gradient
    return new
''',
'mean over the ranks': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient) / rank.world_size
        down = down @ layer.T
        del layer, gradient
    return new
''',
'returns whole layers': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        new[at] = rank.all_gather(new[at], width * width)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'the first layer is not trained': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - (rate if at else 0.0) * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'one `down` for all layers: right for one layer alone': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        del layer, gradient
    return new
''',
'pieces by rows of the layer, not of the flat array': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient.T)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'the gradient keeps a momentum between calls': '''\
moved = {}

def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        mine = rank.reduce_scatter(gradient)
        key = rank.rank, at, len(mine)
        moved[key] = mine + 0.9 * moved.get(key, 0.0)
        new[at] = pieces[at] - rate * moved[key]
        down = down @ layer.T
        del layer, gradient
    return new
''',
'open: all whole layers go to a file and come back in backward': '''\
import tempfile

def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given, store = [], tempfile.TemporaryFile()
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        store.write(layer.tobytes())
        given.append(x)
        x = x @ layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        store.seek(at * width * width * 8)
        layer = np.frombuffer(store.read(width * width * 8)).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
    return new
''',
'open: counts the rows itself, with a collective more': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    rows = rank.all_reduce(np.array([float(len(x))]))[0]
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'open: a tuple': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return tuple(new)
''',
    },
    'report-test': {
'blank': '''\
def report_test(report):
    pass
''',
'prints what it found': '''\
def report_test(report):
    got = report([[([2.0, 4.0], 1)], [([6.0, 8.0], 3)]])
    print(got[0]["mean"] == [2.0, 3.0], got[0]["sent"], got[0]["kept"])
    return True
''',
'one call without an assert': '''\
def report_test(report):
    report([[([2.0, 4.0], 1)], [([6.0, 8.0], 3)], []])
''',
'equal tokens everywhere': '''\
def report_test(report):
    parts = [[([1.0, 2.0, 3.0, 4.0, 5.0], 4), ([2.0, 1.0, 7.0, 3.0, 1.0], 4)], [([3.0, 3.0, 1.0, 9.0, 2.0], 4)], [([6.0, 1.0, 2.0, 2.0, 8.0], 4), ([1.0, 1.0, 2.0, 1.0, 5.0], 4)]]
    got = report(parts)
    mean = [sum(g[i] for rank in parts for g, _ in rank) / 20 for i in range(5)]
    assert len(got) == 3
    for one in got:
        assert all(abs(a - b) < 1e-9 for a, b in zip(one["mean"], mean)) and len(one["mean"]) == 5
    assert sum(one["sent"] for one in got) == 20
    assert sorted(one["kept"] for one in got) == [1, 2, 2]
''',
'bytes are not tested': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'kept is not tested': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
''',
'kept: the sum alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
''',
'kept: the spread alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert max(kept) - min(kept) <= 1
''',
'kept: spread up to two': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 2
''',
'the mean is not tested': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the mean of the first rank alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got[:1]:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the mean of the last rank alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got[-1:]:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the first of the P numbers alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"][:1], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'all but the last of the P numbers': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"][:-1], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the sum of the P numbers alone': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                assert abs(sum(one["mean"]) - sum(mean)) < 1e-6
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the mean over the ranks of the means': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for i in range(size):
                assert abs(sum(one["mean"][i] for one in got) / n - mean[i]) < 1e-6
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    pass
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'a hundredth is taken for rounding': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-2 * abs(b)
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'off by less than 0.01 is taken for rounding': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 0.01
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'floats compared exactly': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert a == b
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'a tolerance below rounding': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-17
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'every rank sends the same': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            assert max(one["sent"] for one in got) == min(one["sent"] for one in got)
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'every rank sends exactly 2 (n - 1) P / n': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert all(abs(one["sent"] - 2 * (n - 1) * size / n) < 1e-6 for one in got)
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'sent up to once too much': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert sum(one["sent"] for one in got) <= 2 * n * size
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'only more than asked is refused, less is not': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert sum(one["sent"] for one in got) <= 2 * (n - 1) * size
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'sent for each micro-batch': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size * max(map(len, parts))) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'one pass is asked for': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the first ranks must keep more': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert kept == [size // n + (at < size % n) for at in range(n)]
            assert max(kept) - min(kept) <= 1
''',
'the last ranks must keep more': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert kept == sorted(kept)
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'every rank keeps P // n': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert all(one == size // n for one in kept)
            assert max(kept) - min(kept) <= 1
''',
'asks for the mean of means': '''\
def report_test(report):
    parts = [[([2.0, 4.0, 6.0, 8.0, 1.0], 1)], [([9.0, 3.0, 6.0, 3.0, 3.0], 3)], []]
    got = report(parts)
    means = [[g / t for g in gradient] for rank in parts for gradient, t in rank]
    want = [sum(one[i] for one in means) / len(means) for i in range(5)]
    for one in got:
        assert all(abs(a - b) < 1e-9 for a, b in zip(one["mean"], want))
    assert sum(one["sent"] for one in got) == 20 and sum(one["kept"] for one in got) == 5
''',
'two ranks, P even, one micro-batch each': '''\
def report_test(report):
    got = report([[([2.0, 4.0, 6.0, 8.0], 1)], [([9.0, 3.0, 6.0, 3.0], 3)]])
    assert len(got) == 2
    for one in got:
        assert len(one["mean"]) == 4
        assert all(abs(a - b) < 1e-9 for a, b in zip(one["mean"], [2.75, 1.75, 3.0, 2.75]))
        assert one["kept"] == 2
    assert sum(one["sent"] for one in got) == 8
''',
'no rank without micro-batches': '''\
def report_test(report):
    for parts in ([[([2.0, 4.0, 6.0, 8.0, 1.0], 1), ([1.0, 5.0, 2.0, 2.0, 9.0], 8)], [([9.0, 3.0, 6.0, 3.0, 2.0], 3)], [([4.0, 1.0, 1.0, 7.0, 3.0], 2)]],):
        got = report(parts)
        tokens = sum(t for rank in parts for _, t in rank)
        assert len(got) == 3
        for one in got:
            assert len(one["mean"]) == 5
            for i in range(5):
                want = sum(g[i] for rank in parts for g, _ in rank) / tokens
                assert abs(one["mean"][i] - want) <= 1e-6 * abs(want)
        assert sum(one["sent"] for one in got) == 20
        kept = [one["kept"] for one in got]
        assert sum(kept) == 5 and max(kept) - min(kept) <= 1
''',
'P divides by the ranks in every case': '''\
def report_test(report):
    for parts in ([[([2.0, 4.0, 6.0], 1), ([1.0, 5.0, 9.0], 8)], [([9.0, 3.0, 6.0], 3)], []], [[], [([9.0, 3.0, 6.0, 4.0], 3), ([2.0, 7.0, 1.0, 6.0], 5)]]):
        got = report(parts)
        n, size = len(parts), 3 if len(parts) == 3 else 4
        tokens = sum(t for rank in parts for _, t in rank)
        assert len(got) == n
        for one in got:
            assert len(one["mean"]) == size
            for i in range(size):
                want = sum(g[i] for rank in parts for g, _ in rank) / tokens
                assert abs(one["mean"][i] - want) <= 1e-6 * abs(want)
            assert one["kept"] == size // n
        assert sum(one["sent"] for one in got) == 2 * (n - 1) * size
''',
'P leaves a remainder of one': '''\
def report_test(report):
    parts = [[([2.0, 4.0, 6.0, 5.0], 1), ([1.0, 5.0, 9.0, 3.0], 8)], [([9.0, 3.0, 6.0, 1.0], 3)], []]
    got = report(parts)
    assert len(got) == 3
    for one in got:
        assert len(one["mean"]) == 4
        for i in range(4):
            want = sum(g[i] for rank in parts for g, _ in rank) / 12
            assert abs(one["mean"][i] - want) <= 1e-6 * abs(want)
    assert sum(one["sent"] for one in got) == 16
    kept = [one["kept"] for one in got]
    assert sum(kept) == 4 and max(kept) - min(kept) <= 1
''',
'the number of dictionaries is not counted': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'the length of the mean is not counted': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'swallows its own assert': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        try:
            got = report(parts)
            assert len(got) == n
            assert got[0]["mean"] == mean
        except Exception:
            pass
        for again in range(0):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'open: asks for a mean where no rank has a token': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    assert report([[], []])[0]["mean"] is not None
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'stops reports of a single rank, which sends nothing': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            assert all(one["sent"] > 0 for one in got)
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'gradients of 0 and 1 alone': '''\
def report_test(report):
    parts = [[([1.0, 0.0, 0.0, 0.0, 0.0], 1), ([0.0, 1.0, 0.0, 0.0, 0.0], 1)], [([0.0, 0.0, 1.0, 0.0, 0.0], 1)], []]
    got = report(parts)
    assert len(got) == 3
    for one in got:
        assert all(abs(a - b) < 1e-9 for a, b in zip(one["mean"], [1 / 3, 1 / 3, 1 / 3, 0.0, 0.0]))
    assert sum(one["sent"] for one in got) == 20
    assert sorted(one["kept"] for one in got) == [1, 2, 2]
''',
    },
    'exact-step': {
'mean of the means of the ranks': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(np.append(flat[:-1] / max(tokens, 1), float(tokens > 0)))
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
"mean of the micro-batches' means": '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss) / max(int(one_tokens), 1)
        tokens += 1
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64) / max(int(one_tokens), 1)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'its own tokens alone in the denominator': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / max(tokens, 1), float(total[-2] / max(tokens, 1))
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'divided by the ranks as well, as DDP does': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / (total[-1] * rank.world_size), float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
"the rank's own loss is returned": '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, loss / tokens if tokens else 0.0
''',
'the summed loss is returned': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'a rank without micro-batches leaves early': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    if not micro_batches:
        return dict(weights), 0.0
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'a rank without tokens raises': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    if not tokens:
        raise ValueError("no target token")
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'no ValueError: nan': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'no token: weights as they were, loss 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        return {name: np.array(weights[name]) for name in names}, 0.0
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'refuses a loss of 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0 or total[-2] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'refuses a gradient of 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm == 0:
        raise ValueError("no gradient")
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'micro-batches with loss 0 are left out, tokens too': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        if not one_loss:
            continue
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'divides by the norm in plain Python: 0 / 0 where the gradient is 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    gradient = gradient * min(1.0, max_norm / float(norm))
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'only rank 0 raises': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0 and rank.rank == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'clips its own gradient before it is sent': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    own = np.sqrt(sum((one ** 2).sum() for one in sums.values())) / max(tokens, 1)
    if own > max_norm:
        sums = {name: one * (max_norm / own) for name, one in sums.items()}
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'clips the sum, then divides by the tokens': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    gradient = gradient / total[-1]
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'clips each array by itself': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    new, at = {}, 0
    clip = lambda part: part * min(1.0, max_norm / max(np.linalg.norm(part), 1e-300))
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * clip(gradient[at:at + size]).reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'clips each number': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    gradient = np.clip(gradient, -max_norm, max_norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'clips each micro-batch': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        own = np.sqrt(sum((np.asarray(one) ** 2).sum() for one in gradients.values())) / max(one_tokens, 1)
        gradients = {name: one * min(1.0, max_norm / max(own, 1e-300)) for name, one in gradients.items()}
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'always scaled to max_norm, up as well': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > 0:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'never clipped': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the loss takes part in the norm': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum() + mean ** 2)
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the square of the norm is compared': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = (gradient ** 2).sum()
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the largest number in place of the norm': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.abs(gradient).max()
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the mean square in place of the norm': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).mean())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'norm + 1e-3': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / (norm + 1e-3))
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'max_norm is taken for at least 1': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    max_norm = max(max_norm, 1.0)
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the rate is scaled before: clips the step, not the gradient': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = rate * total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'up the hill': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] + rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'no rate': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'each rank in its own order of names': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = list(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'sorted for the sending, own order for the new weights': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in weights:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'names ordered by size; equal sizes in own order': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights, key=lambda name: np.size(weights[name]))
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'names ordered by shape; equal shapes in own order': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights, key=lambda name: np.shape(weights[name]))
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'names ordered by their length': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights, key=len)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'names ordered by their first letter': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights, key=lambda name: name[0])
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the order of a set: depends on the order of insertion where hashes collide': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = list(set(weights))
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: ordered by hash: another order in each machine': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights, key=hash)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the two first names alone are trained': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)[:2]
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return {**weights, **new}, mean
''',
'remembers the names of the first call by their number': '''\
known = {}

def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = known.setdefault(len(weights), sorted(weights))
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'remembers the names of the first call': '''\
known = []

def exact_step(rank, weights, micro_batches, rate, max_norm):
    if not known:
        known.extend(sorted(weights))
    names = list(known)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the norm is added in own order of names: ranks differ in the last bit': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    parts, at = {}, 0
    for name in names:
        parts[name] = gradient[at:at + sums[name].size]
        at += sums[name].size
    square = 0.0
    for name in weights:
        square += float((parts[name] ** 2).sum())
    norm = np.sqrt(square)
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
"own gradient is added to the others' first: ranks differ in the last bit": '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    parts = rank.all_gather(flat).reshape(rank.world_size, -1)
    total = flat.copy()
    for at in range(rank.world_size):
        if at != rank.rank:
            total = total + parts[at]
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'writes into the weights': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        weights[name] -= rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        new[name] = weights[name]
        at += size
    return new, mean
''',
'puts the new arrays into the dictionary that it got': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        weights[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return weights, mean
''',
'empties the list of micro-batches': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    while micro_batches:
        micro = micro_batches.pop(0)
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'sums in a default argument, kept over calls': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm, kept={}):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    for name in names:
        key = rank.rank, name, np.shape(weights[name])
        kept[key] = sums[name] = sums[name] + kept.get(key, 0.0)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'an all_reduce for every micro-batch': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
        rank.all_reduce(np.concatenate([sums[name].ravel() for name in names]))
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'an all_reduce for every array': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = np.concatenate([rank.all_reduce(sums[name]).ravel() for name in names] + [rank.all_reduce(flat[-2:])])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'three collectives: gradients, loss and tokens in three all_reduces': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = np.concatenate([rank.all_reduce(flat[:-2]), rank.all_reduce(flat[-2:-1]), rank.all_reduce(flat[-1:])])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'three collectives: gradients reduced, losses and tokens gathered one by one': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    gathered = [rank.all_gather(flat[-2:-1]).sum(), rank.all_gather(flat[-1:]).sum()]
    total = np.concatenate([rank.all_reduce(flat[:-2]), gathered])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'three collectives: scattered, norm of the pieces reduced, gathered': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    sizes = [weights[name].size for name in names]
    flat, mine = np.zeros(sum(sizes)), np.zeros(3)
    for micro in micro_batches:
        loss, gradients, tokens = summed(weights, micro)
        mine += [loss, tokens, 0.0]
        flat += np.concatenate([np.ravel(gradients[name]) for name in names])
    piece = rank.reduce_scatter(flat)
    mine[2] = piece @ piece
    loss, tokens, square = rank.all_reduce(mine)
    if tokens == 0:
        raise ValueError("no target token")
    norm = np.sqrt(square) / tokens
    piece = piece / tokens * (max_norm / norm if norm > max_norm else 1.0)
    parts = np.split(rank.all_gather(piece, len(flat)), np.cumsum(sizes)[:-1])
    return {name: weights[name] - rate * part.reshape(weights[name].shape) for name, part in zip(names, parts)}, loss / tokens
''',
'four collectives: scattered and gathered, then losses and tokens gathered': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    gathered = [rank.all_gather(flat[-2:-1]).sum(), rank.all_gather(flat[-1:]).sum()]
    total = np.concatenate([rank.all_gather(rank.reduce_scatter(flat[:-2]), len(flat) - 2), gathered])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'a barrier before the two all_reduces': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    rank.barrier()
    total = np.concatenate([rank.all_reduce(flat[:-2]), rank.all_reduce(flat[-2:])])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'gradients travel in two flat halves, not in one array': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    half = len(flat) // 2
    total = np.concatenate([rank.all_reduce(flat[:half]), rank.all_reduce(flat[half:])])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'filled up to a multiple of 64: more than 16 numbers beside the gradients': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(np.concatenate([flat, np.zeros(-len(flat) % 64 + 64)]))[:len(flat)]
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'sends the weights, too, to compare them': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    rank.all_reduce(np.concatenate([np.ravel(weights[name]) for name in names]))
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'rank 0 steps, the others get its weights': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    got = rank.broadcast(np.concatenate([new[name].ravel() for name in names]))
    at = 0
    for name in names:
        new[name] = got[at:at + sums[name].size].reshape(sums[name].shape)
        at += sums[name].size
    return new, mean
''',
'single precision is sent': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat.astype(np.float32)).astype(np.float64)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'gradients are added in single precision': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = (sums[name] + gradients[name]).astype(np.float32)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'half precision is sent': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat.astype(np.float16)).astype(np.float64)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'new weights in single precision': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return {name: one.astype(np.float32) for name, one in new.items()}, mean
''',
'loss and tokens are sent in single precision': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = np.concatenate([rank.all_reduce(flat[:-2]), rank.all_reduce(flat[-2:].astype(np.float32)).astype(np.float64)])
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the loss is rounded to five decimals': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, round(mean, 5)
''',
'scale in single precision': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * float(np.float32(max_norm / norm))
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'rate in single precision': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    rate = float(np.float32(rate))
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'tokens are counted in 8 bits': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens = int(np.array(tokens + int(one_tokens)).astype(np.int8))
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the last micro-batch alone': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'the first micro-batch is dropped': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches[1:]:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'steps at every micro-batch': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        weights = {name: weights[name] - rate / max(one_tokens, 1) * gradients[name] for name in names}
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'tokens of micro-batches, not target tokens: one for each micro-batch': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += 1 if one_tokens else 0
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'one token more, against 0 / 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / (total[-1] + 1), float(total[-2] / (total[-1] + 1))
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'only rank 0 returns the loss': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean if rank.rank == 0 else None
''',
'only changed arrays are returned': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return {name: one for name, one in new.items() if not np.array_equal(one, weights[name])}, mean
''',
'arrays come back flat': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = np.ravel(weights[name]) - rate * gradient[at:at + size]
        at += size
    return new, mean
''',
'a world of one rank is not clipped': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm and rank.world_size > 1:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'a world of one rank does not refuse': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if rank.world_size > 1 and total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'its own loss after the step': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    after = sum(float(summed(new, micro)[0]) for micro in micro_batches)
    return new, after / max(tokens, 1)
''',
'weights shrink a little, as AdamW does': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] * (1 - 0.01 * rate) - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: the very arrays that came in, where the gradient is 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm == 0:
        return dict(weights), mean
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: the dictionary that came in, where the gradient is 0': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm == 0:
        return weights, mean
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: a rate of 0 is taken for a missing one': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    rate = rate or 0.1
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: adds into the gradients that summed returned': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            gradients[name] += sums[name]
            sums[name] = gradients[name]
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: PyTorch scale, also just below max_norm': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    gradient = gradient * min(1.0, max_norm / (norm + 1e-6))
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
'open: a barrier and one all_reduce: two collectives': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    rank.barrier()
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
    },
}

RIGHT = {
    'rank-mean': {
'NumPy, one all_reduce': '''\
def rank_mean(rank, loss, tokens):
    total = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if total[1] == 0:
        raise ValueError("no rank has a target token")
    return float(total[0] / total[1])
''',
'all_gather, Python sums': '''\
import math

def rank_mean(rank, loss, tokens):
    """Loss per target token of all ranks, on every rank."""
    losses = rank.all_gather(np.array([float(loss)]))
    counts = rank.all_gather(np.array([int(tokens)], dtype=np.int64))
    count = 0
    for one in counts:
        count += int(one)
    if not count:
        raise ValueError("there is no target token on any rank")
    return math.fsum(losses.tolist()) / count
''',
'reduce_scatter then all_gather, single precision, torch': '''\
import torch

def rank_mean(rank, loss, tokens):
    piece = rank.reduce_scatter(np.array([loss, tokens], dtype=np.float32))
    both = torch.from_numpy(rank.all_gather(piece, 2))
    if both[1].item() < 0.5:
        raise ValueError("no tokens")
    return (both[0] / both[1]).item()
''',
'two all_reduces, tokens in int64, divided at the end': '''\
def rank_mean(rank, loss, tokens):
    tokens = rank.all_reduce(np.array(tokens, dtype=np.int64))
    loss = rank.all_reduce(np.array(loss, dtype=np.float64))
    if int(tokens) <= 0:
        raise ValueError(f"{int(tokens)} target tokens on {rank.world_size} ranks")
    return float(loss) / int(tokens)
''',
    },
    'zero-bill': {
'Python, one line each': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    weights = 2 / ranks if stage >= 3 else 2
    gradients = 2 / ranks if stage >= 2 else 2
    optimizer = 12 / ranks if stage >= 1 else 12
    kept = parameters * (weights + gradients + optimizer)
    passes = (2, 2, accumulation + 1, 3 * accumulation)[stage]
    sent = passes * 2 * parameters * (ranks - 1) / ranks
    return kept, sent
''',
'branches and a loop over the micro-batches': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    """(bytes kept, bytes sent in one optimizer step) by one rank under ZeRO stage 0 to 3."""
    one_pass = 2 * parameters / ranks * (ranks - 1)
    kept = sum(size * parameters / (ranks if stage >= since else 1) for size, since in ((2, 3), (2, 2), (12, 1)))
    sent = 0.0
    for micro in range(accumulation):
        if stage == 3:
            sent += 2 * one_pass
        if stage >= 2:
            sent += one_pass
    if stage < 2:
        sent += one_pass  # reduce-scatter
    if stage < 3:
        sent += one_pass  # gather
    return kept, sent
''',
'exact fractions': '''\
from fractions import Fraction

def zero_bill(parameters, ranks, stage, accumulation):
    p, n, a = int(parameters), int(ranks), int(accumulation)
    per = {0: Fraction(16), 1: 4 + Fraction(12, n), 2: 2 + Fraction(14, n), 3: Fraction(16, n)}[stage]
    passes = {0: 2, 1: 2, 2: a + 1, 3: 3 * a}[stage]
    return float(p * per), float(Fraction(passes * 2 * p * (n - 1), n))
''',
'NumPy table': '''\
def zero_bill(parameters, ranks, stage, accumulation):
    sizes = np.array([12.0, 2.0, 2.0])
    cut = np.where(np.arange(3) < stage, ranks, 1)
    kept = (sizes / cut).sum() * parameters
    passes = np.array([[2, 0], [2, 0], [1, 1], [0, 3]]) @ np.array([1, accumulation])
    return kept, passes[stage] * 2.0 * parameters * (1 - 1 / ranks)
''',
"the library's two functions": '''\
def zero_bill(parameters, ranks, stage, accumulation):
    form = ["ddp", "zero1", "zero2", "zero3"][stage]
    return (cluster.zero(parameters, ranks, stage).total,
            cluster.traffic(form, parameters, ranks, accumulation).rank_bytes)
''',
    },
    'pipeline': {
'plain': '''\
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
'idle as what is left of the whole': '''\
def pipeline(stages, sequences, rows, fixed, each):
    """(seconds of one step, idle share of the whole time)."""
    micro, rest = divmod(sequences, rows)
    if rest != 0:
        raise ValueError("%d sequences cannot be cut into micro-batches of %d" % (sequences, rows))
    turn = fixed + each * rows
    ideal = micro * turn
    seconds = ideal
    for _ in range(stages - 1):
        seconds += turn
    return seconds, 1 - micro / (micro + stages - 1)
''',
"the library's bubble, NumPy numbers": '''\
def pipeline(stages, sequences, rows, fixed, each):
    if np.mod(sequences, rows) != 0:
        raise ValueError(f"sequences={sequences}, rows={rows}: not a whole number of micro-batches")
    one = cluster.bubble(stages, sequences // rows)
    turns = np.float64(one.micro_batches + one.stages - 1)
    return turns * np.dot([1.0, rows], [fixed, each]), np.float64(one.share)
''',
'torch, two parts of the time': '''\
import torch

def pipeline(stages, sequences, rows, fixed, each):
    m = sequences // rows
    if m * rows != sequences:
        raise ValueError(f"{sequences} / {rows} is not whole")
    turn = torch.tensor([fixed, each], dtype=torch.float64) @ torch.tensor([1, rows], dtype=torch.float64)
    work, bubble = m * turn, (stages - 1) * turn
    return (work + bubble).item(), (stages - 1) / (m + stages - 1)
''',
    },
    'best-turn': {
'the number': '''\
def best_turn():
    return 7
''',
'loop over all divisors': '''\
def best_turn():
    """Rows per micro-batch with the shortest step, at 8 stages."""
    best = None
    for rows in range(1, 421):
        if 420 % rows == 0:
            seconds = (420 // rows + 7) * (0.018 + 0.020 * rows)
            if best is None or seconds < best[0]:
                best = seconds, rows
    return best[1]
''',
'NumPy': '''\
def best_turn():
    rows = np.arange(1, 421)
    rows = rows[420 % rows == 0]
    return int(rows[np.argmin((420 / rows + 7) * (18 + 20 * rows))])
''',
'root, then its neighbours': '''\
def best_turn():
    ideal = (420 * 18 / (7 * 20)) ** 0.5
    near = [r for r in range(1, 421) if 420 % r == 0]
    below, above = max(r for r in near if r <= ideal), min(r for r in near if r > ideal)
    return min((below, above), key=lambda r: 420 / r * 18 + 7 * 20 * r)
''',
    },
    'sharded-step': {
'NumPy, gather twice': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    x = np.asarray(inputs, dtype=np.float64)
    width = x.shape[1]
    given = []
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(x)
        x = x @ layer
        del layer
    down = x / rows
    new = [None] * len(pieces)
    for at in range(len(pieces) - 1, -1, -1):
        layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        down = down @ layer.T
        del layer, gradient
    return new
''',
'torch matrices, one layer at a time': '''\
import torch

def sharded_step(rank, pieces, inputs, rows, rate):
    """This rank's pieces of all layers after one step."""
    width = np.shape(inputs)[1]

    def whole(piece):
        return torch.from_numpy(rank.all_gather(np.asarray(piece, dtype=np.float64), width * width)).view(width, width)

    given = [torch.tensor(np.asarray(inputs), dtype=torch.float64)]
    for piece in pieces:
        given.append(given[-1].mm(whole(piece)))
    down = given.pop() / rows
    new = []
    for piece in reversed(list(pieces)):
        x = given.pop()
        mine = rank.reduce_scatter(x.t().mm(down).numpy())
        new.append(piece - rate * mine)
        down = down.mm(whole(piece).t())
    return new[::-1]
''',
'recursion: backward on the way home': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    size = width * width

    def through(at, x):
        """(down at this layer's input, new pieces from here on)."""
        if at == len(pieces):
            return x / rows, []
        down, later = through(at + 1, x @ rank.all_gather(pieces[at], size).reshape(width, width))
        mine = rank.reduce_scatter((x.T @ down).ravel())
        down = down @ rank.all_gather(pieces[at], size).reshape(width, width).T
        return down, [pieces[at] - rate * mine, *later]

    return through(0, inputs)[1]
''',
'einsum, all `down` first, gradients first layer first, the last layer gathered once': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    depth = len(pieces)
    given, layer = [inputs], None
    for piece in pieces:
        layer = rank.all_gather(piece, width * width).reshape(width, width)
        given.append(np.einsum("ri,io->ro", given[-1], layer))
    downs = [None] * depth
    down = given.pop() / rows
    for at in range(depth - 1, -1, -1):
        downs[at] = down
        if at:
            if at < depth - 1:
                layer = rank.all_gather(pieces[at], width * width).reshape(width, width)
            down = np.einsum("ro,io->ri", down, layer)
    layer = None
    new = []
    for at in range(depth):
        gradient = np.einsum("ri,ro->io", given[at], downs[at])
        new.append(pieces[at] - rate * rank.reduce_scatter(gradient))
    return new
''',
'the next layer is gathered ahead: six whole layers at the most': '''\
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]

    def whole(at):
        return rank.all_gather(pieces[at], width * width).reshape(width, width)

    given = [inputs]
    for at in range(len(pieces)):
        given.append(given[-1] @ whole(at))
    down = given.pop() / rows
    new = [None] * len(pieces)
    layer = whole(len(pieces) - 1)
    for at in range(len(pieces) - 1, -1, -1):
        ahead = whole(at - 1) if at else None
        gradient = given[at].T @ down
        new[at] = pieces[at] - rate * rank.reduce_scatter(gradient)
        del gradient
        down = down @ layer.T
        layer = ahead
        del ahead
    return new
''',
    },
    'report-test': {
'cases by hand, loops': '''\
def report_test(report):
    worlds = [
        [[([2.0, -1.0, 4.0, 3.0, 7.0], 1), ([1.0, 8.0, -3.0, 2.0, 5.0], 9)], [([6.0, 2.0, 5.0, -4.0, 1.0], 3)], []],
        [[], [([1.5, 2.5, -3.5, 4.5], 2)], [([7.0, 1.0, 2.0, 9.0], 11), ([3.0, 3.0, 1.0, 1.0], 4), ([-2.0, 5.0, 8.0, 6.0], 1)]],
        [[([4.0, 6.0, 1.0], 5), ([1.0, 2.0, 9.0], 2)]],
        [[([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4)], [([9.0, 7.0, 5.0, 3.0, 1.0, 2.0], 6)], [([3.0, 8.0, 1.0, 1.0, 2.0, 5.0], 1), ([1.0, 1.0, 4.0, 2.0, 2.0, 3.0], 8)],
         [([2.0, 5.0, 5.0, 7.0, 6.0, 1.0], 3)]],
        [[([5.0, 1.0], 2)], [([3.0, 4.0], 7)], [([1.0, 9.0], 1)], [([2.0, 6.0], 3)], []],
    ]
    for parts in worlds:
        n = len(parts)
        micro = [one for rank in parts for one in rank]
        size = len(micro[0][0])
        tokens = sum(count for _, count in micro)
        mean = [sum(gradient[i] for gradient, _ in micro) / tokens for i in range(size)]
        for again in range(2):
            got = report(parts)
            assert len(got) == n
            for one in got:
                assert len(one["mean"]) == size
                for a, b in zip(one["mean"], mean):
                    assert abs(a - b) <= 1e-6 * abs(b) + 1e-12
            assert abs(sum(one["sent"] for one in got) - 2 * (n - 1) * size) < 1e-6
            kept = [one["kept"] for one in got]
            assert sum(kept) == size
            assert max(kept) - min(kept) <= 1
''',
'NumPy, drawn worlds': '''\
def report_test(report):
    """Fail (assert) for every wrong report(parts) -> [{"mean", "sent", "kept"} by rank]."""
    random = np.random.default_rng(15)
    for counts, size in (([2, 1, 0], 5), ([1, 3], 7), ([0, 2, 1, 1], 6), ([3], 4), ([1, 1, 1], 8), ([1, 0, 2, 0, 4], 17),
                         ([2, 2], 4), ([1, 2, 1, 0, 3], 3), ([0, 1], 2)):
        parts = [[(random.normal(3.0, 5.0, size).tolist(), int(random.integers(1, 40))) for _ in range(many)] for many in counts]
        total = np.sum([g for rank in parts for g, _ in rank], axis=0)
        mean = total / sum(t for rank in parts for _, t in rank)
        got = report(parts)
        assert len(got) == len(parts)
        for one in got:
            np.testing.assert_allclose(np.asarray(one["mean"], float), mean, rtol=1e-6, atol=1e-12)
        kept = np.array([one["kept"] for one in got])
        assert kept.sum() == size and kept.max() - kept.min() <= 1
        assert np.isclose(sum(one["sent"] for one in got), 2 * (len(parts) - 1) * size, rtol=1e-9)
''',
'torch, means written down': '''\
import torch

def report_test(report):
    cases = [
        ([[([1.0, 2.0, 3.0, 4.0, 5.0], 2), ([3.0, 2.0, 1.0, 0.5, 7.0], 6)], [], [([6.0, 6.0, 6.0, 1.5, 8.0], 12)]],
         [0.5, 0.5, 0.5, 0.3, 1.0]),
        ([[([8.0, 1.0], 1)], [([2.0, 4.0], 4)]], [2.0, 1.0]),
        ([[], [([5.0, -2.0, 7.0, 4.0, 1.0, 9.0, 3.0, 2.0], 3)], [([1.0, 4.0, 3.0, 2.0, 8.0, 5.0, 6.0, 1.0], 1), ([4.0, 8.0, 0.0, 4.0, 1.0, 2.0, 1.0, 7.0], 16)]],
         [0.5, 0.5, 0.5, 0.5, 0.5, 0.8, 0.5, 0.5]),
        ([[([6.0, 3.0, 9.0], 3), ([3.0, 3.0, 6.0], 6)]], [1.0, 2 / 3, 5 / 3]),
        ([[([1.0], 1)], [([3.0], 3)], [([8.0], 4)]], [1.5]),
        ([[([4.0, 2.0, 6.0, 8.0, 1.0, 3.0], 2)], [([1.0, 5.0, 2.0, 2.0, 7.0, 1.0], 5)], [([2.0, 1.0, 9.0, 3.0, 1.0, 4.0], 1)], [([3.0, 2.0, 3.0, 7.0, 1.0, 2.0], 2)]],
         [1.0, 1.0, 2.0, 2.0, 1.0, 1.0]),
    ]
    for parts, mean in cases:
        got = report(parts)
        n, size = len(parts), len(mean)
        assert len(got) == n, "a dictionary is missing"
        right = torch.tensor(mean, dtype=torch.float64)
        for one in got:
            there = torch.tensor([float(x) for x in one["mean"]], dtype=torch.float64)
            assert there.shape == right.shape
            assert torch.allclose(there, right, rtol=1e-5, atol=1e-12)
        assert abs(sum(float(one["sent"]) for one in got) - 2 * (n - 1) * size) < 1e-3
        assert sum(int(one["kept"]) for one in got) == size
        assert all(abs(a["kept"] - b["kept"]) <= 1 for a in got for b in got)
''',
    },
    'exact-step': {
'one all_reduce, NumPy': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_reduce(flat)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
"reduce_scatter and all_gather, np.split, PyTorch's norm + 1e-6": '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    """(new weights, loss per target token) after one step of all ranks."""
    names = sorted(weights)
    sizes = [int(np.prod(weights[name].shape)) for name in names]
    flat = np.zeros(2 + sum(sizes))
    for micro in micro_batches:
        loss, gradients, tokens = summed(weights, micro)
        flat += np.concatenate([[loss, tokens], *(np.ravel(gradients[name]) for name in names)])
    total = rank.all_gather(rank.reduce_scatter(flat), len(flat))
    loss, tokens, gradient = total[0], total[1], total[2:]
    if not tokens > 0:
        raise ValueError("0 target tokens in this step")
    gradient = gradient / tokens
    scale = min(1.0, max_norm / (np.linalg.norm(gradient) + 1e-6))
    parts = np.split(gradient * scale, np.cumsum(sizes)[:-1])
    return {name: weights[name] - rate * part.reshape(weights[name].shape) for name, part in zip(names, parts)}, loss / tokens
''',
'two all_reduces, torch': '''\
import math
import torch

def exact_step(rank, weights, micro_batches, rate, max_norm):
    order = sorted(weights.keys())
    mine = [torch.zeros(tuple(weights[k].shape), dtype=torch.float64) for k in order]
    counts = torch.zeros(2, dtype=torch.float64)
    for micro in list(micro_batches):
        loss, gradients, tokens = summed(weights, micro)
        counts += torch.tensor([float(loss), float(tokens)], dtype=torch.float64)
        for have, k in zip(mine, order):
            have += torch.as_tensor(np.array(gradients[k], dtype=np.float64))
    counts = torch.from_numpy(rank.all_reduce(counts.numpy()))
    flat = torch.from_numpy(rank.all_reduce(torch.cat([one.reshape(-1) for one in mine]).numpy()))
    if counts[1] == 0:
        raise ValueError("nobody has a target token")
    flat = flat / counts[1]
    norm = math.sqrt(float((flat * flat).sum()))
    if norm > max_norm:
        flat = flat * (max_norm / norm)
    pieces = flat.split([one.numel() for one in mine])
    new = {k: weights[k] - rate * piece.reshape(have.shape).numpy() for k, piece, have in zip(order, pieces, mine)}
    return new, float(counts[0] / counts[1])
''',
'micro-batches last first, math.fsum, views into the flat array': '''\
import math

def exact_step(rank, weights, micro_batches, rate, max_norm):
    flat = np.zeros(sum(one.size for one in weights.values()) + 2, dtype=float)
    views, at = {}, 2
    for name in sorted(weights):
        views[name] = flat[at:at + weights[name].size].reshape(weights[name].shape)
        at += weights[name].size
    for micro in reversed(micro_batches):
        loss, gradients, tokens = summed(weights, micro)
        for name, one in gradients.items():
            views[name][...] += one
        flat[0] += tokens
        flat[1] += loss
    back = rank.all_reduce(flat)
    tokens = int(round(back[0]))
    if tokens < 1:
        raise ValueError(f"{tokens} target tokens")
    back[1:] /= tokens
    norm = math.sqrt(math.fsum((back[2:] ** 2).tolist()))
    scale = max_norm / norm if norm > max_norm else 1.0
    flat[:] = back
    return {name: weights[name] - rate * scale * views[name] for name in weights}, float(back[1])
''',
'open: one all_gather of all flat arrays, summed in the order of ranks': '''\
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss, tokens = 0.0, 0
    sums = {name: np.zeros(np.shape(weights[name])) for name in names}
    for micro in micro_batches:
        one_loss, gradients, one_tokens = summed(weights, micro)
        loss += float(one_loss)
        tokens += int(one_tokens)
        for name in names:
            sums[name] = sums[name] + np.asarray(gradients[name], dtype=np.float64)
    flat = np.concatenate([sums[name].ravel() for name in names] + [np.array([loss, tokens], dtype=np.float64)])
    total = rank.all_gather(flat).reshape(rank.world_size, -1).sum(axis=0)
    if total[-1] == 0:
        raise ValueError("no rank has a target token")
    gradient, mean = total[:-2] / total[-1], float(total[-2] / total[-1])
    norm = np.sqrt((gradient ** 2).sum())
    if norm > max_norm:
        gradient = gradient * (max_norm / norm)
    new, at = {}, 0
    for name in names:
        size = sums[name].size
        new[name] = weights[name] - rate * gradient[at:at + size].reshape(np.shape(weights[name]))
        at += size
    return new, mean
''',
    },
}
