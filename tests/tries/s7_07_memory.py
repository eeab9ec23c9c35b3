WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- state-bytes
def sb(body):
    return "def state_bytes(parts):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

RIGHT["state-bytes"] = {
    "loop": sb("""
total = 0
for weights, trained, weight, gradient, optimizer in parts:
    each = weight
    if trained:
        each += gradient + optimizer
    total += weights * each
return total"""),
    "generator sum": sb("return sum(n * (w + t * (g + o)) for n, t, w, g, o in parts)"),
    "numpy float64": sb("""
table = np.array(parts, dtype=float).reshape(-1, 5)
n, t, w, g, o = table.T
return float(np.sum(n * (w + t * (g + o))))"""),
    "torch float64": sb("""
if not parts:
    return 0
table = torch.tensor([[float(x) for x in part] for part in parts], dtype=torch.float64)
each = table[:, 2] + torch.where(table[:, 1] > 0, table[:, 3] + table[:, 4], 0.0)
return (table[:, 0] * each).sum().item()"""),
}
WRONG["state-bytes"] = {
    "frozen parts pay gradient and optimizer, too": sb("return sum(n * (w + g + o) for n, t, w, g, o in parts)"),
    "frozen part pays its gradient": sb("return sum(n * (w + g + (o if t else 0)) for n, t, w, g, o in parts)"),
    "frozen part pays its optimizer states": sb("return sum(n * (w + o + (g if t else 0)) for n, t, w, g, o in parts)"),
    "frozen parts are left out": sb("return sum(n * (w + g + o) for n, t, w, g, o in parts if t)"),
    "gradient forgotten": sb("return sum(n * (w + (o if t else 0)) for n, t, w, g, o in parts)"),
    "weight bytes forgotten where trained": sb("return sum(n * ((g + o) if t else w) for n, t, w, g, o in parts)"),
    "each part floored to whole bytes": sb("return sum(int(n * (w + t * (g + o))) for n, t, w, g, o in parts)"),
    "int64 array cuts fractional bytes": sb("""
table = np.array(parts).astype(np.int64).reshape(-1, 5)
n, t, w, g, o = table.T
return int((n * (w + t * (g + o))).sum())"""),
    "no parts fails (max/unpack of empty array)": sb("""
n, t, w, g, o = np.array(parts, dtype=float).T
return float((n * (w + t * (g + o))).sum())"""),
    "recursive: many parts end in RecursionError": sb("""
if not parts:
    return 0
n, t, w, g, o = parts[0]
return n * (w + (g + o if t else 0)) + state_bytes(parts[1:])"""),
    "empties the caller's list": sb("""
total = 0
while parts:
    n, t, w, g, o = parts.pop()
    total += n * (w + (g + o if t else 0))
return total"""),
    "same parts counted once (set)": sb("return sum(n * (w + (g + o if t else 0)) for n, t, w, g, o in set(parts))"),
    "total kept between calls": "seen_bytes = [0]\n" + sb("""
for n, t, w, g, o in parts:
    seen_bytes[0] += n * (w + (g + o if t else 0))
return seen_bytes[0]"""),
    "GB instead of bytes": sb("return sum(n * (w + (g + o if t else 0)) for n, t, w, g, o in parts) / 1e9"),
    "last part's trained decides for all": sb("""
total = extra = 0
for n, t, w, g, o in parts:
    total += n * w
    extra += n * (g + o)
return total + (extra if parts and t else 0)"""),
    "order of tuple: gradient and optimizer of the first trained part used for all": sb("""
trained = [p for p in parts if p[1]]
g, o = (trained[0][3], trained[0][4]) if trained else (0, 0)
return sum(n * (w + (g + o if t else 0)) for n, t, w, _, _ in parts)"""),
    "return inside the loop: first part only": sb("""
total = 0
for n, t, w, g, o in parts:
    total += n * (w + (g + o if t else 0))
    return total
return total"""),
}

