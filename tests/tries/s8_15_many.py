# ruff: noqa
WRONG, RIGHT = {}, {}

# ================================================================ rank-mean
RIGHT["rank-mean"] = {
"one all_reduce": '''
def rank_mean(rank, loss, tokens):
    both = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if both[1] == 0:
        raise ValueError("no target tokens on any rank")
    return float(both[0] / both[1])
''',
"all_gather and a loop": '''
def rank_mean(rank, loss, tokens):
    everything = rank.all_gather(np.array([loss, tokens], dtype=np.float64))
    losses = counts = 0.0
    for at in range(rank.world_size):
        losses += everything[2 * at]
        counts += everything[2 * at + 1]
    if not counts:
        raise ValueError("no tokens")
    return losses / counts
''',
"two all_reduces, tokens as integers": '''
def rank_mean(rank, loss, tokens):
    n = int(rank.all_reduce(np.array([tokens], dtype=np.int64))[0])
    total = rank.all_reduce(np.array([loss], dtype=np.float64))[0]
    if n < 1:
        raise ValueError("nothing to average")
    return total / n
''',
"torch": '''
import torch
def rank_mean(rank, loss, tokens):
    own = torch.tensor([loss, tokens], dtype=torch.float64)
    total = torch.from_numpy(rank.all_reduce(own.numpy()))
    if total[1].item() == 0:
        raise ValueError("no tokens")
    return (total[0] / total[1]).item()
''',
"reduce_scatter then all_gather, scalar arrays": '''
def rank_mean(rank, loss, tokens):
    piece = rank.reduce_scatter(np.array([loss, tokens], float))
    loss, tokens = rank.all_gather(piece, 2)
    if tokens == 0:
        raise ValueError
    return np.divide(loss, tokens)
''',
"0-d arrays, fsum": '''
import math
def rank_mean(rank, loss, tokens):
    ls = rank.all_gather(np.array(float(loss)))
    ts = rank.all_gather(np.array(int(tokens)))
    t = sum(int(x) for x in ts)
    if t == 0:
        raise ValueError("t")
    return math.fsum(sorted(ls)) / t
''',
}
def rm(arr="np.array([loss, tokens], dtype=float)", before="", test="t == 0", err='raise ValueError("no tokens")', ret="l / t", mid=""):
    return f'''
def rank_mean(rank, loss, tokens):
    {before or "pass"}
    l, t = rank.all_reduce({arr})
    {mid or "pass"}
    if {test}:
        {err}
    return {ret}
'''
WRONG["rank-mean"] = {
"this rank's own mean": '''
def rank_mean(rank, loss, tokens):
    if tokens == 0:
        raise ValueError
    return loss / tokens
''',
"own mean, nobody's tokens seen by one all_reduce": rm(ret="loss / max(tokens, 1)"),
"mean of means": '''
def rank_mean(rank, loss, tokens):
    mean = loss / tokens if tokens else 0.0
    if rank.all_reduce(np.array([tokens]))[0] == 0:
        raise ValueError
    return rank.all_reduce(np.array([mean]))[0] / rank.world_size
''',
"mean of means of ranks with tokens": '''
def rank_mean(rank, loss, tokens):
    mean = loss / tokens if tokens else 0.0
    m, k = rank.all_reduce(np.array([mean, float(tokens > 0)]))
    if k == 0:
        raise ValueError
    return m / k
''',
"early return of a rank without tokens": rm(before="if tokens == 0: return 0.0"),
"raises on a rank without tokens of its own": rm(before="if tokens == 0: raise ValueError('no tokens')"),
"raises after the collective, if its own tokens are 0": rm(test="tokens == 0"),
"nothing raised, nan": rm(test="False"),
"0.0 if nobody has tokens": rm(err="return 0.0"),
"nan if nobody has tokens": rm(err="return float('nan')"),
"ZeroDivisionError": '''
def rank_mean(rank, loss, tokens):
    l, t = rank.all_reduce(np.array([loss, tokens], dtype=float))
    return float(l) / float(t)
''',
"assert": rm(err="assert False, 'no tokens'"),
"RuntimeError": rm(err="raise RuntimeError('no tokens')"),
"only rank 0 raises": rm(test="t == 0 and rank.rank == 0"),
"only rank 0 returns": rm(ret="l / t if rank.rank == 0 else None"),
"divided by world_size as well": rm(ret="l / t / rank.world_size"),
"loss truncated to an integer": rm(arr="np.array([loss, tokens], dtype=int)"),
"max(t, 1) instead of refusing": rm(test="False", ret="l / max(t, 1)"),
"max(tokens, 1) on each rank": rm(arr="np.array([loss, max(tokens, 1)], dtype=float)"),
"sum, not divided": rm(ret="l"),
"divided by own tokens": rm(ret="l / tokens if tokens else 0.0"),
"own loss over all tokens": rm(ret="loss / t"),
"refuses one single token": rm(test="t <= 1"),
"refuses a loss of zero": rm(test="l == 0"),
"refuses when loss and tokens are zero, else nan never": rm(test="l == 0 or t == 0"),
"order of the two differs by rank": '''
def rank_mean(rank, loss, tokens):
    if rank.rank == 0:
        l = rank.all_reduce(np.array([float(loss)])); t = rank.all_reduce(np.array([float(tokens)]))
    else:
        t = rank.all_reduce(np.array([float(tokens)])); l = rank.all_reduce(np.array([float(loss)]))
    if t[0] == 0:
        raise ValueError
    return l[0] / t[0]
''',
"second collective only on ranks with tokens": '''
def rank_mean(rank, loss, tokens):
    l = rank.all_reduce(np.array([float(loss)]))[0]
    if tokens:
        t = rank.all_reduce(np.array([float(tokens)]))[0]
        return l / t
    raise ValueError
''',
"remembers the first result": '''
kept = {}
def rank_mean(rank, loss, tokens):
    l, t = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if t == 0:
        raise ValueError
    return kept.setdefault((rank.rank, rank.world_size), l / t)
''',
"running total over calls": '''
so_far = {}
def rank_mean(rank, loss, tokens):
    both = rank.all_reduce(np.array([loss, tokens], dtype=float))
    if both[1] == 0:
        raise ValueError
    so_far[rank.rank] = so_far.get(rank.rank, 0) + both
    return so_far[rank.rank][0] / so_far[rank.rank][1]
''',
"rounded to two places": rm(ret="round(l / t, 2)"),
"rounded to four places": rm(ret="round(l / t, 4)"),
"room for four ranks": '''
def rank_mean(rank, loss, tokens):
    table = np.zeros((4, 2))
    table[rank.rank] = loss, tokens
    l, t = rank.all_reduce(table).sum(0)
    if t == 0:
        raise ValueError
    return l / t
''',
"a list of one instead of a number": rm(ret="[l / t]"),
"tokens counted in 32 bits": rm(before="tokens = np.int64(tokens).astype(np.int32)"),
"half precision": rm(arr="np.array([loss, tokens], dtype=np.float16)"),
"a rank with loss zero sends no tokens": rm(before="tokens = tokens if loss else 0"),
"a rank with loss zero sends no tokens, but refuses only if none has tokens": '''
def rank_mean(rank, loss, tokens):
    l, t, real = rank.all_reduce(np.array([loss, tokens if loss else 0, tokens], dtype=float))
    if real == 0:
        raise ValueError
    return l / t if t else 0.0
''',
"reduce_scatter taken for the whole sum": '''
def rank_mean(rank, loss, tokens):
    both = rank.reduce_scatter(np.array([loss, tokens], dtype=float))
    if both[1] == 0:
        raise ValueError
    return both[0] / both[1]
''',
"tokens per loss": rm(ret="t / l"),
"a loss below the tokens' number is divided by whole tokens": rm(ret="l // t"),
}

