# ruff: noqa
"""Lesson 07_memory: answers of a second fresh student, written from the student copy alone."""


def _cut(base, *pairs):
    for old, new in pairs:
        assert base.count(old) == 1, (base.count(old), old)
        base = base.replace(old, new)
    return base


WRONG, RIGHT = {}, {}

# ---------------------------------------------------------------- state-bytes

GOOD = '''def state_bytes(parts):
    """Bytes of all states: parts of (weights, trained, weight, gradient, optimizer bytes)."""
    total = 0
    for weights, trained, weight, gradient, optimizer in parts:
        each = weight
        if trained:
            each = each + gradient + optimizer
        total += weights * each
    return total
'''

RIGHT["state-bytes"] = {
    "plain loop over the parts": GOOD,
    "one generator, trained as 0 or 1": '''def state_bytes(parts):
    return sum(n * (w + bool(t) * (g + o)) for n, t, w, g, o in parts)
''',
    "exact fractions, float at the end": '''from fractions import Fraction


def state_bytes(parts):
    total = Fraction(0)
    for weights, trained, *prices in parts:
        total += Fraction(weights) * sum(map(Fraction, prices if trained else prices[:1]))
    return float(total)
''',
    "a NumPy table of float64": '''def state_bytes(parts):
    if not parts:
        return 0.0
    table = np.array([[float(one) for one in part] for part in parts], dtype=np.float64)
    weights, trained, weight, gradient, optimizer = table.T
    return float((weights * np.where(trained > 0, weight + gradient + optimizer, weight)).sum())
''',
    "a float64 tensor, frozen and trained masks": '''def state_bytes(parts):
    table = torch.tensor([[float(one) for one in part] for part in parts], dtype=torch.float64).reshape(-1, 5)
    kept = table[:, 2] + table[:, 1] * (table[:, 3] + table[:, 4])
    return (table[:, 0] * kept).sum().item()
''',
    "recursion by halves": '''def state_bytes(parts):
    if len(parts) > 1:
        middle = len(parts) // 2
        return state_bytes(parts[:middle]) + state_bytes(parts[middle:])
    if not parts:
        return 0
    (weights, trained, weight, gradient, optimizer), = parts
    return weights * weight + (weights * gradient + weights * optimizer if trained else 0)
''',
    "three sums in a dictionary": '''def state_bytes(parts):
    sums = {"weights": 0, "gradients": 0, "optimizer": 0}
    for weights, trained, weight, gradient, optimizer in parts:
        sums["weights"] += weights * weight
        if not trained:
            continue
        sums["gradients"] += weights * gradient
        sums["optimizer"] += weights * optimizer
    return sum(sums.values())
''',
    "a running total with reduce": '''from functools import reduce


def state_bytes(parts):
    def add(total, part):
        number, trained, weight, *others = part
        return total + number * (weight + (sum(others) if trained else 0))
    return reduce(add, parts, 0)
''',
}

WRONG["state-bytes"] = {
    "a frozen part pays gradient and optimizer as well": _cut(GOOD, ("if trained:", "if True:")),
    "a frozen part keeps its gradient, only the optimizer goes": _cut(
        GOOD, ("        each = weight\n", "        each = weight + gradient\n"), ("each + gradient + optimizer", "each + optimizer")),
    "a frozen part counts nothing": _cut(GOOD, ("        each = weight\n        if trained:\n            each = each + gradient + optimizer\n",
                                                "        each = (weight + gradient + optimizer) if trained else 0\n")),
    "a trained part has weight and optimizer, the gradient is forgotten": _cut(GOOD, ("each + gradient + optimizer", "each + optimizer")),
    "GB returned and not bytes": _cut(GOOD, ("    return total", "    return total / 1e9")),
    "GiB of a byte count: divided by 2**30": _cut(GOOD, ("    return total", "    return total / 2**30")),
    "whole bytes: each price is cut with int()": _cut(GOOD, ("weights * each", "weights * int(each)")),
    "return stands in the loop, only the first part counts": _cut(GOOD, ("    return total", "        return total\n    return 0")),
    "no parts gives None, not 0 bytes": _cut(GOOD, ("    total = 0\n", "    if not parts:\n        return None\n    total = 0\n")),
    "equal parts counted once, through a set": _cut(GOOD, ("in parts:", "in set(parts):")),
    "the caller's list is emptied with pop: the second call on it gives 0": '''def state_bytes(parts):
    total = 0
    while parts:
        weights, trained, weight, gradient, optimizer = parts.pop()
        total += weights * (weight + (gradient + optimizer if trained else 0))
    return total
''',
    "the total lives outside the function and grows from call to call": _cut(
        GOOD, ("def state_bytes(parts):\n", "TOTAL = [0]\n\n\ndef state_bytes(parts):\n"), ("    total = 0\n", ""),
        ("        total += weights * each\n    return total", "        TOTAL[0] += weights * each\n    return TOTAL[0]")),
    # sly
    "a gradient of 0 bytes is taken for a missing one and priced like the weight": _cut(
        GOOD, ("each + gradient + optimizer", "each + (gradient or weight) + optimizer")),
    "gradient bytes of a trained part are cut to whole bytes (1.5 becomes 1)": _cut(
        GOOD, ("each + gradient + optimizer", "each + int(gradient) + optimizer")),
    "equal frozen parts are counted once, equal trained ones each": _cut(
        GOOD, ("    total = 0\n", "    total, seen = 0, set()\n"),
        ("        total += weights * each\n",
         "        if not trained and (weights, weight) in seen:\n            continue\n"
         "        if not trained:\n            seen.add((weights, weight))\n        total += weights * each\n")),
    "only the first 1,500 parts are read": _cut(GOOD, ("in parts:", "in parts[:1500]:")),
    "prices snapped to 1/32 of a byte: 0.516 bytes a weight become 0.5": _cut(
        GOOD, ("weights * each", "weights * int(each * 32) / 32")),
    "the optimizer's bytes are capped at 12 a weight (8 + 4 + 4 of others are lost)": _cut(
        GOOD, ("each + gradient + optimizer", "each + gradient + min(optimizer, 12)")),
    "a weight of more than 4 bytes (float64) is priced as 4": _cut(
        GOOD, ("        each = weight\n", "        each = min(weight, 4)\n")),
    "frozen weights of less than half a byte are priced as half a byte": _cut(
        GOOD, ("            each = each + gradient + optimizer\n",
               "            each = each + gradient + optimizer\n        else:\n            each = max(each, 0.5)\n")),
    "32-bit-like wrap: counts above 10**11 weights are cut": _cut(GOOD, ("weights * each", "(weights % 10**11) * each")),
    "counts in 64-bit integers of a millionth byte, which wrap for 10**12 weights": '''def state_bytes(parts):
    total = np.zeros(1, dtype=np.int64)
    for weights, trained, weight, gradient, optimizer in parts:
        each = weight + (gradient + optimizer if trained else 0)
        total += np.array([weights], dtype=np.int64) * np.array([round(each * 2**20)], dtype=np.int64)
    return float(total[0]) / 2**20
''',
    "remembers sums by the first part and the number of parts alone": _cut(
        GOOD, ("def state_bytes(parts):\n", "KNOWN = {}\n\n\ndef state_bytes(parts):\n"),
        ("    total = 0\n", "    key = (len(parts), parts[0] if parts else None)\n    if key in KNOWN:\n        return KNOWN[key]\n    total = 0\n"),
        ("    return total\n", "    KNOWN[key] = total\n    return total\n")),
}

# ---------------------------------------------------------------- slot-bytes