# ---------------------------------------------------------------- slot-bytes
def sl(body):
    return ("def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):\n"
            + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n")

RIGHT["slot-bytes"] = {
    "closed formula": sl("""
values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
return layers * (2 * values + 4 * heads), 10 * vocabulary"""),
    "loop over tensors kept": sl("""
kept = [hidden] * 4 + [heads * head_size] * 2 + [key_heads * head_size] * 2 + [intermediate] * 4
total = 0
for _ in range(layers):
    for one in kept:
        total += 2 * one
    total += 4 * heads
logits = sum(size * vocabulary for size in (2, 4, 4))
return total, logits"""),
    "numpy dot": sl("""
values = np.dot([4, 2, 2, 4], [hidden, heads * head_size, key_heads * head_size, intermediate])
return np.array([layers * (2 * values + 4 * heads), 10 * vocabulary])"""),
    "tensor": sl("""
sizes = torch.tensor([4 * hidden, 2 * heads * head_size, 2 * key_heads * head_size, 4 * intermediate])
return float(layers * (sizes.sum() * 2 + 4 * heads)), float((2 + 4 + 4) * vocabulary)"""),
}
F = "values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate\n"
WRONG["slot-bytes"] = {
    "queries taken as hidden": sl("values = 4*hidden + 2*hidden + 2*key_heads*head_size + 4*intermediate\nreturn layers*(2*values + 4*heads), 10*vocabulary"),
    "head size = hidden // heads": sl("head_size = hidden // heads\n" + F + "return layers*(2*values + 4*heads), 10*vocabulary"),
    "keys and values with all heads": sl("values = 4*hidden + 4*heads*head_size + 4*intermediate\nreturn layers*(2*values + 4*heads), 10*vocabulary"),
    "logits once per layer": sl(F + "return layers*(2*values + 4*heads), layers*10*vocabulary"),
    "logits in bf16 alone": sl(F + "return layers*(2*values + 4*heads), 2*vocabulary"),
    "logits and float copy, gradient forgotten": sl(F + "return layers*(2*values + 4*heads), 6*vocabulary"),
    "sums of heads forgotten": sl(F + "return layers*2*values, 10*vocabulary"),
    "sums once, not per layer": sl(F + "return layers*2*values + 4*heads, 10*vocabulary"),
    "sums in two bytes": sl(F + "return layers*2*(values + heads), 10*vocabulary"),
    "sums in float32 counted as values (8 bytes)": sl(F + "return layers*2*(values + 4*heads), 10*vocabulary"),
    "sums for key heads": sl(F + "return layers*(2*values + 4*key_heads), 10*vocabulary"),
    "values, not bytes": sl(F + "return layers*(values + heads), 10*vocabulary"),
    "swapped": sl(F + "return 10*vocabulary, layers*(2*values + 4*heads)"),
    "product of gate and up forgotten": sl("values = 4*hidden + 2*heads*head_size + 2*key_heads*head_size + 3*intermediate\nreturn layers*(2*values + 4*heads), 10*vocabulary"),
    "one norm only": sl("values = 2*hidden + 2*heads*head_size + 2*key_heads*head_size + 4*intermediate\nreturn layers*(2*values + 4*heads), 10*vocabulary"),
    "keys without values": sl("values = 4*hidden + 2*heads*head_size + key_heads*head_size + 4*intermediate\nreturn layers*(2*values + 4*heads), 10*vocabulary"),
    "one layer": sl(F + "return 2*values + 4*heads, 10*vocabulary"),
    "sum instead of pair": sl(F + "return layers*(2*values + 4*heads) + 10*vocabulary"),
    "layers include the logits": sl(F + "logits = 10*vocabulary\nreturn layers*(2*values + 4*heads) + logits, logits"),
    "KB (1000)": sl(F + "return layers*(2*values + 4*heads)/1000, 10*vocabulary/1000"),
}

# ---------------------------------------------------------------- chunked-loss
def cl(body):
    return "def chunked_loss(hidden, head, labels, chunk):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

PIECE = """
def piece(h, y):
    return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
"""
FUSED = '''
class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, bias, labels, chunk):
        ctx.save_for_backward(hidden, weight, bias, labels)
        ctx.chunk = chunk
        total = torch.zeros((), dtype=torch.float32)
        for a in range(0, len(labels), chunk):
            total += functional.cross_entropy(functional.linear(hidden[a:a + chunk], weight, bias).float(),
                                              labels[a:a + chunk], ignore_index=-100, reduction="sum")
        return total

    @staticmethod
    def backward(ctx, grad):
        hidden, weight, bias, labels = ctx.saved_tensors
        gh = torch.zeros_like(hidden)
        gw = torch.zeros_like(weight) if ctx.needs_input_grad[1] else None
        gb = torch.zeros_like(bias) if bias is not None and ctx.needs_input_grad[2] else None
        for a in range(0, len(labels), ctx.chunk):
            h, y = hidden[a:a + ctx.chunk], labels[a:a + ctx.chunk]
            keep = y != -100
            p = functional.linear(h, weight, bias).float().softmax(-1)
            p[torch.arange(len(y))[keep], y[keep]] -= 1
            p *= keep[:, None]
            p = (p * SCALE).to(hidden.dtype)
            gh[a:a + ctx.chunk] = p @ weight
            if gw is not None:
                gw += p.T @ h
            if gb is not None:
                gb += p.sum(0)
        return gh, gw, gb, None, None


'''
RIGHT["chunked-loss"] = {
    "checkpointed loop over split": cl(PIECE + """
total = torch.zeros((), dtype=torch.float32, device=hidden.device)
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "index ranges, stack": cl(PIECE + """
return torch.stack([checkpoint(piece, hidden[a:a + chunk], labels[a:a + chunk], use_reentrant=False)
                    for a in range(0, len(labels), chunk)]).sum()"""),
    "even pieces by torch.chunk with ceil": cl(PIECE + """
pieces = -(-len(labels) // chunk)
return sum(checkpoint(piece, h, y, use_reentrant=False)
           for h, y in zip(hidden.chunk(pieces), labels.chunk(pieces)))"""),
    "own autograd.Function, recompute in backward": FUSED.replace("SCALE", "grad") + cl(
        "return Fused.apply(hidden, head.weight, head.bias, labels, chunk)"),
    "targets only, then chunks": cl(PIECE + """
keep = (labels != loop.IGNORE).nonzero().squeeze(1)
total = 0.0 * hidden.float().sum() + 0.0 * sum(p.float().sum() for p in head.parameters())
for index in keep.split(chunk):
    total = total + checkpoint(lambda h, i: piece(h[i], labels[i]), hidden, index, use_reentrant=False)
return total"""),
    "logsumexp minus target score": cl("""
def piece(h, y):
    logits = head(h).float()
    keep = y != loop.IGNORE
    target = logits.gather(1, y.clamp(min=0)[:, None]).squeeze(1)
    return ((logits.logsumexp(1) - target) * keep).sum()
losses = []
for a in range(0, hidden.shape[0], chunk):
    losses.append(checkpoint(piece, hidden[a:a + chunk], labels[a:a + chunk], use_reentrant=False))
return sum(losses)"""),
}
LOOP = """
total = 0
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""
WRONG["chunked-loss"] = {
    "all logits at once": cl("return functional.cross_entropy(head(hidden).float(), labels, reduction='sum')"),
    "chunks without checkpoint": cl(PIECE + "return sum(piece(h, y) for h, y in zip(hidden.split(chunk), labels.split(chunk)))"),
    "mean of each chunk": cl(PIECE.replace('reduction="sum"', 'reduction="mean"') + LOOP),
    "divided by the targets": cl(PIECE + LOOP.replace("return total", "return total / (labels != loop.IGNORE).sum()")),
    "mean x targets: nan for a chunk without target": cl(PIECE.replace(', reduction="sum")', ") * (y != loop.IGNORE).sum()") + LOOP),
    "mean x slots: ignored ones count": cl(PIECE.replace(', reduction="sum")', ") * len(y)") + LOOP),
    "no float32: cross entropy in bf16": cl(PIECE.replace(".float()", "") + LOOP),
    "float only after the loss": cl(PIECE.replace("head(h).float()", "head(h)").replace('"sum")', '"sum").float()') + LOOP),
    "total in the dtype of hidden (in place)": cl(PIECE + """
total = hidden.new_zeros(())
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    total += checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "`chunk` taken as the number of chunks": cl(PIECE + """
total = 0
for h, y in zip(hidden.chunk(chunk), labels.chunk(chunk)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "number of chunks floored: pieces larger than chunk where it does not divide": cl(PIECE + """
pieces = max(1, len(labels) // chunk)
total = 0
for h, y in zip(hidden.chunk(pieces), labels.chunk(pieces)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "short tail merged into the last chunk (up to 2 x chunk - 1 slots)": cl(PIECE + """
total, a, n = 0, 0, len(labels)
while a < n:
    b = n if n - a < 2 * chunk else a + chunk
    total = total + checkpoint(piece, hidden[a:b], labels[a:b], use_reentrant=False)
    a = b
return total"""),
    "short last chunk dropped": cl(PIECE + """
total = 0 * hidden.float().sum()
for a in range(0, len(labels) - chunk + 1, chunk):
    total = total + checkpoint(piece, hidden[a:a + chunk], labels[a:a + chunk], use_reentrant=False)
return total"""),
    "bias of the head forgotten": cl(PIECE.replace("head(h)", "(h @ head.weight.T)") + LOOP),
    "checkpoint on the head alone: float32 logits stay in the graph": cl("""
total = 0
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    logits = checkpoint(head, h, use_reentrant=False)
    total = total + functional.cross_entropy(logits.float(), y, reduction="sum")
return total"""),
    "late binding: the recompute sees the last chunk": cl("""
total = 0
for a in range(0, len(labels), chunk):
    total = total + checkpoint(lambda: functional.cross_entropy(
        head(hidden[a:a + chunk]).float(), labels[a:a + chunk], reduction="sum"), use_reentrant=False)
return total"""),
    "chunk without target skipped: no graph if none has any": cl(PIECE + """
total = torch.zeros(())
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    if (y == loop.IGNORE).all():
        continue
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "backward inside, value returned": cl(PIECE + """
total = 0.0
for a in range(0, len(labels), chunk):
    one = piece(hidden[a:a + chunk], labels[a:a + chunk])
    one.backward(retain_graph=True)
    total += one.item()
return torch.tensor(total)"""),
    "item() of each chunk": cl(PIECE + LOOP.replace("use_reentrant=False)", "use_reentrant=False).item()").replace("return total", "return torch.tensor(total)")),
    "head detached: weight copied": cl(PIECE.replace("head(h)", "functional.linear(h, head.weight.detach(), head.bias)") + LOOP),
    "hidden detached": cl(PIECE + LOOP.replace("hidden.split", "hidden.detach().split")),
    "head made trainable": cl("head.requires_grad_(True)\n" + PIECE.strip("\n") + LOOP),
    "labels shifted again": cl(PIECE + "hidden, labels = hidden[:-1], labels[1:]" + LOOP),
    "ignored slots count as word 0": cl("labels = labels.clamp(min=0)" + PIECE + LOOP),
    "labels of ignored set to 0 in place for the caller": cl("""
def piece(h, y):
    keep = y != loop.IGNORE
    y[~keep] = 0
    return (functional.cross_entropy(head(h).float(), y, reduction="none") * keep).sum()
total = 0
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "own function ignores the incoming gradient": FUSED.replace("SCALE", "1.0") + cl(
        "return Fused.apply(hidden, head.weight, head.bias, labels, chunk)"),
    "own function: gradient of a bias left out": FUSED.replace("SCALE", "grad").replace("return gh, gw, gb, None, None", "return gh, gw, None, None, None") + cl(
        "return Fused.apply(hidden, head.weight, head.bias, labels, chunk)"),
    "grad of head reset before": cl("head.zero_grad()" + PIECE + LOOP),
    "checkpoint over the whole loop": cl(PIECE + """
def all_pieces(hidden, labels):
    return sum(piece(h, y) for h, y in zip(hidden.split(chunk), labels.split(chunk)))
return checkpoint(all_pieces, hidden, labels, use_reentrant=False)"""),
    "exp without maximum: inf for large logits": cl("""
def piece(h, y):
    logits = head(h).float()
    keep = y != loop.IGNORE
    target = logits.gather(1, y.clamp(min=0)[:, None]).squeeze(1)
    return ((logits.exp().sum(1).log() - target) * keep).sum()
total = 0
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    total = total + checkpoint(piece, h, y, use_reentrant=False)
return total"""),
    "result with a dimension": cl(PIECE + LOOP.replace("return total", "return total.reshape(1)")),
    "list of chunks' losses": cl(PIECE + "return [checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.split(chunk), labels.split(chunk))]"),
}

# ---------------------------------------------------------------- rows-found
def rf(x):
    return f"def rows_kept():\n    return {x}\n"

RIGHT["rows-kept"] = {
    "constant": rf("5"),
    "computed by the napkin": '''def rows_kept():
    layers, logits = slot_bytes(24, 896, 14, 2, 64, 4864, 151_936)
    states = 494_032_768 * 16
    return max(r for r in range(1, 41) if 40 % r == 0 and states + r * 2048 * layers + 128 * logits <= 24 * 2**30)
''',
    "numpy int": rf("np.int64(5)"),
}
WRONG["rows-kept"] = {
    "7: fits but does not divide": rf("7"), "4: a power of two": rf("4"), "8: divides, does not fit": rf("8"),
    "2: all logits alive": rf("2"), "10": rf("10"), "6: fits 24 GB": rf("6"), "40": rf("40"), "1": rf("1"),
    "accumulation and rows": rf("(5, 8)"), "tokens: rows x 2048": rf("5 * 2048"), "fractional rows": rf("7.16"),
    "text": rf("'5'"), "nothing": rf("None"), "20": rf("20"), "0": rf("0"), "8 as float": rf("8.0"),
}

# ---------------------------------------------------------------- lora-bytes
def lb(body):
    return "def lora_bytes(matrices, rest, rank, matrix_bytes):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

RIGHT["lora-bytes"] = {
    "three sums": lb("""
frozen = sum(i * o for i, o in matrices)
thin = sum(rank * (i + o) for i, o in matrices)
return frozen * matrix_bytes + rest * 2 + thin * 16"""),
    "state_bytes of parts": lb("""
parts = [(rest, False, 2, 0, 0)]
for i, o in matrices:
    parts.append((i * o, False, matrix_bytes, 0, 0))
    parts.append((i * rank, True, 4, 4, 8))
    parts.append((rank * o, True, 4, 4, 8))
return state_bytes(parts)"""),
    "numpy": lb("""
sizes = np.array(matrices, dtype=np.int64).reshape(-1, 2)
return float(sizes.prod(1).sum() * matrix_bytes + 2 * rest + 16 * rank * sizes.sum())"""),
    "loop": lb("""
total = 2 * rest
for inputs, outputs in matrices:
    total += inputs * outputs * matrix_bytes
    total += (inputs * rank + rank * outputs) * (4 + 4 + 8)
return total"""),
}
def L(f="sum(i * o for i, o in matrices) * matrix_bytes", r="2 * rest", a="16 * rank * sum(i + o for i, o in matrices)"):
    return lb(f"return {f} + {r} + {a}")
WRONG["lora-bytes"] = {
    "adapter as large as the matrix": L(a="16 * rank * sum(i * o for i, o in matrices)"),
    "adapter rank x rank between": L(a="16 * sum(i * rank + rank * rank + rank * o for i, o in matrices)"),
    "only the first thin matrix": L(a="16 * rank * sum(i for i, o in matrices)"),
    "only the second thin matrix": L(a="16 * rank * sum(o for i, o in matrices)"),
    "adapters without their own weight": L(a="12 * rank * sum(i + o for i, o in matrices)"),
    "adapters without gradient": L(a="12 * rank * sum(i + o for i, o in matrices)").replace("12", "(4 + 8)"),
    "adapters all bf16": L(a="8 * rank * sum(i + o for i, o in matrices)"),
    "adapters mixed with float32 gradients": L(a="18 * rank * sum(i + o for i, o in matrices)"),
    "adapter weight in the matrix' precision": L(a="(matrix_bytes + 4 + 8) * rank * sum(i + o for i, o in matrices)"),
    "rest forgotten": L(r="0"),
    "rest quantised as well": L(r="matrix_bytes * rest"),
    "rest trained": L(r="16 * rest"),
    "rest one byte": L(r="rest"),
    "matrix bytes whole (int)": L(f="sum(i * o for i, o in matrices) * int(matrix_bytes)"),
    "matrix bytes divided with //": L(f="int(sum(i * o for i, o in matrices) * matrix_bytes // 2 * 2)"),
    "equal matrices once": L().replace("return", "matrices = set(matrices)\n    return"),
    "rank once for all matrices": L(a="16 * rank"),
    "matrices left trained": L(f="sum(i * o for i, o in matrices) * (matrix_bytes + 14)"),
    "NF4 always": L(f="sum(i * o for i, o in matrices) * 0.5625"),
    "frozen matrices replaced by the adapters": L(f="0"),
    "first matrix only decides": lb("""
i, o = matrices[0]
n = len(matrices)
return n * i * o * matrix_bytes + 2 * rest + 16 * rank * n * (i + o)"""),
    "mean of inputs times mean of outputs": lb("""
i, o = np.mean(matrices, axis=0)
n = len(matrices)
return n * i * o * matrix_bytes + 2 * rest + 16 * rank * n * (i + o)"""),
    "GB": L().replace("return ", "return 1e-9 * (").rstrip() + ")\n",
    "empty list fails": lb("""
i, o = zip(*matrices)
return float(np.dot(i, o)) * matrix_bytes + 2 * rest + 16 * rank * (sum(i) + sum(o))"""),
    "int32 overflow": lb("""
sizes = np.array(matrices, dtype=np.int32).reshape(-1, 2)
return float(np.int32(sizes.prod(1, dtype=np.int32).sum(dtype=np.int32)) * matrix_bytes + 2 * rest + 16 * rank * sizes.sum())"""),
    "caller's list extended": lb("""
total = 2 * rest
while matrices:
    i, o = matrices.pop()
    total += i * o * matrix_bytes + 16 * rank * (i + o)
return total"""),
}

# ---------------------------------------------------------------- most-rows
def mr(body):
    return "def most_rows(step, documents, sequences, most):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

BASE = mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
for rows in range(min(most, sequences), 0, -1):
    if sequences % rows:
        continue
    micro = [worst[a:a + rows] for a in range(0, sequences, rows)]
    try:
        step(micro)
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        continue
    return rows, sequences // rows
raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
''')
def B(*pairs):
    code = BASE
    for old, new in pairs:
        assert old in code, old
        code = code.replace(old, new)
    return code

RIGHT["most-rows"] = {
    "loop": BASE,
    "while, flag, helper": '''def fits(step, micro_batches):
    try:
        step(micro_batches)
        return True
    except Exception as error:
        if limits.out_of_memory(error):
            return False
        raise


def most_rows(step, documents, sequences, most):
    have = len(documents)
    if have < sequences:
        raise ValueError(f"need {sequences} documents, have {have}")
    order = sorted(range(have), key=lambda i: len(documents[i]))[have - sequences:]
    divisors = [d for d in range(1, min(most, sequences) + 1) if sequences % d == 0]
    while divisors:
        rows = divisors.pop()
        count = sequences // rows
        if fits(step, [[documents[i] for i in order[k * rows:(k + 1) * rows]] for k in range(count)]):
            return rows, count
    raise ValueError(f"one row of {max(map(len, documents))} tokens is too much")
''',
    "longest first, micro-batches reversed": mr('''
if sequences > len(documents):
    raise ValueError(f"{sequences} sequences, but {len(documents)} documents")
worst = sorted(documents, key=len, reverse=True)[:sequences]
for accumulation in range(1, sequences + 1):
    rows, left = divmod(sequences, accumulation)
    if left or rows > most:
        continue
    ended = False
    parts = [worst[k * rows:(k + 1) * rows] for k in range(accumulation)][::-1]
    try:
        step(parts)
    except Exception as error:
        ended = limits.out_of_memory(error)
        if not ended:
            raise
    if not ended:
        return rows, accumulation
raise ValueError(f"{len(worst[0])} tokens in one row do not fit")
'''),
    "heapq and numpy": '''import heapq


def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} < {sequences}")
    worst = heapq.nlargest(sequences, documents, key=len)[::-1]
    for rows in np.arange(min(most, sequences), 0, -1):
        rows = int(rows)
        if sequences % rows == 0:
            index = np.arange(sequences).reshape(-1, rows)
            try:
                step([[worst[i] for i in line] for line in index.tolist()])
            except Exception as error:
                if not limits.out_of_memory(error):
                    raise error
            else:
                return rows, sequences // rows
    raise ValueError(f"longest: {len(worst[-1])} tokens")
''',
    "the longest micro-batch moved to the end, others descending": mr('''
if sequences > len(documents):
    raise ValueError(f"{sequences} sequences, but {len(documents)} documents")
worst = sorted(documents, key=lambda d: -len(d))[:sequences]
for rows in range(min(sequences, most), 0, -1):
    if sequences % rows == 0:
        parts = [worst[a:a + rows] for a in range(0, sequences, rows)]
        try:
            step(parts[1:] + parts[:1])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
        else:
            return rows, sequences // rows
raise ValueError(f"{len(worst[0])} tokens in one row do not fit")
'''),
}
OOM = "        if not limits.out_of_memory(error):\n                raise\n            continue\n"
W = {
    "longest documents in the first micro-batch": B(("sorted(documents, key=len)[-sequences:]", "sorted(documents, key=len, reverse=True)[:sequences]"), ("len(worst[-1])", "len(worst[0])")),
    "first documents, unsorted": B(("sorted(documents, key=len)[-sequences:]", "documents[:sequences]"), ("len(worst[-1])", "max(map(len, documents))")),
    "shortest documents": B(("[-sequences:]", "[:sequences]"), ("len(worst[-1])", "max(map(len, documents))")),
    "longest chosen, order of the data kept": B(("sorted(documents, key=len)[-sequences:]", "[documents[i] for i in sorted(sorted(range(len(documents)), key=lambda i: len(documents[i]))[-sequences:])]"), ("len(worst[-1])", "max(map(len, documents))")),
    "sorted by tokens, not by length": B(("sorted(documents, key=len)", "sorted(documents)"), ("len(worst[-1])", "max(map(len, documents))")),
    "longest dealt over the micro-batches": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[worst[k::sequences // rows] for k in range(sequences // rows)]")),
    "the caller's documents sorted in place": B(("worst = sorted(documents, key=len)[-sequences:]", "documents.sort(key=len)\n    worst = documents[-sequences:]")),
    "micro-batches of the longest, repeated": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[worst[-rows:]] * (sequences // rows)")),
    "one micro-batch only": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[worst[-rows:]]")),
    "next try inside except (recursion)": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
rows = min(most, sequences)
while rows and sequences % rows:
    rows -= 1
worst = sorted(documents, key=len)[-sequences:]
if rows < 1:
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
try:
    step([worst[a:a + rows] for a in range(0, sequences, rows)])
    return rows, sequences // rows
except Exception as error:
    if not limits.out_of_memory(error):
        raise
    return most_rows(step, documents, sequences, rows - 1)
'''),
    "recursion for each row: many rows exceed the stack": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
rows = min(most, sequences)
if rows < 1:
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
if sequences % rows == 0:
    try:
        step([worst[a:a + rows] for a in range(0, sequences, rows)])
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
    else:
        return rows, sequences // rows
return most_rows(step, documents, sequences, rows - 1)
'''),
    "last error kept for `raise ... from`": B(("    for rows in range", "    last = None\n    for rows in range"), ("            continue", "            last = error\n            continue"), ("tokens\")", "tokens\") from last")),
    "all errors collected in a list": B(("    for rows in range", "    errors = []\n    for rows in range"), ("            continue\n        return", "            errors.append(error)\n            continue\n        return")),
    "every error counts as out of memory": B(("            if not limits.out_of_memory(error):\n                raise\n", "")),
    "only torch.OutOfMemoryError": B(("except Exception as error:\n            if not limits.out_of_memory(error):\n                raise\n", "except torch.OutOfMemoryError:\n")),
    "OutOfMemoryError and MemoryError only": B(("except Exception as error:\n            if not limits.out_of_memory(error):\n                raise\n", "except (torch.OutOfMemoryError, MemoryError):\n")),
    "RuntimeError and MemoryError, asked": B(("except Exception as error", "except (RuntimeError, MemoryError) as error")),
    "RuntimeErrors all count": B(("except Exception as error:\n            if not limits.out_of_memory(error):\n                raise\n", "except (RuntimeError, MemoryError):\n")),
    "'out of memory' in the text": B(("limits.out_of_memory(error)", "'out of memory' in str(error).lower()")),
    "other error wrapped": B(("                raise\n", "                raise RuntimeError(f'the step failed: {error}')\n")),
    "other error becomes ValueError": B(("                raise\n", "                raise ValueError(str(error))\n")),
    "out_of_memory asked about the text": B(("limits.out_of_memory(error)", "limits.out_of_memory(str(error))")),
    "halving": B(("    for rows in range(min(most, sequences), 0, -1):\n        if sequences % rows:\n            continue", "    rows = 2 * min(most, sequences)\n    while rows > 1:\n        rows //= 2\n        if sequences % rows:\n            continue")),
    "powers of two only": B(("if sequences % rows:", "if sequences % rows or rows & (rows - 1):")),
    "does not divide: accumulation floored": B(("        if sequences % rows:\n            continue\n", "")),
    "does not divide: last micro-batch short, accumulation ceil": B(("        if sequences % rows:\n            continue\n", ""), ("sequences // rows\n", "-(-sequences // rows)\n")),
    "binary search over divisors": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
divisors = [d for d in range(1, min(most, sequences) + 1) if sequences % d == 0]
low, high, best = 0, len(divisors) - 1, None
while low <= high:
    middle = (low + high) // 2
    rows = divisors[middle]
    try:
        step([worst[a:a + rows] for a in range(0, sequences, rows)])
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        high = middle - 1
    else:
        best, low = rows, middle + 1
if best is None:
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
return best, sequences // best
'''),
    "from one row up until it ends": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
best = None
for rows in range(1, min(most, sequences) + 1):
    if sequences % rows:
        continue
    try:
        step([worst[a:a + rows] for a in range(0, sequences, rows)])
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        break
    best = rows
if best is None:
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
return best, sequences // best
'''),
    "all rows tried, the most taken": B(("    for rows in range", "    best = None\n    for rows in range"), ("        return rows, sequences // rows\n", "        best = best or rows\n    if best:\n        return best, sequences // best\n")),
    "one row is never tried": B((", 0, -1)", ", 1, -1)")),
    "`most` itself is not tried": B(("min(most, sequences)", "min(most - 1, sequences)")),
    "`most` not kept": B(("min(most, sequences)", "sequences")),
    "most taken as most accumulation": B(("if sequences % rows:", "if sequences % rows or sequences // rows > most:"), ("min(most, sequences)", "sequences")),
    "swapped result": B(("return rows, sequences // rows", "return sequences // rows, rows")),
    "accumulation as float": B(("return rows, sequences // rows", "return rows, sequences / rows")),
    "rows alone": B(("return rows, sequences // rows", "return rows")),
    "nothing fits: None": B(('raise ValueError(f"not even', 'return None  # (f"not even')),
    "nothing fits: one row returned": B(('    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")', "    return 1, sequences")),
    "nothing fits: RuntimeError": B(('ValueError(f"not even', 'RuntimeError(f"not even')),
    "nothing fits: message without tokens": B(('f"not even one row fits: the longest document has {len(worst[-1])} tokens"', '"not even one row fits"')),
    "nothing fits: tokens of the shortest of the step": B(("len(worst[-1])", "len(worst[0])")),
    "nothing fits: largest token id instead of length": B(("len(worst[-1])", "max(worst[-1])")),
    "nothing fits: the out of memory goes through": B(("            continue\n        return", "            if rows == 1:\n                raise\n            continue\n        return")),
    "too few: refused when exactly enough": B(("len(documents) < sequences", "len(documents) <= sequences")),
    "too few: not checked": B(('    if len(documents) < sequences:\n        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")\n', "")),
    "too few: one number": B(("{len(documents)} documents are too few for {sequences} sequences", "fewer than {sequences} documents")),
    "too few: assert": B(('    if len(documents) < sequences:\n        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")\n', '    assert len(documents) >= sequences, f"{len(documents)} < {sequences}"\n')),
    "too few: repeated to fill": B(('        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")\n', "        documents = (documents * sequences)[:sequences]\n")),
    "too few: seen only after a try": B(('    if len(documents) < sequences:\n        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")\n', ""), ("        return rows, seq", '        if len(documents) < sequences:\n            raise ValueError(f"{len(documents)} documents, {sequences} sequences")\n        return rows, seq')),
    "micro-batches as a generator": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "(worst[a:a + rows] for a in range(0, sequences, rows))")),
    "micro-batches padded to one length": B(("    try:\n", "    width = len(worst[-1])\n        micro = [[d + [0] * (width - len(d)) for d in one] for one in micro]\n        try:\n")),
    "each try twice, to be sure": B(("            step(micro)\n", "            step(micro)\n            step(micro)\n")),
    "a failed try is repeated once": B(("    try:\n            step(micro)\n", "    try:\n            try:\n                step(micro)\n            except MemoryError:\n                step(micro)\n")),
    "equal documents once": B(("sorted(documents, key=len)", "sorted({tuple(d): d for d in documents}.values(), key=len)")),
    "answer remembered between calls": "found_rows = {}\n" + B(("    worst =", "    if (sequences, most) in found_rows:\n        return found_rows[sequences, most]\n    worst ="), ("        return rows,", "        found_rows[sequences, most] = (rows, sequences // rows)\n        return rows,")),
    "documents cut: pops from the caller's list": B(("sorted(documents, key=len)[-sequences:]", "[documents.pop(max(range(len(documents)), key=lambda i: len(documents[i]))) for _ in range(sequences)][::-1]")),
    "the longest one alone in the last, rest unsorted": B(("sorted(documents, key=len)[-sequences:]", "documents[:sequences]"), ("    for rows", "    longest = max(documents, key=len)\n    worst = [d for d in worst if d is not longest][:sequences - 1] + [longest]\n    for rows")),
    "longest of each try in the middle: only the last micro-batch sorted": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[(documents[:sequences - rows] + worst[-rows:])[a:a + rows] for a in range(0, sequences, rows)]")),
}
WRONG["most-rows"] = W

# ---------------------------------------------------------------- bill-test
def bt(body):
    return "def bill_test(bill):\n" + "\n".join("    " + l for l in body.strip("\n").split("\n")) + "\n"

WANT = """
def want(rows, length, accumulation, trained, frozen):
    return (16 * trained + 2 * frozen + 2_500_000 * rows * length) / 1e9
"""
RIGHT["bill-test"] = {
    "one by hand and a few more, by formula": bt(WANT + """
for case in [(3, 701, 4, 123_456_789, 987_654_321), (1, 1, 1, 0, 0), (5, 11, 7, 10**9, 0), (2, 300, 9, 0, 7 * 10**9), (8, 64, 1, 5_000_001, 3), (6, 100, 6, 1, 1)]:
    got = bill(*case)
    assert abs(got - want(*case)) <= 1e-7 * max(1.0, want(*case)), (case, got)"""),
    "isclose, random cases": "import math, random\n" + bt(WANT + """
draw = random.Random(0)
for _ in range(60):
    case = (draw.randint(1, 40), draw.randint(1, 4096), draw.randint(1, 32), draw.randint(0, 10**10), draw.randint(0, 10**11))
    assert math.isclose(bill(*case), want(*case), rel_tol=1e-6, abs_tol=1e-9)"""),
    "numpy.allclose on a list": bt(WANT + """
cases = [(3, 701, 4, 123_456_789, 987_654_321), (7, 13, 5, 7_000_001, 400_000_003), (2, 5, 1, 3_141_592, 2_718_281)]
assert np.allclose([bill(*c) for c in cases], [want(*c) for c in cases], rtol=1e-6, atol=0)"""),
    "one case by hand": bt("assert abs(bill(3, 7, 5, 1_300_000, 17_000_000) - 0.1073) < 1e-6"),
}
WRONG["bill-test"] = {
    "accumulation 1 only": bt("assert abs(bill(3, 701, 1, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) < 1e-6"),
    "no frozen weights": bt("assert abs(bill(3, 701, 4, 123_456_789, 0) - (16*123_456_789 + 2.5e6*3*701)/1e9) < 1e-6"),
    "no trained weights": bt("assert abs(bill(3, 701, 4, 0, 987_654_321) - (2*987_654_321 + 2.5e6*3*701)/1e9) < 1e-6"),
    "one row": bt("assert abs(bill(1, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*701)/1e9) < 1e-6"),
    "tolerance of a tenth": bt("assert abs(bill(3, 701, 4, 123_456_789, 987_654_321) / ((16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) - 1) < 0.1"),
    "tolerance of one GB": bt("assert abs(bill(2, 100, 4, 10**9, 7*10**9) - 30.5) < 1"),
    "accumulation counted (test itself wrong)": bt("assert abs(bill(3, 701, 4, 10**8, 10**9) - (16*10**8 + 2*10**9 + 2.5e6*3*701*4)/1e9) < 1e-6"),
    "GiB expected (test itself wrong)": bt("assert abs(bill(3, 701, 4, 10**8, 10**9) - (16*10**8 + 2*10**9 + 2.5e6*3*701)/2**30) < 1e-6"),
    "bytes expected (test itself wrong)": bt("assert abs(bill(3, 701, 4, 10**8, 10**9) - (16*10**8 + 2*10**9 + 2.5e6*3*701)) < 1"),
    "frozen weights as trained (test itself wrong)": bt("assert abs(bill(3, 701, 4, 10**8, 10**9) - (16*11*10**8 + 2.5e6*3*701)/1e9) < 1e-6"),
    "trained weight 14 bytes: its own forgotten (test itself wrong)": bt("assert abs(bill(3, 701, 4, 10**8, 10**9) - (14*10**8 + 2*10**9 + 2.5e6*3*701)/1e9) < 1e-6"),
    "no tolerance: exact equality in one order": bt("assert bill(3, 701, 4, 123_456_789, 987_654_321) == 16*123_456_789/1e9 + 2*987_654_321/1e9 + 2.5e6*3*701/1e9"),
    "only direction: more rows, more GB": bt("""
assert bill(8, 100, 1, 10**9, 0) > bill(4, 100, 1, 10**9, 0)
assert bill(4, 100, 8, 10**9, 0) == bill(4, 100, 1, 10**9, 0)
assert bill(4, 200, 1, 10**9, 0) > bill(4, 100, 1, 10**9, 0)
assert bill(4, 100, 1, 10**9, 10**9) > bill(4, 100, 1, 10**9, 0)"""),
    "returns instead of asserting": bt("return abs(bill(3, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) < 1e-6"),
    "assert of a tuple": bt("assert (abs(bill(3, 701, 4, 10**8, 10**9) - 1) < 1e-6, 'wrong bill')"),
    "positive": bt("assert bill(2, 100, 4, 10**9, 10**9) > 0"),
    "states only: no slots": bt("assert abs(bill(0, 0, 4, 10**9, 10**9) - 18) < 1e-6"),
    "slots only: no weights": bt("assert abs(bill(3, 701, 4, 0, 0) - 2.5e6*3*701/1e9) < 1e-6"),
    "rows = length = accumulation": bt("assert abs(bill(2, 2, 2, 10**6, 10**6) - 0.028) < 1e-6"),
    "sign lost: only too high is refused": bt("assert bill(3, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9 < 1e-6"),
    "rounded to whole GB": bt("assert round(bill(3, 701, 4, 123_456_789, 987_654_321)) == round((16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9)"),
    "arguments swapped: trained and frozen": bt("assert abs(bill(3, 701, 4, 987_654_321, 123_456_789) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) < 1e-6"),
    "type of the result refused: int only": bt("got = bill(2, 200, 4, 10**9, 10**9)\nassert isinstance(got, int) and got == 19"),
    "errors swallowed": bt("""
try:
    assert abs(bill(3, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) < 1e-6
except AssertionError:
    print("wrong bill")"""),
}
if __name__ == "__main__":
    for k in WRONG:
        print(k, len(WRONG[k]), len(RIGHT[k]))
        for kind in (WRONG, RIGHT):
            for w, c in kind[k].items():
                compile(c, w, "exec")