# ================================================================ zero-bill
RIGHT["zero-bill"] = {
"lists": '''
def zero_bill(parameters, ranks, stage, accumulation):
    parts = [2, 2, 12]
    cut = {0: (0, 0, 0), 1: (0, 0, 1), 2: (0, 1, 1), 3: (1, 1, 1)}[stage]
    kept = sum(b * parameters / (ranks if c else 1) for b, c in zip(parts, cut))
    passes = [2, 2, accumulation + 1, 3 * accumulation][stage]
    return kept, passes * 2 * parameters * (ranks - 1) / ranks
''',
"ifs": '''
def zero_bill(parameters, ranks, stage, accumulation):
    w = g = 2 * parameters
    o = 12 * parameters
    if stage >= 1: o = o / ranks
    if stage >= 2: g = g / ranks
    if stage == 3: w = w / ranks
    if ranks == 1:
        return w + g + o, 0
    one = 2 * parameters * (1 - 1 / ranks)
    if stage < 2: sent = one + one
    elif stage == 2: sent = one * accumulation + one
    else: sent = one * accumulation * 3
    return w + g + o, sent
''',
"numpy": '''
def zero_bill(parameters, ranks, stage, accumulation):
    sizes = np.array([12., 2., 2.])
    div = np.where(np.arange(3) < stage, float(ranks), 1.0)
    kept = (sizes / div).sum() * parameters
    passes = np.array([2, 2, 1 + accumulation, 3 * accumulation])[stage]
    return kept, passes * 2.0 * parameters * (ranks - 1.0) / ranks
''',
"fractions": '''
from fractions import Fraction
def zero_bill(parameters, ranks, stage, accumulation):
    kept = [Fraction(16), 4 + Fraction(12, ranks), 2 + Fraction(14, ranks), Fraction(16, ranks)][stage] * parameters
    passes = [2, 2, accumulation + 1, 3 * accumulation][stage]
    return float(kept), float(Fraction(2 * parameters * passes * (ranks - 1), ranks))
''',
"torch": '''
import torch
def zero_bill(parameters, ranks, stage, accumulation):
    t = torch.tensor([16, 4 + 12 / ranks, 2 + 14 / ranks, 16 / ranks], dtype=torch.float64)
    p = torch.tensor([2, 2, accumulation + 1, 3 * accumulation], dtype=torch.float64)
    return (t[stage] * parameters).item(), (p[stage] * 2 * parameters * (ranks - 1) / ranks).item()
''',
"the library's own": '''
def zero_bill(parameters, ranks, stage, accumulation):
    n = ranks
    kept = {0: lambda: 16 * parameters, 1: lambda: (4 * n + 12) * parameters / n,
            2: lambda: (2 * n + 14) * parameters / n, 3: lambda: 16 * parameters / n}[stage]()
    sent = 2 * parameters * (n - 1) / n * {0: 2, 1: 2, 2: accumulation + 1, 3: 3 * accumulation}[stage]
    return [kept, sent]
''',
}
def zb(k0="16", k1="4 + 12 / n", k2="2 + 14 / n", k3="16 / n", p0="2", p1="2", p2="a + 1", p3="3 * a", kept="k * P", sent="p * 2 * P * (n - 1) / n", ret="kept, sent", pre="pass"):
    return f'''
def zero_bill(parameters, ranks, stage, accumulation):
    P, n, a = parameters, ranks, accumulation
    {pre}
    k = [{k0}, {k1}, {k2}, {k3}][stage]
    p = [{p0}, {p1}, {p2}, {p3}][stage]
    kept = {kept}
    sent = {sent}
    return {ret}
'''
WRONG["zero-bill"] = {
"stage 2 sends like stage 1 (folklore)": zb(p2="2"),
"stage 3 sends once a step": zb(p3="3"),
"stage 0 reduces each micro-batch": zb(p0="2 * a"),
"stage 1 reduces each micro-batch": zb(p1="a + 1"),
"stage 1: all_reduce and a gather, three passes": zb(p1="3"),
"stage 2: no gather of the new weights": zb(p2="a"),
"stage 2: the gather for each micro-batch": zb(p2="2 * a"),
"stage 2: all_reduce for each micro-batch": zb(p2="2 * a + 1"),
"stage 3: one gather only": zb(p3="2 * a"),
"stage 3: and a gather of the new weights": zb(p3="3 * a + 1"),
"stage 3: weights gathered once, gradients each": zb(p3="a + 2"),
"stage 3: the last weights are still there": zb(p3="3 * a - 1"),
"an all_reduce as one pass": zb(p0="1"),
"gradients travel in 4 bytes": zb(sent="p * 4 * P * (n - 1) / n"),
"numbers, not bytes, sent": zb(sent="p * P * (n - 1) / n"),
"the whole array for each pass": zb(sent="p * 2 * P"),
"whole array, but nothing alone": zb(sent="p * 2 * P if n > 1 else 0"),
"over n + 1": zb(sent="p * 2 * P * n / (n + 1)"),
"sent by all ranks together": zb(sent="p * 2 * P * (n - 1)"),
"kept by all ranks together": zb(kept="k * P * n"),
"stage 1 cuts the gradients": zb(k1="2 + 14 / n"),
"stage 2 cuts gradients only": zb(k2="14 + 2 / n"),
"stage 2 keeps whole gradients": zb(k2="4 + 12 / n"),
"stage 3 keeps whole weights": zb(k3="2 + 14 / n"),
"optimizer of 8 bytes": zb(k0="12", k1="4 + 8 / n", k2="2 + 10 / n", k3="12 / n"),
"only the optimizer is kept": zb(k0="12", k1="12 / n", k2="12 / n", k3="12 / n"),
"stages counted from 1": zb(pre="stage = stage - 1"),
"swapped": zb(ret="sent, kept"),
"gigabytes": zb(ret="kept / 1e9, sent / 1e9"),
"only one number": zb(ret="kept"),
"per micro-batch": zb(sent="p * 2 * P * (n - 1) / n / a"),
"whole bytes, rounded down: not the average": zb(k1="0", ret="int(kept), int(sent)", kept="[16 * P, 4 * P + 12 * P // n, 2 * P + 14 * P // n, 16 * P // n][stage]"),
"pieces rounded up: the largest rank, not the average": zb(kept="[16 * P, 4 * P + 12 * -(-P // n), 2 * P + 14 * -(-P // n), 16 * -(-P // n)][stage]"),
"kept rounded up to a byte: not the average": zb(kept="[16 * P, 4 * P - (-12 * P // n), 2 * P - (-14 * P // n), -(-16 * P // n)][stage]"),
"the smallest rank's pieces": zb(kept="[16 * P, 4 * P + 12 * (P // n), 2 * P + 14 * (P // n), 16 * (P // n)][stage]"),
"sent from P // n": zb(sent="p * 2 * (P // n) * (n - 1)"),
"sent in whole bytes (on average it is none)": zb(sent="p * 2 * P * (n - 1) // n"),
"one rank sends as two": zb(sent="p * 2 * P * (max(n, 2) - 1) / max(n, 2)"),
"one rank: the weights' copy is left out": zb(kept="k * P if n > 1 else 4 * P"),
"accumulation of 1 is no accumulation: nothing waits": zb(p2="a + 1 if a > 1 else 3"),
"bandwidth limited to a node of 8": zb(sent="p * 2 * P * (min(n, 8) - 1) / min(n, 8)"),
"pieces over 64 ranks, as printed": zb(k1="4 + 12 / 64", k2="2 + 14 / 64", k3="16 / 64"),
"8 micro-batches, as printed": zb(pre="a = 8"),
"binary units": zb(ret="kept / 1024 ** 3, sent / 1024 ** 3"),
"parameters in 32 bits": zb(pre="P = int(np.int64(P).astype(np.int32))"),
"gathers in 2, reduces in 4 bytes": zb(p0="4", p1="3", p2="2 * a + 1", p3="4 * a"),
"kept changes with accumulation": zb(kept="k * P + (2 * P * (a > 1) if stage >= 2 else 0)"),
}