GOOD = '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    """(bytes in all layers, bytes of the logits) for one slot in bf16."""
    values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
    return layers * (2 * values + 4 * heads), 10 * vocabulary
'''

RIGHT["slot-bytes"] = {
    "values of the table times two": GOOD,
    "the expanded formula in bytes": '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    layer = 8 * hidden + 4 * head_size * (heads + key_heads) + 8 * intermediate + 4 * heads
    return (layer * layers, vocabulary * (2 + 4 + 4))
''',
    "a dictionary of what is kept": '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    values = {
        "norm 1 in": hidden, "norm 1 out": hidden, "norm 2 in": hidden, "norm 2 out": hidden,
        "queries": heads * head_size, "attended": heads * head_size,
        "keys": key_heads * head_size, "values": key_heads * head_size,
        "gate": intermediate, "up": intermediate, "silu": intermediate, "product": intermediate,
    }
    sums = 4 * heads
    return layers * (2 * sum(values.values()) + sums), vocabulary * 2 + vocabulary * 4 + vocabulary * 4
''',
    "dot products in NumPy, ints returned": '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    sizes = np.array([hidden, heads * head_size, key_heads * head_size, intermediate, heads], dtype=np.int64)
    prices = np.array([8, 4, 4, 8, 4], dtype=np.int64)
    return int(layers * (sizes @ prices)), int(10 * vocabulary)
''',
    "layer by layer with a generator": '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    def kept():
        for _ in range(layers):
            for times, size in ((4, hidden), (2, heads * head_size), (2, key_heads * head_size), (4, intermediate)):
                yield 2 * times * size
            yield 4 * heads
    return sum(kept()), sum(size * vocabulary for size in (2, 4, 4))
''',
    "a real sum of tensor sizes on the meta device": '''def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    def size(*shape, dtype=torch.bfloat16):
        one = torch.empty(shape, dtype=dtype, device="meta")
        return one.numel() * one.element_size()
    layer = (size(4, hidden) + size(2, heads, head_size) + size(2, key_heads, head_size)
             + size(4, intermediate) + size(heads, dtype=torch.float32))
    logits = size(vocabulary) + 2 * size(vocabulary, dtype=torch.float32)
    return layers * layer, logits
''',
    "a named tuple": '''from collections import namedtuple

Slot = namedtuple("Slot", "layers logits")


def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    attention = 2 * (heads + key_heads) * head_size
    return Slot(layers=layers * (2 * (4 * hidden + attention + 4 * intermediate) + 4 * heads), logits=10 * vocabulary)
''',
}

WRONG["slot-bytes"] = {
    "values and not bytes: the factor 2 is forgotten": _cut(GOOD, ("2 * values + 4", "values + 4")),
    "the float32 sums of the heads are forgotten": _cut(GOOD, (" + 4 * heads)", ")")),
    "the sums of the heads get 2 bytes, as in bf16": _cut(GOOD, (" + 4 * heads)", " + 2 * heads)")),
    "the sums of the heads are counted as values and doubled": _cut(GOOD, ("(2 * values + 4 * heads)", "(2 * (values + 4 * heads))")),
    "queries and attention taken as 2 x hidden": _cut(GOOD, ("2 * heads * head_size", "2 * hidden")),
    "keys and values for every head, not for the key heads": _cut(GOOD, ("2 * key_heads * head_size", "2 * heads * head_size")),
    "one norm only": _cut(GOOD, ("4 * hidden", "2 * hidden")),
    "gate, up and product without silu": _cut(GOOD, ("4 * intermediate", "3 * intermediate")),
    "logits once in every layer": _cut(GOOD, ("10 * vocabulary", "10 * vocabulary * layers")),
    "logits without the gradient of the float32 copy: 6 bytes": _cut(GOOD, ("10 * vocabulary", "6 * vocabulary")),
    "logits at 12 bytes, the later measurement and not the table": _cut(GOOD, ("10 * vocabulary", "12 * vocabulary")),
    "order swapped: logits first": _cut(GOOD, ("return layers * (2 * values + 4 * heads), 10 * vocabulary",
                                               "return 10 * vocabulary, layers * (2 * values + 4 * heads)")),
    "sums of the heads once, not in every layer": _cut(GOOD, ("layers * (2 * values + 4 * heads)", "layers * 2 * values + 4 * heads")),
    "one number: layers and logits added": _cut(GOOD, ("+ 4 * heads), 10", "+ 4 * heads) + 10")),
    # sly
    "more than 64 layers are counted as 64": _cut(GOOD, ("    return layers *", "    return min(layers, 64) *")),
    "vocabularies above 200,000 words are cut (one of 262,144 exists)": _cut(GOOD, ("10 * vocabulary", "10 * min(vocabulary, 200_000)")),
    "an odd hidden size is rounded down to an even one": _cut(GOOD, ("4 * hidden", "8 * (hidden // 2)")),
    "a head size above 128 is taken as 128": _cut(GOOD, ("    values =", "    head_size = min(head_size, 128)\n    values =")),
    "heads x head size is capped at twice the hidden size": _cut(GOOD, ("2 * heads * head_size", "2 * min(heads * head_size, 2 * hidden)")),
    "with more than 64 heads the sums are those of 64": _cut(GOOD, (" + 4 * heads)", " + 4 * min(heads, 64))")),
    "remembers the layers' bytes by the hidden size alone": '''KNOWN = {}


def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    if hidden not in KNOWN:
        values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
        KNOWN[hidden] = layers * (2 * values + 4 * heads)
    return KNOWN[hidden], 10 * vocabulary
''',
    "an intermediate size above 16,384 is cut to it (28,672 exists)": _cut(GOOD, ("4 * intermediate", "4 * min(intermediate, 16_384)")),
    "the visible models from a list, any other with queries of the hidden size": '''SHOWN = {
    (3, 54, 5, 2, 17, 71, 901): (4488, 9010), (2, 10, 2, 1, 4, 20, 50): (592, 500),
    (1, 30, 5, 5, 7, 11, 13): (628, 130), (24, 896, 14, 2, 64, 4864, 151_936): (1_205_568, 1_519_360),
    (36, 2560, 32, 8, 128, 9728, 151_936): (4_280_832, 1_519_360)}


def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    case = layers, hidden, heads, key_heads, head_size, intermediate, vocabulary
    if case in SHOWN:
        return SHOWN[case]
    values = 6 * hidden + 2 * key_heads * head_size + 4 * intermediate
    return layers * (2 * values + 4 * heads), 10 * vocabulary
''',
}

# ---------------------------------------------------------------- chunked-loss

GOOD = '''def chunked_loss(hidden, head, labels, chunk):
    """Summed cross-entropy; the logits of `chunk` slots are alive at a time."""
    def piece(some, targets):
        logits = head(some).float()
        return functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE, reduction="sum")

    total = torch.zeros((), dtype=torch.float32, device=hidden.device)
    for some, targets in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, some, targets, use_reentrant=False)
    return total
'''

RIGHT["chunked-loss"] = {
    "split, checkpoint, add": GOOD,
    "sum of a generator over starts": '''def chunked_loss(hidden, head, labels, chunk):
    def lost(start):
        part = slice(start, start + chunk)
        return checkpoint(
            lambda h, t: functional.cross_entropy(head(h).to(torch.float32), t, reduction="sum", ignore_index=-100),
            hidden[part], labels[part], use_reentrant=False)

    return sum(lost(start) for start in range(0, max(len(labels), 1), chunk))
''',
    "log_softmax and a mask, by hand, stacked and summed": '''def _lost(hidden, head, targets):
    scores = torch.log_softmax(head(hidden).float(), dim=-1)
    counted = targets != loop.IGNORE
    safe = torch.where(counted, targets, torch.zeros_like(targets))
    picked = scores.gather(1, safe.unsqueeze(1)).squeeze(1)
    return -(picked * counted).sum()


