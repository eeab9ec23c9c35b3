import runpy
_n = runpy.run_path(str(__import__("pathlib").Path(__file__).with_name("s7_07_memory.py")), run_name="x")
cl, mr, bt, L, lb, BASE, PIECE, LOOP, sb = (_n[k] for k in "cl mr bt L lb BASE PIECE LOOP sb".split())
def B(*pairs):
    code = BASE
    for old, new in pairs:
        assert code.count(old) == 1, (old, code.count(old))
        code = code.replace(old, new)
    return code
FOR = "    for rows in range(min(most, sequences), 0, -1):\n"
EXC = "                raise\n            continue\n"
WRONG, RIGHT = {}, {}
WRONG["most-rows"] = {
    "last error kept for `raise ... from`": B((FOR, "    last = None\n" + FOR), (EXC, "                raise\n            last = error\n            continue\n"), ('tokens")', 'tokens") from last')),
    "all errors collected in a list": B((FOR, "    errors = []\n" + FOR), (EXC, "                raise\n            errors.append(error)\n            continue\n")),
    "error kept in a name and judged after except, not cleared": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
for rows in range(min(most, sequences), 0, -1):
    if sequences % rows:
        continue
    try:
        step([worst[a:a + rows] for a in range(0, sequences, rows)])
        return rows, sequences // rows
    except Exception as error:
        failure = error
    if not limits.out_of_memory(failure):
        raise failure
raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
'''),
    "traceback kept by sys.exc_info": "import sys\n" + B((FOR, "    info = None\n" + FOR), (EXC, "                raise\n            info = sys.exc_info()\n            continue\n")),
    "rows that divide `most`, not the sequences": B(("if sequences % rows:", "if most % rows:")),
    "a step for each micro-batch": B(("            step(micro)\n", "            for one in micro:\n                step([one])\n")),
    "only the two longest micro-batches": B(("step(micro)", "step(micro[-2:])")),
    "too few compared with most": B(("if len(documents) < sequences:", "if len(documents) < most:")),
    "most above sequences refused": B((FOR, "    if most > sequences:\n        raise ValueError('most')\n" + FOR)),
    "two longest cut off as outliers": B(("sorted(documents, key=len)[-sequences:]", "sorted(documents, key=len)[:-2][-sequences:]")),
    "next try in finally/else of the same except": mr('''
if len(documents) < sequences:
    raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
worst = sorted(documents, key=len)[-sequences:]
sizes = [rows for rows in range(min(most, sequences), 0, -1) if sequences % rows == 0]
def attempt(k):
    if k == len(sizes):
        raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
    rows = sizes[k]
    try:
        step([worst[a:a + rows] for a in range(0, sequences, rows)])
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        return attempt(k + 1)
    return rows, sequences // rows
return attempt(0)
'''),
    "other error: return None silently": B((EXC, "                return None\n            continue\n")),
    "other error printed, search goes on to fewer rows only for RuntimeError": B(("if not limits.out_of_memory(error):", "if not limits.out_of_memory(error) and not isinstance(error, RuntimeError):")),
    "other error raised from None as the same class": B((EXC, "                raise type(error)(*error.args) from None\n            continue\n")),
    "micro-batches as tuples of documents (no lists)": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "tuple(tuple(worst[a:a + rows]) for a in range(0, sequences, rows))")),
    "zip iterator of micro-batches": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "zip(*[iter(worst)] * rows)")),
    "lengths instead of documents": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[[len(d) for d in worst[a:a + rows]] for a in range(0, sequences, rows)]")),
    "made-up documents of the same lengths": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[[[0] * len(d) for d in worst[a:a + rows]] for a in range(0, sequences, rows)]")),
    "one document too many demanded in message only: sequences twice": B(("{len(documents)} documents are too few for {sequences} sequences", "{sequences} documents are too few for {sequences} sequences")),
    "stops at the first failure after one retry (three tries at most)": B((FOR, "    tries = 0\n" + FOR), ("    try:\n", "    tries += 1\n        if tries > 3:\n            break\n        try:\n")),
    "most - or sequences - as the first try although it does not divide, then floored": B(("    micro = [worst", "    sequences = sequences // rows * rows\n        micro = [worst"), ("        if sequences % rows:\n            continue\n", "")),
}
RIGHT["most-rows"] = {
    "text of the error kept for the message": B((FOR, "    told = ''\n" + FOR), (EXC, "                raise\n            told = str(error)\n            continue\n"), ('tokens")', 'tokens ({told})")')),
    "failure cleared before each try": mr('''
have = len(documents)
if have < sequences:
    raise ValueError(f"have {have}, need {sequences}")
worst = sorted(documents, key=len)[have - sequences:]
rows = min(most, sequences)
while rows >= 1:
    if sequences % rows == 0:
        failed = False
        try:
            step([worst[k:k + rows] for k in range(0, sequences, rows)])
        except BaseException as error:
            if isinstance(error, Exception) and limits.out_of_memory(error):
                failed = True
            else:
                raise
        if not failed:
            return rows, sequences // rows
        limits.collect_memory("cpu")
    rows -= 1
raise ValueError("the longest document, %d tokens, does not fit alone" % len(worst[-1]))
'''),
    "copied documents (list of lists)": B(("[worst[a:a + rows] for a in range(0, sequences, rows)]", "[[list(d) for d in worst[a:a + rows]] for a in range(0, sequences, rows)]")),
}
WRONG["chunked-loss"] = {
    "number of pieces rounded": cl(PIECE + """
pieces = max(1, round(len(labels) / chunk))
return sum(checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.chunk(pieces), labels.chunk(pieces)))"""),
    "one slot more in each chunk (chunk + 1)": cl(PIECE + LOOP.replace("split(chunk)", "split(chunk + 1)")),
    "chunks of at least 8 slots": cl("chunk = max(chunk, 8)\n" + PIECE.strip("\n") + LOOP),
    "logits of two chunks: the next is made before the last is freed": cl("""
first = [head(h) for h in hidden.split(chunk)]
def loss(l, y):
    return functional.cross_entropy(l.float(), y, reduction="sum")
return sum(checkpoint(loss, l, y, use_reentrant=False) for l, y in zip(first, labels.split(chunk)))"""),
    "dtype of hidden.float() @ float weight: float32 head kept as copy for all": cl("""
weight = head.weight.float()
def piece(h, y):
    return functional.cross_entropy(h.float() @ weight.T, y, reduction="sum")
return sum(checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.split(chunk), labels.split(chunk)))"""),
    "float64 sum": cl(PIECE + "return sum(checkpoint(piece, h, y, use_reentrant=False).double() for h, y in zip(hidden.split(chunk), labels.split(chunk)))"),
    "gradients made in the forward pass, division lost, .grad of head set at once": cl("""
total = torch.zeros(())
grads = []
for h, y in zip(hidden.split(chunk), labels.split(chunk)):
    h = h.detach().requires_grad_()
    loss = functional.cross_entropy(head(h).float(), y, reduction="sum")
    loss.backward()
    grads.append(h.grad)
    total += loss.detach()
surrogate = (hidden * torch.cat(grads)).sum().float()
return surrogate - surrogate.detach() + total"""),
    "no IGNORE: ignore_index=-1": cl("labels = labels.masked_fill(labels == loop.IGNORE, -1)" + PIECE.replace("loop.IGNORE", "-1") + LOOP.replace("return total", "return total")),
    "label smoothing left on": cl(PIECE.replace('reduction="sum"', 'reduction="sum", label_smoothing=0.1') + LOOP),
    "nll of softmax then log: -inf for small probabilities": cl("""
def piece(h, y):
    return functional.nll_loss(head(h).float().softmax(-1).log(), y, ignore_index=-100, reduction="sum")
return sum(checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.split(chunk), labels.split(chunk)))"""),
    "caller's labels changed: ignored set to 0": cl("""
keep = labels != loop.IGNORE
labels[~keep] = 0
def piece(h, y, k):
    return (functional.cross_entropy(head(h).float(), y, reduction="none") * k).sum()
return sum(checkpoint(piece, h, y, k, use_reentrant=False) for h, y, k in zip(hidden.split(chunk), labels.split(chunk), keep.split(chunk)))"""),
}
# the one with -1 is right (same result): judged as a style
RIGHT["chunked-loss"] = {
    "own ignore index on a copy": WRONG["chunked-loss"].pop("no IGNORE: ignore_index=-1"),
    "use_reentrant=True": cl(PIECE + LOOP.replace("use_reentrant=False", "use_reentrant=True")),
    "functional.linear with weight and bias": cl("""
def piece(h, y, weight, bias):
    return functional.cross_entropy(functional.linear(h, weight, bias).float(), y, reduction="sum")
total = hidden.new_zeros((), dtype=torch.float32)
for start in range(0, len(hidden), chunk):
    part = slice(start, start + chunk)
    total = total + checkpoint(piece, hidden[part], labels[part], head.weight, head.bias, use_reentrant=False)
return total"""),
}
WRONG["lora-bytes"] = {
    "whole bytes: int()": L().replace("return ", "return int(").rstrip() + ")\n",
    "frozen matrices floored each": L(f="sum(int(i * o * matrix_bytes) for i, o in matrices)"),
    "rest in matrix_bytes when that is 2 anyway, adapters from both products": L(r="max(2, matrix_bytes) * rest", a="16 * rank * sum(i + o for i, o in matrices)"),
    "state kept: default list of parts": "def lora_bytes(matrices, rest, rank, matrix_bytes, parts=[]):\n    parts.append((rest, False, 2, 0, 0))\n    for i, o in matrices:\n        parts += [(i * o, False, matrix_bytes, 0, 0), (rank * (i + o), True, 4, 4, 8)]\n    return state_bytes(parts)\n",
    "dict of matrices by shape": lb("""
found = {i * o: i + o for i, o in matrices}
return sum(found) * matrix_bytes + 2 * rest + 16 * rank * sum(found.values())"""),
    "square matrices assumed (2 x inputs)": L(a="16 * rank * sum(2 * i for i, o in matrices)"),
    "rank capped at the smaller side": L(a="16 * sum(min(rank, i - 1, o - 1) * (i + o) for i, o in matrices)"),
}
C = "3, 701, 4, 123_456_789, 987_654_321"
WRONG["bill-test"] = {
    "exact ==, sum in bytes then / 1e9": bt(f"assert bill({C}) == (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9"),
    "exact ==, decimal by hand": bt("assert bill(3, 7, 5, 1_300_000, 17_000_000) == 0.1073"),
    "exact ==, / 10**9 with ints": bt(f"assert bill({C}) == (16*123_456_789 + 2*987_654_321 + 2_500_000*3*701) / 10**9"),
    "exact ==, products of GB": bt(f"assert bill({C}) == 123_456_789e-9*16 + 987_654_321e-9*2 + 3*701*2.5e-3"),
    "length 1": bt("assert abs(bill(3, 1, 4, 1_000_003, 2_000_005) - (16*1_000_003 + 2*2_000_005 + 2.5e6*3)/1e9) < 1e-9"),
    "rows = accumulation": bt("assert abs(bill(4, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*4*701)/1e9) < 1e-6"),
    "rows = length": bt("assert abs(bill(7, 7, 4, 1_456_789, 9_654_321) - (16*1_456_789 + 2*9_654_321 + 2.5e6*49)/1e9) < 1e-6"),
    "trained = frozen": bt("assert abs(bill(3, 701, 4, 10**8, 10**8) - (18*10**8 + 2.5e6*3*701)/1e9) < 1e-6"),
    "length = accumulation": bt("assert abs(bill(3, 5, 5, 1_456_789, 9_654_321) - (16*1_456_789 + 2*9_654_321 + 2.5e6*15)/1e9) < 1e-6"),
    "tolerance 1 % of a whole bill": bt(f"w = (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9\nassert abs(bill({C})/w - 1) < 0.01"),
    "whole GB only: floor not seen": bt("assert abs(bill(4, 1000, 3, 10**9, 2*10**9) - 30) < 1e-6"),
    "np.allclose with its default atol, small bill": bt("assert np.allclose(bill(1, 2, 3, 4, 5), (16*4 + 2*5 + 2.5e6*2)/1e9)"),
}
if __name__ == "__main__":
    for k in WRONG:
        print(k, len(WRONG[k]), len(RIGHT.get(k, ())))
        for kind in (WRONG, RIGHT):
            for w, c in kind.get(k, {}).items():
                try: compile(c, w, "exec")
                except SyntaxError as e: print("BAD", w, e)