# ================================================================ sharded-step
RIGHT["sharded-step"] = {
"plain": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    def whole(piece):
        return rank.all_gather(piece, width * width).reshape(width, width)
    x, given = inputs, []
    for piece in pieces:
        given.append(x)
        x = x @ whole(piece)
    down = x / rows
    new = []
    for piece, x in zip(reversed(pieces), reversed(given)):
        layer = whole(piece)
        new.append(piece - rate * rank.reduce_scatter(x.T @ down))
        down = down @ layer.T
    return new[::-1]
''',
"loop with index, einsum, dels": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    n = inputs.shape[-1]
    acts = [np.array(inputs)]
    for i in range(len(pieces)):
        w = rank.all_gather(np.array(pieces[i]), size=n * n).reshape((n, n))
        acts.append(np.einsum("bi,ij->bj", acts[-1], w))
        del w
    d = acts[-1] * (1.0 / rows)
    out = [None] * len(pieces)
    for i in range(len(pieces) - 1, -1, -1):
        w = rank.all_gather(pieces[i], n * n).reshape(n, n)
        g = rank.reduce_scatter(np.einsum("bi,bj->ij", acts[i], d))
        out[i] = pieces[i] - rate * g
        d = np.einsum("bj,ij->bi", d, w)
    return out
''',
"torch arithmetic": '''
import torch
def sharded_step(rank, pieces, inputs, rows, rate):
    n = inputs.shape[1]
    x = torch.tensor(inputs)
    given = []
    for p in pieces:
        given.append(x)
        x = x @ torch.from_numpy(rank.all_gather(p, n * n)).view(n, n)
    down = x / rows
    new = []
    for p in pieces[::-1]:
        layer = torch.from_numpy(rank.all_gather(p, n * n)).view(n, n)
        x = given.pop()
        g = rank.reduce_scatter((x.T @ down).contiguous().numpy())
        new.insert(0, p - rate * g)
        down = down @ layer.T
    return new
''',
"down before reduce, scaled late": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    n = inputs.shape[1]
    xs = [inputs]
    for p in pieces:
        xs.append(xs[-1] @ rank.all_gather(p, n * n).reshape(n, n))
    down = xs.pop()
    new = {}
    for i in sorted(range(len(pieces)), reverse=True):
        layer = rank.all_gather(pieces[i], n * n).reshape(n, n)
        grad = xs.pop().T @ down
        down = down @ layer.T
        del layer
        new[i] = pieces[i] - (rate / rows) * rank.reduce_scatter(grad)
    return [new[i] for i in range(len(pieces))]
''',
"open by the text: the last layer is gathered once, 3 - 1/depth passes": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    n = inputs.shape[1]
    xs = [inputs]
    for p in pieces:
        layer = rank.all_gather(p, n * n).reshape(n, n)
        xs.append(xs[-1] @ layer)
    down = xs.pop() / rows
    new = [None] * len(pieces)
    for i in range(len(pieces))[::-1]:
        if i < len(pieces) - 1:
            layer = rank.all_gather(pieces[i], n * n).reshape(n, n)
        new[i] = pieces[i] - rate * rank.reduce_scatter(xs.pop().T @ down)
        down = down @ layer.T
    return new
''',
}
def ss(start="x / rows", grad="given[i].T @ down", new="pieces[i] - rate * rank.reduce_scatter(gradient)", move="down @ layer.T", pre="pass", fwd="x @ whole(pieces[i])", whole="rank.all_gather(piece, width * width).reshape(width, width)", layer="whole(pieces[i])", ret="new", after="pass", mid="pass", order="reversed(range(len(pieces)))", end="pass"):
    return f'''
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    def whole(piece):
        return {whole}
    {pre}
    x, given = inputs, []
    for i in range(len(pieces)):
        given.append(x)
        x = {fwd}
        {mid}
    down = {start}
    new = [None] * len(pieces)
    for i in {order}:
        layer = {layer}
        gradient = {grad}
        new[i] = {new}
        {after}
        down = {move}
    {end}
    return {ret}
'''
WRONG["sharded-step"] = {
"divided by its own rows": ss(start="x / max(len(inputs), 1)"),
"divided by rows and ranks": ss(start="x / rows / rank.world_size"),
"divided by rows per rank": ss(start="x / (rows / rank.world_size)"),
"divided by all elements": ss(start="x / (rows * width)"),
"not divided": ss(start="x"),
"half forgotten: factor 2": ss(start="2 * x / rows"),
"half kept": ss(start="0.5 * x / rows"),
"divided at every layer": ss(move="down @ layer.T / rows"),
"down without transposing": ss(move="down @ layer"),
"down moved before the gradient": ss(layer="whole(pieces[i]); down = down @ layer.T", move="down"),
"the outputs of the layer instead of what it was given": ss(grad="(given + [x])[i + 1].T @ down"),
"the first inputs for every layer": ss(grad="inputs.T @ down"),
"gradient transposed": ss(grad="down.T @ given[i]"),
"gradient averaged over ranks": ss(new="pieces[i] - rate * rank.reduce_scatter(gradient) / rank.world_size"),
"plus": ss(new="pieces[i] + rate * rank.reduce_scatter(gradient)"),
"rate forgotten": ss(new="pieces[i] - rank.reduce_scatter(gradient)"),
"gradients are returned": ss(new="rank.reduce_scatter(gradient)"),
"only its own gradient": ss(new="pieces[i] - rate * np.array_split(gradient.ravel(), rank.world_size)[rank.rank]"),
"all_reduce and cut: four passes": ss(new="pieces[i] - rate * np.array_split(rank.all_reduce(gradient).ravel(), rank.world_size)[rank.rank]"),
"whole layers kept in a list": ss(pre="layers = [whole(p) for p in pieces]", fwd="x @ layers[i]", layer="layers[i]"),
"whole layers gathered at once, twice": ss(pre="layers = [whole(p) for p in pieces]", fwd="x @ layers[i]", mid="if i == len(pieces) - 1: layers = [whole(p) for p in pieces]", layer="layers[i]"),
"whole layers kept from forward": ss(pre="layers = []", fwd="x @ (layers.append(whole(pieces[i])) or layers[-1])", layer="layers[i]"),
"whole layers kept as torch tensors": ss(pre="import torch; layers = []", fwd="x @ (layers.append(torch.tensor(whole(pieces[i]))) or layers[-1].numpy())", layer="layers[i].numpy()"),
"whole layers kept in single precision": ss(pre="layers = []", fwd="x @ (layers.append(whole(pieces[i]).astype(np.float32)) or layers[-1])", layer="layers[i]"),
"half of the whole layers kept": ss(pre="layers = {}", fwd="x @ (layers.setdefault(i, whole(pieces[i])) if i % 2 else whole(pieces[i]))", layer="layers[i] if i % 2 else whole(pieces[i])"),
"a third of the whole layers kept": ss(pre="layers = {}", fwd="x @ (layers.setdefault(i, whole(pieces[i])) if i % 3 == 2 else whole(pieces[i]))", layer="layers[i] if i % 3 == 2 else whole(pieces[i])"),
"whole layers written to a file": ss(pre="import os, tempfile; d = tempfile.mkdtemp()", fwd="x @ whole(pieces[i])", mid="np.save(os.path.join(d, str(i)), whole(pieces[i])) if False else None", layer="whole(pieces[i]); whole(pieces[i])"),
"whole gradients kept in a list, reduced at the end": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    xs = [inputs]
    for p in pieces:
        xs.append(xs[-1] @ rank.all_gather(p, width * width).reshape(width, width))
    down = xs.pop() / rows
    grads = []
    for p, x in zip(pieces[::-1], xs[::-1]):
        layer = rank.all_gather(p, width * width).reshape(width, width)
        grads.insert(0, x.T @ down)
        down = down @ layer.T
    return [p - rate * rank.reduce_scatter(g) for p, g in zip(pieces, grads)]
''',
"whole gradients kept as torch tensors, reduced at the end": '''
import torch
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    xs = [inputs]
    for p in pieces:
        xs.append(xs[-1] @ rank.all_gather(p, width * width).reshape(width, width))
    down = xs.pop() / rows
    grads = []
    for p, x in zip(pieces[::-1], xs[::-1]):
        layer = rank.all_gather(p, width * width).reshape(width, width)
        grads.insert(0, torch.from_numpy(x).T @ torch.from_numpy(down))
        down = down @ layer.T
    return [p - rate * rank.reduce_scatter(g.contiguous().numpy()) for p, g in zip(pieces, grads)]
''',
"in place": ss(new="np.subtract(pieces[i], rate * rank.reduce_scatter(gradient), out=pieces[i])"),
"writes into the caller's list": ss(after="pieces[i] = new[i]", ret="pieces"),
"pops from the caller's list": ss(after="pieces.pop()"),
"scales the inputs in place": ss(start="np.divide(x, rows)", end="inputs *= 1.5"),
"last layer first": ss(ret="new[::-1]"),
"whole new layers": ss(ret="[whole(n) for n in new]"),
"joined to one flat array": ss(ret="np.concatenate(new)"),
"a two-dimensional array of pieces with equal length only": ss(ret="[np.array(n[: width * width // rank.world_size]) for n in new]"),
"down through the updated layer": ss(layer="None", after="layer = whole(new[i])"),
"returns early without rows": ss(pre="\n    if len(inputs) == 0:\n        return list(pieces)"),
"no reduce without rows": ss(new="pieces[i] - rate * rank.reduce_scatter(gradient) if len(inputs) else pieces[i]"),
"keeps its piece without rows": ss(new="(lambda g: pieces[i] - rate * g if len(inputs) else pieces[i])(rank.reduce_scatter(gradient))"),
"size left out": ss(whole="rank.all_gather(piece).reshape(width, width)"),
"size by its own piece": ss(whole="rank.all_gather(piece, len(piece) * rank.world_size).reshape(width, width)"),
"first layer is left alone": ss(ret="[pieces[0]] + new[1:]"),
"last layer is left alone": ss(ret="new[:-1] + [pieces[-1]]"),
"relu between layers": ss(fwd="np.maximum(x @ whole(pieces[i]), 0)"),
"rate over rows once more": ss(new="pieces[i] - rate / rows * rank.reduce_scatter(gradient)"),
"layer gathered a third time": ss(after="layer = whole(pieces[i])"),
"layers by x @ layer.T": ss(fwd="x @ whole(pieces[i]).T", move="down @ layer"),
"remembers the layers of the first call": '''
seen = {}
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    key = (rank.rank, rank.world_size, width, len(pieces))
    x, given = inputs, []
    for p in pieces:
        given.append(x)
        x = x @ rank.all_gather(p, width * width).reshape(width, width)
    down = x / rows
    new = [None] * len(pieces)
    for i in reversed(range(len(pieces))):
        layer = rank.all_gather(pieces[i], width * width).reshape(width, width)
        new[i] = seen.get((key, i), 0) + pieces[i] - rate * rank.reduce_scatter(given[i].T @ down)
        seen[key, i] = - 0.1 * rate * new[i]
        down = down @ layer.T
    return new
''',
"single precision on the wire": ss(new="pieces[i] - rate * rank.reduce_scatter(gradient.astype(np.float32))"),
"single precision throughout": ss(pre="pieces = [p.astype(np.float32) for p in pieces]; inputs = inputs.astype(np.float32)"),
"backward in the order of forward": ss(order="range(len(pieces))"),
"works for ranks whose rows are the same only: own rows times ranks": ss(start="x / (max(len(inputs), 1) * rank.world_size)"),
"a mean over ranks that have rows": ss(start="x / rows", new="pieces[i] - rate * rank.reduce_scatter(gradient) / max(1, rank.world_size - 1)"),
"gathers all layers as one flat array of all pieces": '''
def sharded_step(rank, pieces, inputs, rows, rate):
    width = inputs.shape[1]
    layers = []
    for p in pieces:
        layers.append(rank.all_gather(p, width * width).reshape(width, width))
    x, given = inputs, []
    for layer in layers:
        given.append(x); x = x @ layer
    layers.clear()
    down = x / rows
    new = []
    for p, x in zip(pieces[::-1], given[::-1]):
        layer = rank.all_gather(p, width * width).reshape(width, width)
        new.append(p - rate * rank.reduce_scatter(x.T @ down))
        down = down @ layer.T
    return new[::-1]
''',
}
del WRONG["sharded-step"]["whole layers written to a file"]

# ================================================================ report-test
CASES = '''
    P = 5
    three = [[([1.0, -2.0, 3.0, 0.5, 7.0], 2), ([4.0, 0.0, -1.0, 2.0, 1.0], 7)], [], [([10.0, 3.0, 2.0, -8.0, 6.0], 1)]]
    two = [[([2.0, 4.0, 6.0], 3)], [([1.0, 1.0, 9.0], 5), ([0.5, 3.0, 0.0], 1)]]
    one = [[([3.0, 1.0], 4), ([1.0, 5.0], 2)]]
    four = [[([float(i * j % 5) - 1 for i in range(10)], j) for j in range(1, k + 1)] for k in (3, 0, 1, 2)]
'''
def rt(cases="(three, two, one, four)", mean="np.allclose(r['mean'], want)", sent="sum(r['sent'] for r in got) == 2 * (n - 1) * P", kept="sum(r['kept'] for r in got) == P", spread="max(r['kept'] for r in got) - min(r['kept'] for r in got) <= 1", length="len(got) == n", want="total / tokens", extra="True", over="got", pre="pass", size="np.size(r['mean']) == P"):
    return f'''
import copy
def report_test(report):{CASES}
    for parts in {cases}:
        n = len(parts)
        flat = [m for r in parts for m in r]
        P = len(flat[0][0])
        total = np.sum([g for g, t in flat], axis=0)
        tokens = sum(t for g, t in flat)
        want = {want}
        {pre}
        got = report(copy.deepcopy(parts))
        assert {length}
        for r in {over}:
            assert {size}
            assert {mean}
        assert {sent}
        assert {kept}
        assert {spread}
        assert {extra}
'''
RIGHT["report-test"] = {
"all laws, four cases": rt(),
"plain loops, isclose": '''
import math
def report_test(report):
    for n, P, seed in ((3, 5, 0), (4, 10, 1), (2, 7, 2), (1, 3, 3), (5, 8, 4)):
        rng = np.random.default_rng(seed)
        parts = [[([float(v) for v in rng.normal(size=P)], int(rng.integers(1, 30))) for _ in range((2, 0, 1, 3, 1)[at] if n > 1 else 2)] for at in range(n)]
        got = report(parts)
        assert len(got) == n
        for r in got:
            mean = list(r["mean"])
            assert len(mean) == P
            for i in range(P):
                above = sum(g[i] for part in parts for g, t in part)
                below = sum(t for part in parts for g, t in part)
                assert math.isclose(mean[i], above / below, rel_tol=1e-9, abs_tol=1e-12)
        assert sum(r["sent"] for r in got) == 2 * (n - 1) * P
        assert sum(r["kept"] for r in got) == P
        assert max(r["kept"] for r in got) - min(r["kept"] for r in got) <= 1
''',
"torch, one case by hand": '''
import torch
def report_test(report):
    parts = [[([2.0, 4.0, 6.0, 8.0, 1.0], 3), ([1.0, 1.0, 1.0, 0.0, 5.0], 1)], [], [([9.0, 3.0, -1.0, 2.0, 6.0], 6)]]
    got = report(parts)
    want = torch.tensor([1.2, 0.8, 0.6, 1.0, 1.2], dtype=torch.float64)
    assert len(got) == 3
    for r in got:
        torch.testing.assert_close(torch.as_tensor(np.array(r["mean"], float)), want)
    kept = sorted(r["kept"] for r in got)
    assert kept == [1, 2, 2]
    assert sum(r["sent"] for r in got) == 20
''',
}
WRONG["report-test"] = {
"asserts nothing": '''
def report_test(report):
    report([[([1.0, 2.0], 2)], [([3.0, 4.0], 1)]])
''',
"only the mean": rt(sent="True", kept="True", spread="True"),
"no check of sent": rt(sent="True"),
"no check of kept": rt(kept="True", spread="True"),
"kept summed, spread not looked at": rt(spread="True"),
"spread looked at, kept not summed": rt(kept="True"),
"spread off by one: two allowed": rt(spread="max(r['kept'] for r in got) - min(r['kept'] for r in got) <= 2"),
"mean of rank 0 only": rt(over="got[:1]"),
"mean of the last rank only": rt(over="got[-1:]"),
"mean not looked at": rt(mean="True", size="True"),
"mean of means wanted": rt(want="np.mean([np.array(g) / t for g, t in flat], axis=0)"),
"mean over ranks wanted": rt(want="total / n"),
"no length looked at, in zip": rt(length="True"),
"== for floats": rt(mean="list(r['mean']) == list(want)"),
"sent of each rank the same": rt(extra="len({r['sent'] for r in got}) == 1"),
"kept as array_split wants": rt(extra="[r['kept'] for r in got] == [len(x) for x in np.array_split(np.zeros(P), n)]"),
"sent per micro-batch wanted": rt(sent="sum(r['sent'] for r in got) == 2 * (n - 1) * P * max(len(r) for r in parts)"),
"sent in bytes wanted": rt(sent="sum(r['sent'] for r in got) == 8 * 2 * (n - 1) * P"),
"sent at most": rt(sent="sum(r['sent'] for r in got) <= 2 * (n - 1) * P"),
"sent at least": rt(sent="sum(r['sent'] for r in got) >= 2 * (n - 1) * P"),
"kept at most P": rt(kept="sum(r['kept'] for r in got) <= P"),
"kept at least P": rt(kept="sum(r['kept'] for r in got) >= P"),
"kept of all P on each rank wanted": rt(kept="all(r['kept'] == P for r in got)"),
"one rank only": rt(cases="(one,)"),
"two ranks, remainder 1 only": rt(cases="(two,)"),
"P divides evenly, no remainder": rt(cases="([[([1.0, 2.0, 3.0, 4.0], 2), ([0.0, 1.0, 5.0, 1.0], 7)], [([3.0, 1.0, 1.0, 1.0], 1)]], [[([1.0, 2.0, 3.0], 2), ([5.0, 6.0, 1.0], 3)], [], [([1.0, 0.0, 2.0], 4)]])"),
"remainder 1 only": rt(cases="([[([1.0, 2.0, 3.0, 4.0], 2), ([0.0, 1.0, 5.0, 1.0], 7)], [], [([3.0, 1.0, 1.0, 1.0], 1)]],)"),
"equal tokens everywhere": rt(cases="([[([1.0, 2.0, 3.0, 4.0, 6.0], 2), ([0.0, 1.0, 5.0, 1.0, 2.0], 2)], [([2.0, 2.0, 7.0, 1.0, 1.0], 2), ([0.0, 1.0, 2.0, 1.0, 8.0], 2)], [([3.0, 1.0, 1.0, 1.0, 5.0], 2), ([1.0, 1.0, 6.0, 1.0, 4.0], 2)]],)"),
"one micro-batch on each rank": rt(cases="([[([1.0, 2.0, 3.0, 4.0, 6.0], 2)], [([2.0, 2.0, 7.0, 1.0, 1.0], 5)], [([3.0, 1.0, 1.0, 1.0, 5.0], 1)]],)"),
"no rank without micro-batches": rt(cases="([[([1.0, 2.0, 3.0, 4.0, 6.0], 2), ([0.0, 1.0, 5.0, 1.0, 2.0], 3)], [([2.0, 2.0, 7.0, 1.0, 1.0], 5)], [([3.0, 1.0, 1.0, 1.0, 5.0], 1)]],)"),
"all gradients the same number": rt(cases="([[([1.0] * 5, 2), ([1.0] * 5, 3)], [], [([1.0] * 5, 5)]],)"),
"tolerance of 1": rt(mean="np.allclose(r['mean'], want, atol=1.0)"),
"first number of the mean only": rt(mean="np.isclose(np.ravel(r['mean'])[0], want[0])", size="True"),
"only that the ranks agree on the mean": rt(mean="np.allclose(r['mean'], got[0]['mean'])"),
"sum of the mean only": rt(mean="np.isclose(np.sum(r['mean']), np.sum(want))"),
"fails for every report": '''
def report_test(report):
    assert False
''',
"returns False instead of failing": '''
def report_test(report):
    got = report([[([1.0, 2.0], 2)], [([3.0, 4.0], 1)]])
    return all(np.allclose(r["mean"], [4 / 3, 2.0]) for r in got)
''',
"knows right reports by asking them twice": rt(extra="report(copy.deepcopy(parts)) == got", mean="True", sent="True", kept="True", spread="True"),
"too few cases: the empty rank is the only one": rt(cases="([[], [([2.0, 1.0, 4.0], 3)]],)"),
"kept as sorted largest first wanted": rt(extra="[r['kept'] for r in got] == sorted((r['kept'] for r in got), reverse=True)"),
}

# ================================================================ pipeline
RIGHT["pipeline"] = {
"plain": '''
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} rows do not divide {sequences} sequences")
    turns = sequences // rows + stages - 1
    return turns * (fixed + each * rows), (stages - 1) / turns