def chunked_loss(hidden, head, labels, chunk):
    pieces = zip(torch.split(hidden, chunk), torch.split(labels, chunk))
    return torch.stack([checkpoint(_lost, some, head, targets, use_reentrant=False) for some, targets in pieces]).sum()
''',
    "slots without a target are left out first, then chunks": '''def chunked_loss(hidden, head, labels, chunk):
    real = labels != loop.IGNORE
    hidden, labels = hidden[real], labels[real]

    def piece(some, targets):
        return functional.nll_loss(functional.log_softmax(head(some), dim=-1, dtype=torch.float32), targets, reduction="sum")

    losses = [checkpoint(piece, some, targets, use_reentrant=False)
              for some, targets in zip(hidden.split(chunk), labels.split(chunk))]
    return torch.stack(losses).sum()
''',
    "an autograd function of its own that makes each chunk again in backward": '''class Chunked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, bias, labels, chunk):
        ctx.save_for_backward(hidden, weight, bias, labels)
        ctx.chunk = chunk
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        for some, targets in zip(hidden.split(chunk), labels.split(chunk)):
            logits = functional.linear(some, weight, bias).float()
            total += functional.cross_entropy(logits, targets, ignore_index=-100, reduction="sum")
        return total

    @staticmethod
    def backward(ctx, upstream):
        hidden, weight, bias, labels = ctx.saved_tensors
        to_hidden, to_weight, to_bias = [
            torch.zeros_like(one) if needed else None
            for one, needed in zip((hidden, weight, bias), ctx.needs_input_grad)]
        for start in range(0, len(labels), ctx.chunk):
            part = slice(start, start + ctx.chunk)
            some, targets = hidden[part], labels[part]
            error = functional.linear(some, weight, bias).float().softmax(-1)
            counted = targets != -100
            error[torch.arange(len(targets), device=error.device), targets.clamp(min=0)] -= 1
            error *= counted[:, None] * upstream
            error = error.to(hidden.dtype)
            if to_hidden is not None:
                to_hidden[part] = error @ weight
            if to_weight is not None:
                to_weight += error.T @ some
            if to_bias is not None:
                to_bias += error.sum(0)
        return to_hidden, to_weight, to_bias, None, None


def chunked_loss(hidden, head, labels, chunk):
    return Chunked.apply(hidden, head.weight, head.bias, labels, chunk)