''',
"divmod, other order": '''
def pipeline(stages, sequences, rows, fixed, each):
    m, left = divmod(sequences, rows)
    if left != 0:
        raise ValueError("sequences %d, rows %d" % (sequences, rows))
    turn = each * rows + fixed
    return turn * m + turn * (stages - 1), 1 - m / (m + stages - 1)
''',
"numpy": '''
def pipeline(stages, sequences, rows, fixed, each):
    if np.mod(sequences, rows) != 0:
        raise ValueError(sequences, rows)
    m = np.float64(sequences) / rows
    t = m + stages - 1
    return np.array([t * (fixed + each * rows), (stages - 1) / t])
''',
"torch": '''
import torch
def pipeline(stages, sequences, rows, fixed, each):
    m = torch.tensor(sequences, dtype=torch.float64) / rows
    if m != m.round():
        raise ValueError(f"rows={rows} sequences={sequences}")
    turns = m + stages - 1
    return (turns * (fixed + each * rows)).item(), ((stages - 1) / turns).item()
''',
"fractions": '''
from fractions import Fraction as F
def pipeline(stages, sequences, rows, fixed, each):
    m = F(sequences, rows)
    if m.denominator != 1:
        raise ValueError(f"a part of a micro-batch: {sequences} / {rows}")
    turns = int(m) + stages - 1
    return float(turns * (F(fixed) + F(each) * rows)), float(F(stages - 1, turns))
''',
}
def pl(m="sequences // rows", turns="m + stages - 1", turn="fixed + each * rows", idle="(stages - 1) / turns", seconds="turns * turn", test="sequences % rows", err='raise ValueError(f"{rows} does not divide {sequences}")', ret="seconds, idle", pre="pass"):
    return f'''
def pipeline(stages, sequences, rows, fixed, each):
    {pre}
    if {test}:
        {err}
    m = {m}
    turns = {turns}
    turn = {turn}
    seconds = {seconds}
    idle = {idle}
    return {ret}
'''
WRONG["pipeline"] = {
"idle over ideal": pl(idle="(stages - 1) / m"),
"p over the whole": pl(idle="stages / turns"),
"idle from m + p": pl(idle="(stages - 1) / (m + stages)"),
"busy share": pl(idle="m / turns"),
"percent": pl(idle="100 * (stages - 1) / turns"),
"idle seconds": pl(idle="(stages - 1) * turn"),
"idle turns": pl(idle="stages - 1"),
"no bubble in the time": pl(seconds="m * turn"),
"m + p turns": pl(turns="m + stages"),
"m times p turns": pl(turns="m * stages"),
"twice m + p - 1, forward and backward": pl(seconds="2 * turns * turn"),
"twice the bubble": pl(turns="m + 2 * (stages - 1)"),
"fixed cost once a step": pl(seconds="fixed + turns * each * rows"),
"fixed cost of every row": pl(turn="(fixed + each) * rows"),
"each forgotten rows": pl(turn="fixed + each"),
"a turn of a stage is 1/p of it": pl(turn="(fixed + each * rows) / stages"),
"m is the number of sequences": pl(m="sequences"),
"m is the rows": pl(m="rows"),
"rounded up, no refusal": pl(test="False", m="-(-sequences // rows)"),
"rounded down, no refusal": pl(test="False"),
"a part of a micro-batch": pl(test="False", m="sequences / rows"),
"refused only if rows > sequences": pl(test="rows > sequences"),
"refused only if rows < sequences": pl(test="sequences % rows and rows < sequences"),
"message without numbers": pl(err='raise ValueError("rows must divide sequences")'),
"message with rows only": pl(err='raise ValueError(f"{rows} does not divide")'),
"message with sequences only": pl(err='raise ValueError(f"{sequences} cannot be cut")'),
"message with the remainder": pl(err='raise ValueError(f"{sequences % rows} of {sequences} left over")'),
"assert": pl(err='assert False, f"{rows} does not divide {sequences}"'),
"TypeError": pl(err='raise TypeError(f"{rows} does not divide {sequences}")'),
"prints and returns None": pl(err='print(f"{rows} does not divide {sequences}"); return None'),
"nan": pl(err='return float("nan"), float("nan")'),
"swapped": pl(ret="idle, seconds"),
"seconds only": pl(ret="seconds"),
"milliseconds": pl(ret="seconds * 1000, idle"),
"idle rounded": pl(idle="round((stages - 1) / turns, 3)"),
"one stage is idle too": pl(idle="max(stages - 1, 1) / turns"),
"bubble of all stages": pl(idle="stages * (stages - 1) / turns"),
"fewer micro-batches than stages refused": pl(test="sequences % rows or sequences // rows < stages"),
"micro-batches must divide by stages": pl(test="sequences % rows or (sequences // rows) % stages"),
"sequences must divide by stages too": pl(test="sequences % rows or sequences % stages"),
"rows of stages: divides the wrong way": pl(test="rows % sequences"),
"idle limited to a half": pl(idle="min((stages - 1) / turns, 0.5)"),
"turns in 32 bits": pl(turns="int(np.int64(m + stages - 1).astype(np.int32))", m="sequences"),
"sequences in 32 bits": pl(pre="sequences = int(np.int64(sequences).astype(np.int32))"),
"remembers the first turn": '''
cost = {}
def pipeline(stages, sequences, rows, fixed, each):
    if sequences % rows:
        raise ValueError(f"{rows} does not divide {sequences}")
    turn = cost.setdefault(rows, fixed + each * rows)
    turns = sequences // rows + stages - 1
    return turns * turn, (stages - 1) / turns