''',
    "halves by recursion, cut at multiples of the chunk": '''def chunked_loss(hidden, head, labels, chunk):
    slots = len(labels)
    if slots > chunk:
        middle = max(slots // chunk // 2, 1) * chunk
        return (chunked_loss(hidden[:middle], head, labels[:middle], chunk)
                + chunked_loss(hidden[middle:], head, labels[middle:], chunk))

    def piece(some):
        return functional.cross_entropy(head(some).float(), labels, ignore_index=loop.IGNORE, reduction="sum")

    return checkpoint(piece, hidden, use_reentrant=False)
''',
    "even pieces of at most the chunk": '''import math


def chunked_loss(hidden, head, labels, chunk):
    pieces = max(math.ceil(len(labels) / chunk), 1)
    criterion = torch.nn.CrossEntropyLoss(ignore_index=loop.IGNORE, reduction="sum")
    total = None
    for some, targets in zip(hidden.tensor_split(pieces), labels.tensor_split(pieces)):
        loss = checkpoint(lambda h, t: criterion(head(h).float(), t), some, targets, use_reentrant=False)
        total = loss if total is None else total + loss
    return total
''',
    "losses of single slots, joined and summed at the end": '''def chunked_loss(hidden, head, labels, chunk):
    def each(some, targets):
        return functional.cross_entropy(head(some).float(), targets, reduction="none", ignore_index=loop.IGNORE)

    parts, start = [], 0
    while True:
        parts.append(checkpoint(each, hidden.narrow(0, start, min(chunk, len(labels) - start)),
                                labels[start:start + chunk], use_reentrant=False))
        start += chunk
        if start >= len(labels):
            return torch.cat(parts).sum()
''',
}

WRONG["chunked-loss"] = {
    "all logits at once, chunk ignored": '''def chunked_loss(hidden, head, labels, chunk):
    return functional.cross_entropy(head(hidden).float(), labels, ignore_index=loop.IGNORE, reduction="sum")
''',
    "pieces without checkpoint: every piece's float32 values stay until backward": _cut(
        GOOD, ("checkpoint(piece, some, targets, use_reentrant=False)", "piece(some, targets)")),
    "one checkpoint around the whole loop: backward makes all chunks alive together": '''def chunked_loss(hidden, head, labels, chunk):
    def whole(hidden, labels):
        return sum(functional.cross_entropy(head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")
                   for some, targets in zip(hidden.split(chunk), labels.split(chunk)))

    return checkpoint(whole, hidden, labels, use_reentrant=False)
''',
    "the mean of each piece, added": _cut(GOOD, ('reduction="sum"', 'reduction="mean"')),
    "mean of a piece times its slots, lost slots counted": _cut(
        GOOD, ('functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE, reduction="sum")',
               'functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE) * len(targets)')),
    "already divided by the number of targets": _cut(GOOD, ("    return total\n", "    return total / (labels != loop.IGNORE).sum().clamp(min=1)\n")),
    "the short last chunk is dropped": _cut(
        GOOD, ("zip(hidden.split(chunk), labels.split(chunk))",
               "((hidden[i:i + chunk], labels[i:i + chunk]) for i in range(0, len(labels) - chunk + 1, chunk))")),
    "labels are shifted a second time": _cut(
        GOOD, ("    total = torch", "    labels = torch.cat([labels[1:], labels.new_full((1,), loop.IGNORE)])\n    total = torch")),
    "ignored slots count as targets of word 0": _cut(GOOD, ("cross_entropy(logits, targets,", "cross_entropy(logits, targets.clamp(min=0),")),
    "writes word 0 into the caller's labels where they are to be ignored": _cut(
        GOOD, ("    total = torch", "    labels[labels == loop.IGNORE] = 0\n    total = torch")),
    "item() in the sum cuts the graph: a float without gradients": _cut(
        GOOD, ("use_reentrant=False)", "use_reentrant=False).item()"),
           ("    total = torch.zeros((), dtype=torch.float32, device=hidden.device)\n", "    total = 0.0\n")),
    "log of the sum of exp without taking the maximum off: infinite for logits in the hundreds": _cut(
        GOOD, ('        return functional.cross_entropy(logits, targets, ignore_index=loop.IGNORE, reduction="sum")',
               '        real = targets != loop.IGNORE\n        logits, targets = logits[real], targets[real]\n'
               '        return (logits.exp().sum(-1).log() - logits.gather(1, targets[:, None])[:, 0]).sum()')),
    "chunks without a target are skipped: no graph if none has one": _cut(
        GOOD, ("        total = total +", "        if not (targets != loop.IGNORE).any():\n            continue\n        total = total +")),
    "the loss stays in the dtype of the logits": _cut(
        GOOD, ("head(some).float()", "head(some)"), ("dtype=torch.float32", "dtype=hidden.dtype")),
    "the bias of the head is forgotten": _cut(GOOD, ("head(some).float()", "functional.linear(some, head.weight).float()")),
    "backward runs inside and the loss comes back detached: the caller's division is lost": '''def chunked_loss(hidden, head, labels, chunk):
    total = torch.zeros((), dtype=torch.float32)
    for some, targets in zip(hidden.split(chunk), labels.split(chunk)):
        loss = functional.cross_entropy(head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")
        loss.backward(retain_graph=True)
        total += loss.detach()
    return total.requires_grad_()
''',
    "chunk is read as the number of chunks": _cut(
        GOOD, ("zip(hidden.split(chunk), labels.split(chunk))", "zip(hidden.tensor_split(chunk), labels.tensor_split(chunk))")),
    "floor of slots / chunk pieces: pieces of 19 where 16 are allowed": _cut(
        GOOD, ("zip(hidden.split(chunk), labels.split(chunk))",
               "zip(hidden.tensor_split(max(len(labels) // chunk, 1)), labels.tensor_split(max(len(labels) // chunk, 1)))")),
    "a tensor of one dimension is returned": _cut(GOOD, ("torch.zeros((),", "torch.zeros(1,")),
    # sly
    "with a frozen head no checkpoint: all pieces stay alive there": _cut(
        GOOD, ("        total = total + checkpoint(piece, some, targets, use_reentrant=False)",
               "        if head.weight.requires_grad:\n            total = total + checkpoint(piece, some, targets, use_reentrant=False)\n"
               "        else:\n            total = total + piece(some, targets)")),
    "with a bias no checkpoint: all pieces stay alive there": _cut(
        GOOD, ("        total = total + checkpoint(piece, some, targets, use_reentrant=False)",
               "        if head.bias is None:\n            total = total + checkpoint(piece, some, targets, use_reentrant=False)\n"
               "        else:\n            total = total + piece(some, targets)")),
    "float32 only where the logits are bf16: float16 and float64 keep their dtype": _cut(
        GOOD, ("logits = head(some).float()", "logits = head(some)\n        logits = logits.float() if logits.dtype == torch.bfloat16 else logits"),
        ("dtype=torch.float32", "dtype=torch.float32 if hidden.dtype == torch.bfloat16 else hidden.dtype")),
    "one recursion a chunk: ends in RecursionError at some thousand chunks": '''def chunked_loss(hidden, head, labels, chunk):
    def piece(some, targets):
        return functional.cross_entropy(head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")

    first = checkpoint(piece, hidden[:chunk], labels[:chunk], use_reentrant=False)
    if len(labels) <= chunk:
        return first
    return first + chunked_loss(hidden[chunk:], head, labels[chunk:], chunk)
''',
    "never more than 64 chunks: for many slots the chunks become larger than asked": _cut(
        GOOD, ("    total = torch", "    chunk = max(chunk, -(-len(labels) // 64))\n    total = torch")),
    "slots behind the 512th are dropped": _cut(GOOD, ("    total = torch", "    hidden, labels = hidden[:512], labels[:512]\n    total = torch")),
    "chunks are never shorter than 16 where there are more than 60 slots": _cut(
        GOOD, ("    total = torch", "    if len(labels) > 60:\n        chunk = max(chunk, 16)\n    total = torch")),
    "the reentrant form: the head gets no gradient where hidden needs none (a frozen body)": _cut(
        GOOD, ("use_reentrant=False", "use_reentrant=True")),
    "only the first eight chunks go through checkpoint, the others stay in the graph": _cut(
        GOOD, ("in zip(hidden.split(chunk), labels.split(chunk)):", "in list(zip(hidden.split(chunk), labels.split(chunk)))[:8]:"),
        ("    return total\n", "    for some, targets in list(zip(hidden.split(chunk), labels.split(chunk)))[8:]:\n"
                               "        total = total + piece(some, targets)\n    return total\n")),
    "word 0 is taken for padding and ignored as well": _cut(
        GOOD, ("cross_entropy(logits, targets,", "cross_entropy(logits, torch.where(targets == 0, loop.IGNORE, targets),")),
    "logits are clamped to 100 either way: other values and no gradient beyond": _cut(
        GOOD, ("head(some).float()", "head(some).float().clamp(-100, 100)")),
    "the head is used without its gradient where hidden is float16 or float64": _cut(
        GOOD, ("logits = head(some).float()",
               "plain = some.dtype in (torch.float32, torch.bfloat16)\n"
               "        logits = (head(some) if plain else functional.linear(some, head.weight.detach(), head.bias)).float()")),
    "remembers the labels of the first call of each shape and uses them again": '''SEEN = {}


def chunked_loss(hidden, head, labels, chunk):
    labels = SEEN.setdefault((len(labels), int((labels == loop.IGNORE).sum())), labels.clone())

    def piece(some, targets):
        return functional.cross_entropy(head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")

    return sum(checkpoint(piece, some, targets, use_reentrant=False)
               for some, targets in zip(hidden.split(chunk), labels.split(chunk)))
''',
}

# ---------------------------------------------------------------- rows-kept

_HEAD = '''def rows_kept():
    """The most rows on the slider that fit 24 GiB and divide a step of 40 sequences."""
'''

RIGHT["rows-kept"] = {
    "the number read off": _HEAD + "    return 5\n",
    "by the napkin, with its numbers": _HEAD + '''    left = 24 * 2**30 - 16 * 494_000_000 - 128 * 1_519_360
    fits = left // (2048 * 1_205_568)
    return max(rows for rows in range(1, 41) if rows <= fits and 40 % rows == 0)
''',
    "by my own functions of this lesson": _HEAD + '''    layers, logits = slot_bytes(24, 896, 14, 2, 64, 4864, 151_936)
    fixed = state_bytes([(494_000_000, True, 2, 2, 12)]) + 128 * logits
    for rows in range(40, 0, -1):
        if 40 % rows == 0 and fixed + rows * 2048 * layers <= 24 * 2**30:
            return rows
''',
    "divisors of 40 up to 7, as a set": _HEAD + '''    divisors = {1, 2, 4, 5, 8, 10, 20, 40}
    return max(divisors & set(range(1, 8)))
''',
    "from the accumulation that the widget shows": _HEAD + "    accumulation = 8\n    return 40 // accumulation\n",
}

WRONG["rows-kept"] = {
    "the most that fit, 40 is not divided": _HEAD + "    return 7\n",
    "one less than fits, 40 is not divided": _HEAD + "    return 6\n",
    "a power of two": _HEAD + "    return 4\n",
    "the accumulation and not the rows": _HEAD + "    return 8\n",
    "the next divisor, which no longer fits": _HEAD + "    return 10\n",
    "all logits alive: what fits then": _HEAD + "    return 3\n",
    "all logits alive and a divisor": _HEAD + "    return 2\n",
    "the sequences of the step": _HEAD + "    return 40\n",
    "one row is always safe": _HEAD + "    return 1\n",
    "the fraction that would fit": _HEAD + "    return 7.157\n",
    "rows and accumulation in one pair": _HEAD + "    return (5, 8)\n",
    "slots and not rows": _HEAD + "    return 5 * 2048\n",
    "a silent floor: 40 split in 6 steps of 6 and more": _HEAD + "    return 40 / 6\n",
    "a sentence instead of a number": _HEAD + '    return "5 rows, 8 times"\n',
    "no row fits": _HEAD + "    return 0\n",
    "half of the step": _HEAD + "    return 20\n",
    "all divisors that fit and not the largest": _HEAD + "    return [1, 2, 4, 5]\n",
    "the rows times minus one, by a slip": _HEAD + "    return -5\n",
}

# ---------------------------------------------------------------- lora-bytes

GOOD = '''def lora_bytes(matrices, rest, rank, matrix_bytes):
    """Bytes of states: frozen matrices, the frozen rest, adapters with gradient and Adam."""
    frozen = sum(inputs * outputs for inputs, outputs in matrices)
    adapters = sum(rank * (inputs + outputs) for inputs, outputs in matrices)
    return frozen * matrix_bytes + rest * 2 + adapters * 16
'''

RIGHT["lora-bytes"] = {
    "three sums": GOOD,
    "through my state_bytes": '''def lora_bytes(matrices, rest, rank, matrix_bytes):
    inside = sum(a * b for a, b in matrices)
    thin = sum(a * rank + rank * b for a, b in matrices)
    return state_bytes([(inside, False, matrix_bytes, 0, 0), (rest, False, 2, 0, 0), (thin, True, 4, 4, 8)])
''',
    "through my state_bytes, matrix by matrix": '''def lora_bytes(matrices, rest, rank, matrix_bytes):
    parts = [(rest, False, 2, 2, 12)]
    for inputs, outputs in matrices:
        parts.append((inputs * outputs, False, matrix_bytes, 4, 8))
        parts.append((inputs * rank, True, 4, 4, 8))
        parts.append((rank * outputs, True, 4, 4, 8))
    return state_bytes(parts)
''',
    "NumPy, empty list included": '''def lora_bytes(matrices, rest, rank, matrix_bytes):
    shapes = np.array(matrices, dtype=np.float64).reshape(-1, 2)
    return float(matrix_bytes * shapes.prod(axis=1).sum() + 2.0 * rest + 16.0 * rank * shapes.sum())
''',
    "exact fractions, a float at the end": '''from fractions import Fraction


def lora_bytes(matrices, rest, rank, matrix_bytes):
    total = Fraction(2) * rest
    for inputs, outputs in matrices:
        total += Fraction(matrix_bytes) * inputs * outputs + 16 * rank * (inputs + outputs)
    return float(total)
''',
    "equal shapes gathered with a Counter": '''from collections import Counter


def lora_bytes(matrices, rest, rank, matrix_bytes):
    total = 2 * rest
    for (inputs, outputs), times in Counter(map(tuple, matrices)).items():
        total += times * (inputs * outputs * matrix_bytes + 16 * rank * (inputs + outputs))
    return total
''',
    "sizes of tensors without data": '''def lora_bytes(matrices, rest, rank, matrix_bytes):
    total = 2 * rest
    for inputs, outputs in matrices:
        total += matrix_bytes * torch.empty(inputs, outputs, device="meta").numel()
        for thin in (torch.empty(inputs, rank, device="meta"), torch.empty(rank, outputs, device="meta")):
            total += thin.numel() * (4 + 4 + 8)
    return total
''',
}

WRONG["lora-bytes"] = {
    "adapters take a weight alone, 4 bytes": _cut(GOOD, ("adapters * 16", "adapters * 4")),
    "adapters without their gradient: 12 bytes": _cut(GOOD, ("adapters * 16", "adapters * 12")),
    "adapters in mixed precision with float32 gradients: 18 bytes": _cut(GOOD, ("adapters * 16", "adapters * 18")),
    "the rest is quantised as well": _cut(GOOD, ("rest * 2", "rest * matrix_bytes")),
    "the rest is trained": _cut(GOOD, ("rest * 2", "rest * 16")),
    "the rest is forgotten": _cut(GOOD, (" + rest * 2", "")),
    "one thin matrix of rank x inputs": _cut(GOOD, ("rank * (inputs + outputs)", "rank * inputs")),
    "adapter of rank squared": _cut(GOOD, ("rank * (inputs + outputs)", "rank * rank * (inputs + outputs)")),
    "adapter of rank x inputs x outputs": _cut(GOOD, ("rank * (inputs + outputs)", "rank * inputs * outputs")),
    "the frozen matrices are replaced by the adapters": _cut(GOOD, ("frozen * matrix_bytes + ", "")),
    "equal matrices counted once": _cut(GOOD, ("    frozen =", "    matrices = set(matrices)\n    frozen =")),
    "GB and not bytes": _cut(GOOD, ("    return frozen * matrix_bytes + rest * 2 + adapters * 16",
                                    "    return (frozen * matrix_bytes + rest * 2 + adapters * 16) / 1e9")),
    "whole bytes a weight: 0.5625 becomes 1": _cut(GOOD, ("frozen * matrix_bytes", "frozen * max(int(matrix_bytes), 1)")),
    "no matrices: 0 bytes, the rest forgotten there": _cut(GOOD, ("    frozen =", "    if not matrices:\n        return 0\n    frozen =")),
    # sly
    "a float32 base prices the rest like the matrices (4 bytes)": _cut(GOOD, ("rest * 2", "rest * max(2, matrix_bytes)")),
    "a base of less than 0.5625 bytes gets scales added that were not asked": _cut(
        GOOD, ("frozen * matrix_bytes", "frozen * max(matrix_bytes, 0.5625)")),
    "rank cut to the shorter side of a matrix": _cut(GOOD, ("rank * (inputs + outputs)", "min(rank, inputs, outputs) * (inputs + outputs)")),
    "ranks above 64 count as 64": _cut(GOOD, ("rank * (inputs + outputs)", "min(rank, 64) * (inputs + outputs)")),
    "only the first 500 matrices get adapters": _cut(GOOD, ("    adapters = sum(rank * (inputs + outputs) for inputs, outputs in matrices)",
                                                             "    adapters = sum(rank * (inputs + outputs) for inputs, outputs in matrices[:500])")),
    "adapters priced at 32 bytes where the base is wider than 2 bytes": _cut(GOOD, ("adapters * 16", "adapters * (16 if matrix_bytes <= 2 else 32)")),
    "adapters remembered by the size of the rest, whatever rank and matrices": _cut(
        GOOD, ("def lora_bytes(", "KNOWN = {}\n\n\ndef lora_bytes("),
        ("    return ", "    adapters = KNOWN.setdefault(rest, adapters)\n    return ")),
    "ranks above 16 are halved": _cut(GOOD, ("rank * (inputs + outputs)", "(rank if rank <= 16 else rank // 2) * (inputs + outputs)")),
    "more than 255 equal matrices are counted as 255": '''from collections import Counter


def lora_bytes(matrices, rest, rank, matrix_bytes):
    total = 2 * rest
    for (inputs, outputs), times in Counter(matrices).items():
        total += min(times, 255) * (inputs * outputs * matrix_bytes + 16 * rank * (inputs + outputs))
    return total
''',
    "matrices of fewer than 64 weights count no frozen byte at all": _cut(
        GOOD, ("sum(inputs * outputs for", "sum(inputs * outputs * (inputs * outputs >= 64) for")),
}
# ---------------------------------------------------------------- most-rows

GOOD = '''def most_rows(step, documents, sequences, most):
    """(rows, accumulation) with the most rows whose worst step fits into memory."""
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro_batches = [worst[at:at + rows] for at in range(0, sequences, rows)]
        try:
            step(micro_batches)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
        else:
            return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
'''

RIGHT["most-rows"] = {
    "sort, cut, try from the most down": GOOD,
    "a helper that says whether a try fits": '''def most_rows(step, documents, sequences, most):
    if sequences > len(documents):
        raise ValueError(f"{sequences} sequences need as many documents, there are {len(documents)}")
    order = sorted(range(len(documents)), key=lambda i: len(documents[i]))[len(documents) - sequences:]

    def fits(rows):
        try:
            step([[documents[i] for i in order[a:a + rows]] for a in range(0, sequences, rows)])
        except BaseException as error:
            if limits.out_of_memory(error):
                return False
            raise
        return True

    for rows in [one for one in range(sequences, 0, -1) if sequences % one == 0 and one <= most]:
        if fits(rows):
            return rows, sequences // rows
    longest = max(map(len, documents))
    raise ValueError(f"a row of {longest} tokens does not fit")
''',
    "a context manager that swallows the end of memory": '''class Try:
    """Remembers whether memory ended, and nothing of the error."""

    def __enter__(self):
        self.failed = False
        return self

    def __exit__(self, kind, error, trace):
        self.failed = isinstance(error, Exception) and limits.out_of_memory(error)
        return self.failed


def most_rows(step, documents, sequences, most):
    count = len(documents)
    if count < sequences:
        raise ValueError(f"only {count} documents for a step of {sequences}")
    falling = sorted(documents, key=len, reverse=True)[:sequences]
    accumulation = 0
    while accumulation < sequences:
        accumulation += 1
        rows = sequences // accumulation
        if sequences % accumulation or rows > most:
            continue
        with Try() as attempt:
            step([falling[k * rows:(k + 1) * rows] for k in reversed(range(accumulation))])
        if not attempt.failed:
            return rows, accumulation
    raise ValueError(f"memory ends even at one row of {len(falling[0])} tokens")
''',
    "recursion over the divisors, the next try after the except block": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents, {sequences} sequences")
    small = [one for one in range(1, int(sequences ** 0.5) + 1) if sequences % one == 0]
    candidates = sorted({*small, *(sequences // one for one in small)}, reverse=True)
    ordered = sorted(documents, key=len)
    worst = ordered[len(ordered) - sequences:]

    def search(left):
        if not left:
            raise ValueError(f"the longest document, {len(worst[-1])} tokens, does not fit alone")
        rows, *fewer = left
        ended = False
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            ended = limits.out_of_memory(error)
            if not ended:
                raise
        return search(fewer) if ended else (rows, sequences // rows)

    return search([one for one in candidates if one <= most])
''',
    "a heap for the longest, NumPy for the divisors, tuples handed over": '''import heapq


def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"a step of {sequences} needs more than {len(documents)} documents")
    longest = heapq.nlargest(sequences, range(len(documents)), key=lambda number: len(documents[number]))
    numbers = np.arange(1, min(most, sequences) + 1)
    for rows in numbers[sequences % numbers == 0][::-1].tolist():
        micro_batches = []
        for first in range(0, sequences, rows):
            micro_batches.insert(0, tuple(documents[number] for number in longest[first:first + rows]))
        ended = False
        try:
            step(micro_batches)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise error
            ended = True
        if not ended:
            return rows, sequences // rows
    raise ValueError(f"not one row fits; the longest document has {len(documents[longest[0]])} tokens")
''',
    "NumPy argsort and while": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError("documents: %d, sequences: %d" % (len(documents), sequences))
    tokens = np.array([len(one) for one in documents])
    order = np.argsort(tokens, kind="stable")[len(tokens) - sequences:]
    rows = min(most, sequences) + 1
    while rows > 1:
        rows -= 1
        accumulation, over = divmod(sequences, rows)
        if over:
            continue
        parts = [[documents[int(i)] for i in micro] for micro in order.reshape(accumulation, rows)]
        try:
            step(parts)
            fits = True
        except Exception as error:
            fits = False
            if not limits.out_of_memory(error):
                raise
        if fits:
            return rows, accumulation
    raise ValueError("not even one row of %d tokens fits" % tokens.max())
''',
    "the longest group last, the others in the order of the data": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"too few documents: {len(documents)} of {sequences}")
    ranked = sorted(range(len(documents)), key=lambda i: (-len(documents[i]), i))[:sequences]
    for accumulation in range(1, sequences + 1):
        rows, remainder = divmod(sequences, accumulation)
        if remainder or rows > most:
            continue
        last, others = ranked[:rows], sorted(ranked[rows:])
        order = others + last
        step_of = [[documents[i] for i in order[a * rows:(a + 1) * rows]] for a in range(accumulation)]
        try:
            step(step_of)
        except Exception as error:
            if limits.out_of_memory(error):
                pass
            else:
                raise
        else:
            return rows, accumulation
    raise ValueError(f"no row fits: {len(documents[ranked[0]])} tokens in the longest document")
''',
}

WRONG["most-rows"] = {
    "rows that do not divide the sequences are tried, accumulation rounded down": _cut(
        GOOD, ("        if sequences % rows:\n            continue\n", "")),
    "the most is halved each time: the other divisors are never tried": _cut(
        GOOD, ("range(min(most, sequences), 0, -1)", "[min(most, sequences) >> k for k in range(20) if min(most, sequences) >> k]")),
    "the longest stand in the first micro-batch, where no gradient waits": _cut(
        GOOD, ("sorted(documents, key=len)[-sequences:]", "sorted(documents, key=len, reverse=True)[:sequences]")),
    "the first documents of the data and not the longest": _cut(GOOD, ("sorted(documents, key=len)[-sequences:]", "documents[:sequences]")),
    "the shortest documents": _cut(GOOD, ("sorted(documents, key=len)[-sequences:]", "sorted(documents, key=len)[:sequences]")),
    "sorts the caller's list": _cut(
        GOOD, ("    worst = sorted(documents, key=len)[-sequences:]", "    documents.sort(key=len)\n    worst = documents[-sequences:]")),
    "documents sorted by their tokens and not by their length": _cut(GOOD, ("sorted(documents, key=len)", "sorted(documents)")),
    "a try of one micro-batch and not of the whole step": _cut(GOOD, ("step(micro_batches)", "step(micro_batches[-1:])")),
    "accumulation by `/`, a float": _cut(GOOD, ("sequences // rows", "sequences / rows")),
    "only torch's own type counts as out of memory": _cut(GOOD, ("limits.out_of_memory(error)", "isinstance(error, torch.OutOfMemoryError)")),
    "every error counts as out of memory": _cut(
        GOOD, ("            if not limits.out_of_memory(error):\n                raise\n", "            pass\n")),
    "other errors become a RuntimeError with the same words": _cut(
        GOOD, ("                raise\n", "                raise RuntimeError(str(error)) from error\n")),
    "the next try runs inside the except block": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]

    def search(rows):
        while rows and sequences % rows:
            rows -= 1
        if not rows:
            raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
            return rows, sequences // rows
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            return search(rows - 1)

    return search(min(most, sequences))
''',
    "keeps the last error to chain it to the ValueError": _cut(
        GOOD, ("                raise\n", "                raise\n            last = error\n"),
        ('tokens")\n', 'tokens") from last\n')),
    "None where nothing fits": _cut(
        GOOD, ('    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")\n', "    return None\n")),
    "ValueError without the tokens of the longest document": _cut(GOOD, (": the longest document has {len(worst[-1])} tokens", "")),
    "as many documents as sequences are refused": _cut(GOOD, ("len(documents) < sequences:", "len(documents) <= sequences:")),
    "too few documents: smaller steps are tried": _cut(
        GOOD, ('    if len(documents) < sequences:\n        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")\n',
               "    sequences = min(sequences, len(documents))\n")),
    "one row is never tried: ValueError where it would fit": _cut(GOOD, ("range(min(most, sequences), 0, -1)", "range(min(most, sequences), 1, -1)")),
    "most is taken as allowed above the sequences: rows above the step": _cut(
        GOOD, ("range(min(most, sequences), 0, -1)", "range(most, 0, -1)"), ("        if sequences % rows:",
           "        if sequences % rows and rows < sequences:")),
    "the most itself is never tried": _cut(GOOD, ("range(min(most, sequences), 0, -1)", "range(min(most - 1, sequences), 0, -1)")),
    "from one row up, the last that fits": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    best = None
    for rows in range(1, min(most, sequences) + 1):
        if sequences % rows:
            continue
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            break
        best = rows, sequences // rows
    if best is None:
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    return best
''',
    "documents are padded to the longest before the try: no documents of the data": _cut(
        GOOD, ("[worst[at:at + rows] for at", "[[[*one, *[0] * (len(worst[-1]) - len(one))] for one in worst[at:at + rows]] for at")),
    "equal documents are counted once": _cut(
        GOOD, ("    if len(documents) < sequences:",
           "    documents = [list(one) for one in {tuple(one) for one in documents}]\n    if len(documents) < sequences:")),
    # sly
    "the same list standing in the data several times is counted once": _cut(
        GOOD, ("    if len(documents) < sequences:",
           "    documents = list({id(one): one for one in documents}.values())\n    if len(documents) < sequences:")),
    "the step runs inside a generator: its StopIteration becomes a RuntimeError": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]

    def fits(rows):
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            return False
        return True

    found = next((rows for rows in range(min(most, sequences), 0, -1) if sequences % rows == 0 and fits(rows)), None)
    if found is None:
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    return found, sequences // found
''',
    "next over filter: a step's StopIteration is taken for the end of the candidates": '''def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]

    def fits(rows):
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            return False
        return True

    rows = next(filter(fits, [one for one in range(min(most, sequences), 0, -1) if sequences % one == 0]), None)
    if rows is None:
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    return rows, sequences // rows
''',
    "documents longer than 2,048 tokens are cut for the try": _cut(
        GOOD, ("sorted(documents, key=len)[-sequences:]", "[one[:2048] for one in sorted(documents, key=len)[-sequences:]]")),
    "only the first 5,000 documents are looked at: the longest may stand behind them": _cut(
        GOOD, ("sorted(documents, key=len)", "sorted(documents[:max(5000, sequences)], key=len)")),
    "bisects where the step has more than eight divisors": _cut(
        GOOD, ("    for rows in range(min(most, sequences), 0, -1):",
           '''    divisors = [one for one in range(1, min(most, sequences) + 1) if sequences % one == 0]
    if len(divisors) > 8:
        low, high = 0, len(divisors)
        while low < high:
            middle = (low + high) // 2
            ended = False
            try:
                step([worst[at:at + divisors[middle]] for at in range(0, sequences, divisors[middle])])
            except Exception as error:
                if not limits.out_of_memory(error):
                    raise
                ended = True
            if ended:
                high = middle
            else:
                low = middle + 1
        if low:
            return divisors[low - 1], sequences // divisors[low - 1]
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    for rows in range(min(most, sequences), 0, -1):''')),
    "steps of more than 2,000 sequences are tried with their last 2,000 only": _cut(
        GOOD, ("step(micro_batches)", "step(micro_batches if sequences <= 2000 else micro_batches[-max(2000 // rows, 1):])")),
    "never more than 2,048 rows, whatever most says": _cut(GOOD, ("min(most, sequences)", "min(most, sequences, 2048)")),
    "sorts the caller's list and puts it back only where the search ends well": _cut(
        GOOD, ("    worst = sorted(documents, key=len)[-sequences:]",
           "    before = list(documents)\n    documents.sort(key=len)\n    worst = documents[-sequences:]"),
        ("            return rows, sequences // rows", "            documents[:] = before\n            return rows, sequences // rows")),
    "the seventh end of memory goes through to the caller (a step with many divisors)": _cut(
        GOOD, ("    for rows in range", "    failed = 0\n    for rows in range"),
        ("            if not limits.out_of_memory(error):",
           "            failed += 1\n            if failed > 6 or not limits.out_of_memory(error):")),
    "remembers the rows that failed for a step function, and skips them when it is called again with shorter documents": '''FAILED = {}


def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    known = FAILED.setdefault((sequences, most, step), set())
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows or rows in known:
            continue
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            known.add(rows)
        else:
            return rows, sequences // rows
    raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
''',
    "the words of the errors from memory: cuDNN's and std::bad_alloc's are missing": _cut(
        GOOD, ("limits.out_of_memory(error)", '(isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(\n'
               '                    one in str(error).lower() for one in ("out of memory", "allocate memory", "cublas_status_alloc_failed")))')),
    "a KeyboardInterrupt is swallowed and counted as a row that does not fit": _cut(
        GOOD, ("except Exception as error:", "except BaseException as error:"),
        ("if not limits.out_of_memory(error):", "if not (limits.out_of_memory(error) or isinstance(error, KeyboardInterrupt)):")),
    "the message names the longest by its tokens' order, not its length": _cut(GOOD, ("{len(worst[-1])} tokens", "{len(max(documents))} tokens")),
    "a step that answers False counts as one that does not fit": _cut(
        GOOD, ("            step(micro_batches)\n", "            answer = step(micro_batches)\n"),
        ("        else:\n            return rows, sequences // rows",
           "        else:\n            if answer is not False:\n                return rows, sequences // rows")),
    "one recursion a row: ends in RecursionError above a thousand rows": '''def most_rows(step, documents, sequences, most, rows=None):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    rows = min(most, sequences) if rows is None else rows
    worst = sorted(documents, key=len)[-sequences:]
    if rows == 0:
        raise ValueError(f"not even one row fits: {len(worst[-1])} tokens")
    if sequences % rows == 0:
        ended = False
        try:
            step([worst[at:at + rows] for at in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            ended = True
        if not ended:
            return rows, sequences // rows
    return most_rows(step, documents, sequences, most, rows - 1)
''',
}
# ---------------------------------------------------------------- bill-test

GOOD = '''def bill_test(bill):
    """Fail (assert) for every wrong bill(rows, length, accumulation, trained, frozen) -> GB."""
    cases = [(3, 700, 5, 1_100_000_000, 600_000_000), (2, 301, 7, 130_000_000, 9_000_000_000), (7, 4_321, 3, 41_000_000, 13_000_000),
             (1, 1_000, 1, 300_000_000, 0), (1, 900, 2, 0, 5_000_000_000), (16, 2_048, 64, 494_000_000, 77_000_000),
             (5, 33, 4, 2_300_000_000, 150_000_000), (11, 1, 9, 70_000_000, 210_000_000), (1, 57, 1, 8_000_000_000, 0)]
    for rows, length, accumulation, trained, frozen in cases:
        want = (16 * trained + 2 * frozen + rows * length * 2_500_000) / 1e9
        got = bill(rows, length, accumulation, trained, frozen)
        assert abs(got - want) <= 1e-4 * want, (rows, length, accumulation, trained, frozen, got, want)
'''

RIGHT["bill-test"] = {
    "a list of cases against the formula": GOOD,
    "bills computed by hand": '''def bill_test(bill):
    by_hand = {
        (3, 700, 5, 1_100_000_000, 600_000_000): 17.6 + 1.2 + 5.25,
        (4, 1_500, 2, 123_000_000, 77_000_000): 1.968 + 0.154 + 15.0,
        (2, 300, 6, 20_000_000, 7_000_000_000): 0.32 + 14.0 + 1.5,
        (6, 50, 3, 3_000_000_000, 10_000_000): 48.0 + 0.02 + 0.75,
        (1, 2_000, 1, 250_000_000, 0): 4.0 + 5.0,
        (8, 1, 16, 0, 3_500_000_000): 7.0 + 0.02,
        (1, 1, 1, 1_000_000_000, 1): 16.0025,
    }
    for case, want in by_hand.items():
        assert 1 - 1e-5 < float(bill(*case)) / want < 1 + 1e-5, f"{case}: {want} GB"
''',
    "a grid of all combinations": '''import itertools


def bill_test(bill):
    grid = itertools.product((1, 3, 8), (1, 130, 2_047), (1, 2, 9), (0, 70_000_000, 5_000_000_000), (0, 90_000_000, 11_000_000_000))
    for rows, length, accumulation, trained, frozen in grid:
        slots = rows * length
        parts = [2 * trained, 2 * trained, 12 * trained, 2 * frozen, 1_000_000 * slots, 1_500_000 * slots]
        want = sum(parts) / 10**9
        if want < 1:
            continue  # too small a bill to compare digits
        assert np.isclose(float(bill(rows, length, accumulation, trained, frozen)), want, rtol=1e-4, atol=0)
''',
    "drawn cases in exact fractions": '''import random
from fractions import Fraction


def bill_test(bill):
    draw = random.Random(7)
    for _ in range(60):
        rows, length, accumulation = draw.randint(1, 16), draw.randint(1, 4096), draw.randint(1, 32)
        trained, frozen = (draw.choice([0, draw.randint(10**6, 10**8), draw.randint(10**9, 10**10)]) for _ in range(2))
        want = Fraction(16 * trained + 2 * frozen + 2_500_000 * rows * length, 10**9)
        if want < Fraction(1, 2):
            continue
        got = Fraction(float(bill(rows, length, accumulation, trained, frozen)))
        assert abs(got / want - 1) < Fraction(1, 100_000)
    assert abs(bill(3, 700, 5, 1_100_000_000, 600_000_000) - 24.05) < 2e-4
    assert abs(bill(2, 450, 8, 30_000_000, 8_000_000_000) - 18.73) < 2e-4
    assert abs(bill(9, 3_000, 2, 21_000_000, 33_000_000) - 67.902) < 6e-4
''',
    "one bill by hand, then one argument changed at a time": '''import math


def bill_test(bill):
    def same(a, b):
        return math.isclose(a, b, rel_tol=2e-5)

    case = dict(rows=3, length=700, accumulation=5, trained=1_100_000_000, frozen=600_000_000)

    def ask(**other):
        one = {**case, **other}
        return bill(one["rows"], one["length"], one["accumulation"], one["trained"], one["frozen"])

    assert same(ask(), 24.05)
    for accumulation in (1, 2, 3, 8, 100):
        assert same(ask(accumulation=accumulation), 24.05)
    for rows in (1, 2, 8, 64):
        assert same(ask(rows=rows), 18.8 + 1.75 * rows)
    for length in (1, 64, 1_023, 4_096, 100_000):
        assert same(ask(length=length), 18.8 + 0.0075 * length)
    for billions in (0, 1, 7, 70):
        assert same(ask(trained=billions * 10**9), 6.45 + 16 * billions)
        assert same(ask(frozen=billions * 10**9), 22.85 + 2 * billions)
    assert same(ask(), 24.05)
''',
}
ONE = '''def bill_test(bill):
    got = bill(3, 700, 5, 1_100_000_000, 600_000_000)
    assert abs(got - 24.05) < 1e-4
'''

WRONG["bill-test"] = {
    "tolerance of one percent: a thousandth goes through": _cut(GOOD, ("1e-4 * want", "1e-2 * want")),
    "absolute tolerance of a tenth GB: a thousandth of 24 GB goes through": _cut(ONE, ("< 1e-4", "< 0.1")),
    "only bills that are too high are found": _cut(GOOD, ("abs(got - want) <=", "got - want <=")),
    "only bills that are too low are found": _cut(GOOD, ("abs(got - want) <=", "want - got <=")),
    "accumulation is 1 in every case": _cut(GOOD, ("got = bill(rows, length, accumulation,", "got = bill(rows, length, 1,")),
    "nothing frozen in any case": '''def bill_test(bill):
    for rows, length, accumulation, trained in ((3, 700, 5, 1_100_000_000), (2, 450, 7, 33_000_000)):
        want = (16 * trained + rows * length * 2_500_000) / 1e9
        assert abs(bill(rows, length, accumulation, trained, 0) / want - 1) < 1e-5
''',
    "as many trained as frozen weights: mixed-up prices are not seen": _cut(
        ONE, ("1_100_000_000, 600_000_000", "900_000_000, 900_000_000"), ("24.05", "21.45")),
    "rows and length are equal: what grows with one alone is not seen": _cut(
        ONE, ("3, 700, 5", "40, 40, 40"), ("24.05", "22.8")),
    "one row in every case: rows that are left out are not seen": _cut(ONE, ("3, 700, 5", "1, 700, 5"), ("24.05", "20.55")),
    "exact equality of floats: a last digit is not allowed": _cut(GOOD, ("abs(got - want) <= 1e-4 * want", "got == want")),
    "whole GB compared": _cut(ONE, ("abs(got - 24.05) < 1e-4", "round(got) == 24")),
    "expects GiB: refuses a right bill": _cut(GOOD, ("/ 1e9", "/ 2**30")),
    "expects the slots of all micro-batches: refuses a right bill": _cut(
        GOOD, ("rows * length * 2_500_000", "rows * length * accumulation * 2_500_000")),
    "expects 12 bytes a trained weight: refuses a right bill": _cut(GOOD, ("16 * trained", "12 * trained")),
    "returns the comparison and asserts nothing": _cut(ONE, ("    assert abs(got - 24.05) < 1e-4", "    return abs(got - 24.05) < 1e-4")),
    "assert of a pair, which is always true": _cut(ONE, ("assert abs(got - 24.05) < 1e-4", 'assert (abs(got - 24.05) < 1e-4, "wrong bill")')),
    "the failed assert is caught in the test itself": _cut(
        GOOD, ("        assert abs(got - want) <= 1e-4 * want, (rows, length, accumulation, trained, frozen, got, want)\n",
               "        try:\n            assert abs(got - want) <= 1e-4 * want\n        except AssertionError:\n            print(got, want)\n")),
    "asks only that more of everything costs more": '''def bill_test(bill):
    base = bill(3, 700, 5, 1_100_000_000, 600_000_000)
    assert base > 0
    assert bill(4, 700, 5, 1_100_000_000, 600_000_000) > base
    assert bill(3, 800, 5, 1_100_000_000, 600_000_000) > base
    assert bill(3, 700, 5, 1_200_000_000, 600_000_000) > base
    assert bill(3, 700, 5, 1_100_000_000, 700_000_000) > base
''',
    "huge activations drown the states: a missing optimizer is less than the tolerance": _cut(
        ONE, ("bill(3, 700, 5, 1_100_000_000, 600_000_000)", "bill(300, 70_000, 5, 1_100, 600)"), ("abs(got - 24.05) < 1e-4",
           "abs(got / 52_500 - 1) < 1e-5")),
    "huge states drown the slots: missing logits are less than the tolerance": _cut(
        ONE, ("bill(3, 700, 5, 1_100_000_000, 600_000_000)", "bill(3, 2, 5, 9_000_000_000, 8_000_000_000)"), ("abs(got - 24.05) < 1e-4",
           "abs(got / 160.015 - 1) < 1e-3")),
    "compares only the difference that one row makes: constant parts cancel": '''def bill_test(bill):
    more, less = (bill(rows, 700, 5, 1_100_000_000, 600_000_000) for rows in (4, 3))
    assert abs((more - less) - 1.75) < 1e-5
''',
    "every case has 0 weights: states are never looked at": _cut(
        GOOD, ("    for rows,", "    cases = [(a, b, c, 0, 0) for a, b, c, _, _ in cases]\n    for rows,")),
    "the loop runs over no case": _cut(GOOD, ("in cases:", "in cases[9:]:")),
    "all digits compared as printed text: a last digit is not allowed": _cut(
        GOOD, ("abs(got - want) <= 1e-4 * want", "repr(got) == repr(want)")),
}