''',
"fixed cost only while filling": pl(seconds="m * each * rows + (stages - 1) * (fixed + each * rows)"),
"the bubble costs fixed only": pl(seconds="m * turn + (stages - 1) * fixed"),
"whole seconds": pl(seconds="int(turns * turn)"),
}

# ================================================================ best-turn
RIGHT["best-turn"] = {
"read off": '''
def best_turn():
    return 7
''',
"computed": '''
def best_turn():
    return min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: (420 // r + 7) * (0.018 + 0.02 * r))
''',
"numpy": '''
def best_turn():
    r = np.array([r for r in range(1, 421) if 420 % r == 0])
    return r[np.argmin((420 / r + 7) * (18 + 20 * r))]
''',
"with pipeline": '''
def best_turn():
    best = None
    for rows in range(1, 421):
        try:
            s, idle = pipeline(8, 420, rows, 0.018, 0.020)
        except ValueError:
            continue
        if best is None or s < best[0]:
            best = s, rows
    return best[1]
''',
}
WRONG["best-turn"] = {why: f'''
def best_turn():
    return {value}
''' for why, value in {
"smallest bubble": "1", "fewest turns": "420", "the number of micro-batches": "60", "one before": "6", "one after": "10",
"8 does not divide 420": "8", "unrounded optimum of the formula": "round((0.018 * 420 / (7 * 0.02)) ** 0.5, 2)", "best at 4 stages or so": "12", "stage count confused": "15",
"as many rows as make m = p": "52", "milliseconds": "0.158", "the seconds of the step": "10.586",
"text": "'7'", "list": "[7]", "None": "None", "pair": "(7, 60)", "zero": "0", "negative": "-7", "14": "14", "5": "5", "the fixed cost": "18", "each": "20", "True": "True", "28": "28", "a set of all near ones": "{6, 7, 10}", "nearly": "7.2",
}.items()}
WRONG["best-turn"]["smallest bubble, computed"] = '''
def best_turn():
    return min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: pipeline(8, 420, r, 0.018, 0.02)[1])
'''
WRONG["best-turn"]["fixed cost once, computed"] = '''
def best_turn():
    return min((r for r in range(1, 421) if 420 % r == 0), key=lambda r: 0.018 + (420 // r + 7) * 0.02 * r)
'''

# ================================================================ exact-step
RIGHT["exact-step"] = {
"one flat array": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    total = {n: np.zeros(weights[n].shape) for n in names}
    loss = tokens = 0
    for micro in micro_batches:
        l, g, t = summed(weights, micro)
        loss += l; tokens += t
        for n in names:
            total[n] += g[n]
    flat = rank.all_reduce(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]]))
    loss, tokens = flat[-2:]
    if tokens == 0:
        raise ValueError("no target tokens on any rank")
    grad = flat[:-2] / tokens
    norm = np.linalg.norm(grad)
    if norm > max_norm:
        grad = grad * (max_norm / norm)
    new, at = {}, 0
    for n in names:
        size = weights[n].size
        new[n] = weights[n] - rate * grad[at:at + size].reshape(weights[n].shape)
        at += size
    return new, loss / tokens
''',
"two collectives: counts first, scaled at home": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    parts = [summed(weights, m) for m in micro_batches]
    counts = rank.all_reduce(np.array([sum(p[0] for p in parts), sum(p[2] for p in parts)], float))
    if not counts[1]:
        raise ValueError("empty step")
    names = sorted(weights.keys())
    own = np.zeros(sum(weights[n].size for n in names))
    for _, g, _ in reversed(parts):
        own += np.hstack([np.ravel(g[n]) for n in names])
    grad = rank.all_reduce(own / counts[1])
    scale = min(1.0, max_norm / np.sqrt(grad @ grad)) if grad.any() else 1.0
    cuts = np.cumsum([weights[n].size for n in names])[:-1]
    new = {n: weights[n] - rate * scale * g.reshape(weights[n].shape) for n, g in zip(names, np.split(grad, cuts))}
    return {n: new[n] for n in weights}, float(counts[0] / counts[1])
''',
"reduce_scatter and all_gather": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    flat = np.zeros(2 + sum(weights[n].size for n in names))
    for m in micro_batches:
        l, g, t = summed(weights, m)
        flat += np.concatenate([[l], [t]] + [g[n].reshape(-1) for n in names])
    flat = rank.all_gather(rank.reduce_scatter(flat), len(flat))
    if flat[1] == 0:
        raise ValueError("none")
    g = flat[2:] / flat[1]
    g *= max_norm / max(max_norm, float((g ** 2).sum() ** 0.5))
    out, k = {}, 0
    for n in names:
        out[n] = weights[n] - rate * g[k:k + weights[n].size].reshape(weights[n].shape)
        k += weights[n].size
    return out, flat[0] / flat[1]
''',
"torch arithmetic": '''
import torch
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    grads = [torch.zeros(weights[n].shape, dtype=torch.float64) for n in names]
    loss, tokens = 0.0, 0
    for m in micro_batches:
        l, g, t = summed(weights, m)
        if t == 0:
            continue
        loss, tokens = loss + float(l), tokens + int(t)
        for a, n in zip(grads, names):
            a.add_(torch.from_numpy(np.asarray(g[n])))
    flat = torch.cat([a.flatten() for a in grads] + [torch.tensor([loss, tokens], dtype=torch.float64)])
    flat = torch.from_numpy(rank.all_reduce(flat.numpy()))
    if flat[-1].item() == 0:
        raise ValueError("no tokens")
    g = flat[:-2] / flat[-1]
    norm = g.norm()
    if norm > max_norm:
        g = g * max_norm / norm
    pieces = g.split([weights[n].size for n in names])
    return ({n: weights[n] - rate * p.numpy().reshape(weights[n].shape) for n, p in zip(names, pieces)},
            (flat[-2] / flat[-1]).item())
''',
}
def es(names="sorted(weights)", own="l, g, t = summed(weights, micro)", loop="micro_batches", skip="pass", flat="rank.all_reduce(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]]))",
       test="T == 0", err='raise ValueError("no target tokens")', grad="flat[:-2] / T", norm="np.linalg.norm(grad)", clip="if norm > max_norm: grad = grad * (max_norm / norm)",
       new="weights[n] - rate * g", ret="new, L / T", pre="pass", before="pass", end="pass", after_unpack="pass"):
    return f'''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = {names}
    {pre}
    total = {{n: np.zeros(weights[n].shape) for n in names}}
    loss = tokens = 0
    for micro in {loop}:
        {own}
        {skip}
        loss += l; tokens += t
        for n in names:
            total[n] = total[n] + g[n]
    {before}
    flat = {flat}
    L, T = flat[-2:]
    {after_unpack}
    if {test}:
        {err}
    grad = {grad}
    norm = {norm}
    {clip}
    new, at = {{}}, 0
    for n in names:
        g = grad[at:at + weights[n].size].reshape(weights[n].shape)
        at += weights[n].size
        new[n] = {new}
    {end}
    return {ret}
'''
WRONG["exact-step"] = {
"names in this rank's own order": es(names="list(weights)"),
"names hard-coded as here": es(names="['bias', 'head', 'table']"),
"mean of the ranks' means": es(before="total = {n: a / max(tokens, 1) for n, a in total.items()}", grad="flat[:-2] / rank.world_size"),
"sum over micro-batches of means, over their number": es(own="l, g, t = summed(weights, micro); g = {n: a / max(t, 1) for n, a in g.items()}", before="total = {n: a / max(len(micro_batches), 1) for n, a in total.items()}", grad="flat[:-2] / rank.world_size"),
"divided by world_size as well": es(grad="flat[:-2] / T / rank.world_size"),
"summed, not divided": es(grad="flat[:-2]"),
"divided by own tokens": es(grad="flat[:-2] / max(tokens, 1)"),
"divided by the number of micro-batches too": es(grad="flat[:-2] / T / max(len(micro_batches), 1)"),
"multiplied by world_size like DDP": es(grad="flat[:-2] / T * rank.world_size"),
"no clipping": es(clip="pass"),
"always scaled to max_norm": es(clip="grad = grad * (max_norm / norm)"),
"clipped before the division": es(grad="flat[:-2]", clip="grad = grad * min(1, max_norm / norm) / T"),
"each rank clips its own": es(before="s = np.sqrt(sum((a ** 2).sum() for a in total.values())) / max(tokens, 1); total = {n: a * min(1, max_norm / max(s, 1e-30)) for n, a in total.items()}", clip="pass"),
"each array clipped by itself": es(clip="pass", new="weights[n] - rate * g * min(1, max_norm / max(np.linalg.norm(g), 1e-30))"),
"values clipped": es(clip="grad = np.clip(grad, -max_norm, max_norm)"),
"norm: largest number": es(norm="np.abs(grad).max()"),
"norm: sum of absolute numbers": es(norm="np.abs(grad).sum()"),
"norm squared": es(norm="grad @ grad"),
"norm with loss and tokens in it": es(norm="np.linalg.norm(np.append(grad, flat[-2:] / T))"),
"norm with summed loss and tokens in it": es(norm="np.linalg.norm(flat) / T"),
"norm of the update with rate": es(norm="rate * np.linalg.norm(grad)"),
"sum of the arrays' norms": es(norm="sum(np.linalg.norm(p) for p in np.split(grad, np.cumsum([weights[n].size for n in names])[:-1]))"),
"max_norm without the norm": es(clip="if norm > max_norm: grad = grad * max_norm"),
"clip upside down": es(clip="if norm < max_norm: grad = grad * (max_norm / norm)"),
"max_norm shared by the ranks": es(clip="if norm > max_norm / rank.world_size: grad = grad * (max_norm / rank.world_size / norm)"),
"max_norm below 1 is 1": es(clip="if norm > max(1, max_norm): grad = grad * (max(1, max_norm) / norm)"),
"open, torch's way: max_norm / (norm + 1e-6)": es(clip="grad = grad * min(1, max_norm / (norm + 1e-6))"),
"plus": es(new="weights[n] + rate * g"),
"rate forgotten": es(new="weights[n] - g"),
"rate twice": es(new="weights[n] - rate * rate * g"),
"own loss": es(ret="new, loss / max(tokens, 1)"),
"summed loss": es(ret="new, L"),
"loss over ranks": es(ret="new, L / rank.world_size"),
"mean of the ranks' losses": es(before="loss = loss / max(tokens, 1)", ret="new, L / rank.world_size"),
"mean of the micro-batches' losses": es(own="l, g, t = summed(weights, micro); l = l / max(t, 1)", ret="new, L / max(1, len(micro_batches) * rank.world_size)"),
"loss of the last micro-batch": es(skip="loss = 0"),
"tokens of the last micro-batch": es(skip="tokens = 0"),
"gradient of the last micro-batch": es(skip="total = {n: 0 for n in names}"),
"first micro-batch only": es(loop="micro_batches[:1]"),
"last micro-batch dropped": es(loop="micro_batches[:-1] or micro_batches"),
"stops at an empty micro-batch": es(skip="if t == 0: break"),
"all labels count, -100 too": es(own="l, g, t = summed(weights, micro); t = len(micro['inputs'])"),
"weights move after every micro-batch": es(pre="old = weights; weights = {n: np.array(a) for n, a in weights.items()}", own="l, g, t = summed(weights, micro); weights = {n: weights[n] - rate * g[n] / max(t, 1) for n in names}"),
"loss after the step": es(end="L = rank.all_reduce(np.array([sum(summed(new, m)[0] for m in micro_batches)], float))[0]"),
"returns early without micro-batches": es(pre="\n    if not micro_batches: return dict(weights), 0.0"),
"keeps old weights without micro-batches": es(end="new = new if tokens else {n: np.array(weights[n]) for n in names}"),
"raises on a rank without tokens": es(before="\n    if tokens == 0: raise ValueError('no tokens')"),
"raises after the sum, if its own are 0": es(test="tokens == 0"),
"nan instead of ValueError": es(test="False"),
"old weights instead of ValueError": es(err="return dict(weights), 0.0"),
"only rank 0 raises": es(test="T == 0 and rank.rank == 0"),
"AssertionError": es(err="assert False"),
"refuses a loss of zero": es(test="L == 0"),
"refuses one single token": es(test="T < 2"),
"refuses if any rank has no token": es(flat="rank.all_reduce(np.concatenate([total[n].ravel() for n in names] + [[float(tokens == 0)], [loss, tokens]]))", grad="(flat[:-3] / T)", test="flat[-3]"),
"writes into the weights": es(new="np.subtract(weights[n], rate * g, out=weights[n])"),
"writes into the dictionary": es(end="weights.update(new)"),
"returns the same dictionary": es(end="\n    for n in names: weights[n] = new[n]", ret="weights, L / T"),
"pops the micro-batches": es(loop="iter(lambda: micro_batches.pop() if micro_batches else None, None)"),
"sorts the micro-batches in place": es(pre="micro_batches.reverse()"),
"all_reduce for every micro-batch": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    most = int(max(rank.all_gather(np.array([float(len(micro_batches))]))))
    size = sum(weights[n].size for n in names)
    total = np.zeros(size + 2)
    for i in range(most):
        own = np.zeros(size + 2)
        if i < len(micro_batches):
            l, g, t = summed(weights, micro_batches[i])
            own = np.concatenate([g[n].ravel() for n in names] + [[l, t]])
        total += rank.all_reduce(own)
    L, T = total[-2:]
    if T == 0:
        raise ValueError
    grad = total[:-2] / T
    grad = grad * min(1, max_norm / np.linalg.norm(grad))
    new, at = {}, 0
    for n in names:
        new[n] = weights[n] - rate * grad[at:at + weights[n].size].reshape(weights[n].shape); at += weights[n].size
    return new, L / T
''',
"all_reduce for every array": es(flat="np.concatenate([rank.all_reduce(total[n]).ravel() for n in names] + [rank.all_reduce(np.array([loss, tokens], float))])"),
"three collectives: gradients, loss, tokens": es(flat="np.concatenate([rank.all_reduce(np.concatenate([total[n].ravel() for n in names])), rank.all_reduce(np.array([float(loss)])), rank.all_reduce(np.array([float(tokens)]))])"),
"everybody's whole gradients are gathered": es(flat="rank.all_gather(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]])).reshape(rank.world_size, -1).sum(0)"),
"everybody's whole gradients are gathered, own first": es(flat="np.roll(rank.all_gather(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]])).reshape(rank.world_size, -1), -rank.rank, axis=0).sum(0)"),
"weights averaged after local steps": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss = tokens = 0
    total = {n: np.zeros(weights[n].shape) for n in names}
    for m in micro_batches:
        l, g, t = summed(weights, m)
        loss += l; tokens += t
        for n in names: total[n] += g[n]
    flat = np.concatenate([total[n].ravel() for n in names]) / max(tokens, 1)
    flat = flat * min(1, max_norm / max(np.linalg.norm(flat), 1e-30))
    w = np.concatenate([weights[n].ravel() for n in names]) - rate * flat
    w = rank.all_reduce(np.concatenate([w, [loss, tokens]]))
    if w[-1] == 0:
        raise ValueError
    new, at = {}, 0
    for n in names:
        new[n] = w[at:at + weights[n].size].reshape(weights[n].shape) / rank.world_size; at += weights[n].size
    return new, w[-2] / w[-1]
''',
"weights averaged by tokens after local steps": '''
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    loss = tokens = 0
    total = {n: np.zeros(weights[n].shape) for n in names}
    for m in micro_batches:
        l, g, t = summed(weights, m)
        loss += l; tokens += t
        for n in names: total[n] += g[n]
    flat = np.concatenate([total[n].ravel() for n in names]) / max(tokens, 1)
    flat = flat * min(1, max_norm / max(np.linalg.norm(flat), 1e-30))
    w = np.concatenate([weights[n].ravel() for n in names]) - rate * flat
    w = rank.all_reduce(np.concatenate([w * tokens, [loss, tokens]]))
    if w[-1] == 0:
        raise ValueError
    new, at = {}, 0
    for n in names:
        new[n] = w[at:at + weights[n].size].reshape(weights[n].shape) / w[-1]; at += weights[n].size
    return new, w[-2] / w[-1]
''',
"the norm is added up in this rank's own order of names: not the same bits": es(norm="0.0", clip='''
    where, k = {}, 0
    for n in names:
        where[n] = grad[k:k + weights[n].size]; k += weights[n].size
    norm = float(sum((where[n] ** 2).sum() for n in weights) ** 0.5)
    if norm > max_norm: grad = grad * (max_norm / norm)'''),
"its own part is added at home to the others': not the same bits": es(flat="(lambda own: (rank.all_reduce(own) - own) + own)(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]]))"),
"loss from own and the others' part: not the same bits": es(ret="new, (L - loss) / T + loss / T"),
"the weights come back flat": es(ret="np.concatenate([new[n].ravel() for n in names]), L / T"),
"arrays come back flat": es(new="weights[n].ravel() - rate * g.ravel()"),
"gradients come back": es(new="g"),
"loss first": es(ret="L / T, new"),
"weights only": es(ret="new"),
"norm too": es(ret="new, L / T, norm"),
"momentum from the call before": '''
before = {}
def exact_step(rank, weights, micro_batches, rate, max_norm):
    names = sorted(weights)
    flat = np.zeros(sum(weights[n].size for n in names) + 2)
    for m in micro_batches:
        l, g, t = summed(weights, m)
        flat += np.concatenate([g[n].ravel() for n in names] + [[l, t]])
    flat = rank.all_reduce(flat)
    if flat[-1] == 0:
        raise ValueError
    grad = flat[:-2] / flat[-1]
    key = (rank.rank, len(grad))
    grad = grad + 0.9 * before.get(key, 0)
    before[key] = grad
    grad = grad * min(1, max_norm / np.linalg.norm(grad))
    new, at = {}, 0
    for n in names:
        new[n] = weights[n] - rate * grad[at:at + weights[n].size].reshape(weights[n].shape); at += weights[n].size
    return new, flat[-2] / flat[-1]
''',
"sums are kept from call to call": '''
def exact_step(rank, weights, micro_batches, rate, max_norm, sums={}):
    names = sorted(weights)
    flat = sums.setdefault((rank.rank, rank.world_size), np.zeros(sum(weights[n].size for n in names) + 2))
    for m in micro_batches:
        l, g, t = summed(weights, m)
        flat += np.concatenate([g[n].ravel() for n in names] + [[l, t]])
    flat = rank.all_reduce(flat)
    if flat[-1] == 0:
        raise ValueError
    grad = flat[:-2] / flat[-1]
    grad = grad * min(1, max_norm / np.linalg.norm(grad))
    new, at = {}, 0
    for n in names:
        new[n] = weights[n] - rate * grad[at:at + weights[n].size].reshape(weights[n].shape); at += weights[n].size
    return new, flat[-2] / flat[-1]
''',
"half precision on the wire": es(flat="rank.all_reduce(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]]).astype(np.float16)).astype(float)"),
"single precision on the wire: not exact": es(flat="rank.all_reduce(np.concatenate([total[n].ravel() for n in names] + [[loss, tokens]]).astype(np.float32)).astype(float)"),
"a gradient of zero divides by zero": es(norm="float(np.linalg.norm(grad))", clip="grad = grad * min(1, max_norm / norm)", test="T == 0"),
"weight decay": es(new="weights[n] * (1 - 0.01 * rate) - rate * g"),
"summed over two-dimensional arrays only (no bias)": es(new="weights[n] - rate * g * (weights[n].ndim > 1)"),
"bias is not clipped": es(norm="np.linalg.norm(grad[weights['bias'].size:])"),
"names by size, biggest last, ties in the rank's order": es(names="sorted(weights, key=lambda n: weights[n].size)"),
"clips by a norm of rank 0 only": es(clip="if rank.rank == 0 and norm > max_norm: grad = grad * (max_norm / norm)"),
"equal spread assumed: tokens of this rank times ranks": es(grad="flat[:-2] / max(tokens * rank.world_size, 1)"),
}
