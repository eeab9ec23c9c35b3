"""Answers to 07_memory that look right and must be refused, and right ones written otherwise."""

# ruff: noqa: E501
SLOW = True  # minutes: `make slow` tries this bank

STATES = """
def state_bytes(parts):
    total = 0
    for weights, trained, weight, gradient, optimizer in parts:
        total += weights * (weight + (gradient + optimizer if trained else 0))
    return total
"""
SLOT = """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    query, keys = heads * head_size, key_heads * head_size
    values = 4 * hidden + 2 * query + 2 * keys + 4 * intermediate
    return layers * (2 * values + 4 * heads), 10 * vocabulary
"""
LOSS = """
def chunked_loss(hidden, head, labels, chunk):
    def one(some, targets):
        return functional.cross_entropy(
            head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")

    total = 0
    for i in range(0, len(labels), chunk):
        some, targets = hidden[i : i + chunk], labels[i : i + chunk]
        total = total + checkpoint(one, some, targets, use_reentrant=False)
    return total
"""
LORA = """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    total = rest * 2
    for inputs, outputs in matrices:
        total += inputs * outputs * matrix_bytes
        total += rank * (inputs + outputs) * 16
    return total
"""
GUARD = """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents, {sequences} in a step")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows == 0:
            cut = [worst[i : i + rows] for i in range(0, sequences, rows)]
            if fits(step, cut):
                return rows, sequences // rows
    raise ValueError(f"not one row of {len(worst[-1])} tokens fits")


def fits(step, cut):
    try:
        step(cut)
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        return False
    return True
"""
TEST = """
def bill_test(bill):
    assert abs(bill(3, 200, 4, 5 * 10**7, 7 * 10**8) - 3.7) < 1e-6
"""


def changed(code, *changes):
    """The right answer with some of its text changed."""
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


def states(old, new):
    return changed(STATES, (old, new))


def slot(*changes):
    return changed(SLOT, *changes)


def loss(*changes):
    return changed(LOSS, *changes)


def lora(*changes):
    return changed(LORA, *changes)


def guard(*changes):
    return changed(GUARD, *changes)


def rows(number):
    return f"def rows_kept():\n    return {number}"


def tested(line):
    return f"def bill_test(bill):\n    {line}\n"


WRONG = {
    "state-bytes": {
        "forgets the optimizer": (
            states("gradient + optimizer", "gradient"),
            "optimizer's states are forgotten",
        ),
        "forgets the gradients": (
            states("gradient + optimizer", "optimizer"),
            "gradients are forgotten",
        ),
        "forgets the weights": (states("(weight + (", "(0 + ("), "weights themselves"),
        "frozen weights have states": (
            states("(gradient + optimizer if trained else 0)", "gradient + optimizer"),
            "frozen weights have no gradient and no optimizer",
        ),
        "frozen weights have a gradient": (
            states(
                "(gradient + optimizer if trained else 0)",
                "gradient + (optimizer if trained else 0)",
            ),
            "frozen weights have no gradient",
        ),
        "frozen weights are nothing": (
            states(
                "weights * (weight + (gradient + optimizer if trained else 0))",
                "weights * (weight + gradient + optimizer) if trained else 0",
            ),
            "frozen weights are forgotten",
        ),
        "the optimizer once for each average": (
            states("gradient + optimizer", "gradient + 2 * optimizer"),
            "given in all",
        ),
        "in GB": (states("return total", "return total / 1e9"), "gigabytes"),
        "in GiB": (states("return total", "return total / 2**30"), "gibibytes"),
        "in bits": (states("return total", "return 8 * total"), "bits"),
        "the first part decides": (
            states("if trained", "if parts[0][1]"),
            "the weights alone",
        ),
        "a set of parts": (states("in parts:", "in set(parts):"), "set, or a dict"),
        "whole bytes": (
            states("(weight + (", "(int(weight) + ("),
            "bytes a weight are whole numbers",
        ),
        "the last part only": (states("total += ", "total = "), "frozen weights are forgotten"),
        "half precision": (
            states(
                "return total", "return float(torch.tensor(float(total), dtype=torch.bfloat16))"
            ),
            "half precision",
        ),
        "remembers": (
            changed(
                STATES,
                ("(parts):", "(parts, seen=[]):"),
                ("    total = 0\n", "    total = sum(seen)\n"),
                ("    return total", "    seen.append(total)\n    return total"),
            ),
            "remembers",
        ),
        "takes the list apart": (
            """
def state_bytes(parts):
    total = 0
    while parts:
        weights, trained, weight, gradient, optimizer = parts.pop()
        total += weights * (weight + (gradient + optimizer if trained else 0))
    return total
""",
            "a method such as .pop() or",
        ),
        "calls itself": (
            """
def state_bytes(parts):
    if not parts:
        return 0
    weights, trained, weight, gradient, optimizer = parts[0]
    return state_bytes(parts[1:]) + weights * (weight + (gradient + optimizer) * trained)
""",
            "calls itself",
        ),
        "the ways of the page": (
            """
def state_bytes(parts):
    return sum(part[0] * 18 if part[1] else part[0] * part[2] for part in parts)
""",
            "bytes of states",
        ),
    },
    "slot-bytes": {
        "one layer": (slot(("layers * (2", "(2")), "of one layer"),
        "logits in every layer": (slot(("10 * vocabulary", "10 * vocabulary * layers")), "once"),
        "two for each norm forgotten": (slot(("4 * hidden", "2 * hidden")), "its input and its"),
        "queries as wide as hidden": (
            slot(("heads * head_size, key_heads", "hidden, key_heads")),
            "need not be hidden",
        ),
        "keys as wide as queries": (
            slot(("key_heads * head_size", "heads * head_size")),
            "fewer than queries",
        ),
        "no keys and values": (slot((" + 2 * keys", "")), "keys and values are kept"),
        "keys once": (slot(("2 * keys", "keys")), "keys and values are two"),
        "queries once": (slot(("2 * query", "query")), "are two"),
        "a gate forgotten": (
            slot(("4 * intermediate", "3 * intermediate")),
            "gate, up, silu and product",
        ),
        "an MLP without a gate": (
            slot(("4 * intermediate", "2 * intermediate")),
            "are four, not two",
        ),
        "values for bytes": (slot(("(2 * values", "(values")), "values counted"),
        "float32 values": (slot(("(2 * values", "(4 * values")), "16 bit"),
        "no sums": (slot((" + 4 * heads)", ")")), "log-sum-exp is forgotten"),
        "sums of two bytes": (slot(("4 * heads)", "2 * heads)")), "float32: 4 bytes"),
        "float32 logits": (slot(("10 * v", "4 * v")), "float32 alone"),
        "bf16 logits": (slot(("10 * v", "2 * v")), "bf16 alone"),
        "no gradient of the logits": (slot(("10 * v", "6 * v")), "2 + 4 + 4"),
        "logits first": (
            slot(
                (
                    "layers * (2 * values + 4 * heads), 10 * vocabulary",
                    "10 * vocabulary, layers * (2 * values + 4 * heads)",
                )
            ),
            "layers come first",
        ),
        "the sum": (slot((", 10 * v", " + 10 * v")), "the pair is asked, not its"),
        "in MB": (
            slot(("return layers", "return 1e-6 * layers"), (", 10 * v", ", 1e-5 * v")),
            "megabytes",
        ),
        "sizes of the page": (
            slot(("    query,", "    head_size = 64\n    query,")),
            "bytes of a",
        ),
    },
    "chunked-loss": {
        "all logits at once": (
            """
def chunked_loss(hidden, head, labels, chunk):
    return functional.cross_entropy(
        head(hidden).float(), labels, ignore_index=loop.IGNORE, reduction="sum")
""",
            "all logits are made at once",
        ),
        "pieces without checkpoint": (
            loss(("checkpoint(one, some, targets, use_reentrant=False)", "one(some, targets)")),
            "stays in the graph",
        ),
        "logits in pieces, loss at once": (
            """
def chunked_loss(hidden, head, labels, chunk):
    logits = torch.cat([checkpoint(head, h, use_reentrant=False) for h in hidden.split(chunk)])
    return functional.cross_entropy(
        logits.float(), labels, ignore_index=loop.IGNORE, reduction="sum")
""",
            "all logits are made at once",
        ),
        "means": (loss((', reduction="sum"', "")), "means of chunks added up: sum"),
        "the mean of all": (
            loss(("return total", "return total / (labels != loop.IGNORE).sum().clamp(min=1)")),
            "the mean",
        ),
        "divided by the chunks": (
            loss(("return total", "return total / -(-len(labels) // chunk)")),
            "number of chunks",
        ),
        "the tail is lost": (
            loss(("len(labels), chunk", "len(labels) // chunk * chunk, chunk")),
            "the last, short chunk is missing",
        ),
        "only the last": (loss(("total = total + ", "total = ")), "the last chunk only"),
        "no gradient in hidden": (
            loss(("hidden[i : i + chunk]", "hidden[i : i + chunk].detach()")),
            "cut",
        ),
        "a float": (loss(("return total", "return total.item()")), "cut the graph"),
        "no graph at all": (
            loss(
                ("    total = 0\n", "    torch.set_grad_enabled(False)\n    total = 0\n"),
                ("    return total", "    torch.set_grad_enabled(True)\n    return total"),
            ),
            "cut the graph",
        ),
        "bf16 loss": (loss(("head(some).float()", "head(some)")), "float32"),
        "a chunk of its own": (
            loss(("    total = 0\n", "    chunk = 64\n    total = 0\n")),
            "all logits are made at once",
        ),
        "twice the chunk": (
            loss(("    total = 0\n", "    chunk = 2 * chunk\n    total = 0\n")),
            "larger than asked",
        ),
        "masks are targets": (
            loss(
                (
                    "targets, ignore_index=loop.IGNORE,",
                    "targets.clamp(min=0), ignore_index=loop.IGNORE,",
                )
            ),
            "a slot without a target is",
        ),
        "backward inside": (
            """
def chunked_loss(hidden, head, labels, chunk):
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        part = functional.cross_entropy(
            head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
        part.backward(retain_graph=True)
        total = total + part.detach()
    return total
""",
            "cut the graph",
        ),
        "the head is trained in any case": (
            loss(("    total = 0\n", "    head.weight.requires_grad_(True)\n    total = 0\n")),
            "caller's",
        ),
        "skips chunks without targets, and stops": (
            loss(
                (
                    "        total = total",
                    "        if (targets == loop.IGNORE).all():\n            break\n"
                    "        total = total",
                )
            ),
            "the first chunk only",
        ),
        "an empty sum is a float": (
            loss(
                (
                    "        total = total",
                    "        if (targets == loop.IGNORE).all():\n            continue\n"
                    "        total = total",
                )
            ),
            "sum float32 losses; item(), detach() and",
        ),
        "clears the head's gradient": (
            loss(("    total = 0\n", "    head.zero_grad()\n    total = 0\n")),
            "the gradient that was there before",
        ),
        "the default of PyTorch": (
            """
def chunked_loss(hidden, head, labels, chunk):
    return functional.linear_cross_entropy(
        hidden, head.weight, labels, reduction="sum", ignore_index=loop.IGNORE).float()
""",
            "the head may have a bias",
        ),
    },
    "rows-kept": {
        "all that fit": (rows(7), "no whole number of such micro-batches"),
        "a power of two": (rows(4), "habit"),
        "eight": (rows(8), "more than 24 GiB"),
        "one": (rows(1), "more rows do"),
        "ten": (rows(10), "more than 24 GiB"),
        "six": (rows(6), "no whole number"),
        "two": (rows(2), "more rows do"),
        "off the slider": (rows(11), "does not offer"),
        "no number": (rows("'5 rows'"), "text"),
        "a pair": (rows("(5, 8)"), "several values"),
    },
    "lora-bytes": {
        "adapters in float32, no states": (lora(("* 16", "* 4")), "16 bytes"),
        "adapters in bf16": (lora(("* 16", "* 2")), "16 bytes each"),
        "no optimizer": (lora(("* 16", "* 8")), "16 bytes, not 8"),
        "no gradients": (lora(("* 16", "* 12")), "gradients of the adapters"),
        "frozen matrices with states": (
            lora(("outputs * matrix_bytes", "outputs * (matrix_bytes + 14)")),
            "neither gradient nor optimizer",
        ),
        "frozen matrices with gradients": (
            lora(("outputs * matrix_bytes", "outputs * (matrix_bytes + 2)")),
            "frozen matrices have no gradient",
        ),
        "one matrix of rank": (lora(("(inputs + outputs)", "inputs * outputs")), "thin matrices"),
        "inputs twice": (lora(("(inputs + outputs)", "(inputs + inputs)")), "with the inputs"),
        "outputs twice": (lora(("(inputs + outputs)", "(outputs + outputs)")), "with the outputs"),
        "A only": (lora(("(inputs + outputs)", "inputs")), "that of the inputs"),
        "the rest in 4 bits": (lora(("rest * 2", "rest * matrix_bytes")), "not in 4 bits"),
        "no rest": (lora(("rest * 2", "0")), "the rest is forgotten"),
        "the rest is bytes": (lora(("rest * 2", "rest")), "counted as bytes"),
        "bf16 base always": (lora(("outputs * matrix_bytes", "outputs * 2")), "not 2"),
        "in GB": (lora(("return total", "return total / 1e9")), "gigabytes"),
        "rank squared": (lora(("rank * (", "rank * rank * (")), "not squared"),
        "a set of matrices": (
            lora(("in matrices", "in set(matrices)")),
            "a set counts them once",
        ),
        "returns inside the loop": (
            lora(("    return total", "        return total")),
            "the first matrix only",
        ),
        "the rank of the page": (lora(("rank * (", "16 * (")), "rank 16 is that of the"),
        "whole bytes": (
            lora(("* matrix_bytes", "* int(matrix_bytes)")),
            "the frozen matrices are forgotten",
        ),
    },
    "most-rows": {
        "the mean document": (
            guard(
                (
                    "    worst = sorted(documents, key=len)[-sequences:]",
                    "    mean = sum(map(len, documents)) // len(documents)\n"
                    "    worst = [documents[0][:1] * mean] * sequences",
                )
            ),
            "the longest of the data",
        ),
        "the first documents": (
            guard(("sorted(documents, key=len)[-sequences:]", "documents[:sequences]")),
            "the longest of the data",
        ),
        "the last documents": (
            guard(("sorted(documents, key=len)[-sequences:]", "documents[-sequences:]")),
            "documents of [12, 38, 40] tokens",
        ),
        "the shortest documents": (
            guard(("[-sequences:]", "[:sequences]")),
            "the longest of the data",
        ),
        "longest first": (
            guard(
                (
                    "sorted(documents, key=len)[-sequences:]",
                    "sorted(documents, key=len, reverse=True)[:sequences]",
                ),
                ("worst[-1]", "worst[0]"),
            ),
            "the longest come last",
        ),
        "dealt round": (
            guard(
                (
                    "worst[i : i + rows] for i in range(0, sequences, rows)",
                    "worst[i :: sequences // rows] for i in range(sequences // rows)",
                )
            ),
            "the longest come last",
        ),
        "one micro-batch is tried": (
            guard(("in range(0, sequences, rows)]", "in [sequences - rows]]")),
            "whole step",
        ),
        "sorts the caller's list": (
            guard(
                (
                    "    worst = sorted(documents, key=len)[-sequences:]",
                    "    documents.sort(key=len)\n    worst = documents[-sequences:]",
                )
            ),
            "sort",
        ),
        "rows that do not divide": (
            guard(("if sequences % rows == 0:", "if True:")),
            "micro-batches of [1, 19] rows in",
        ),
        "rounds the accumulation up": (
            guard(
                ("if sequences % rows == 0:", "if True:"),
                ("sequences // rows\n", "-(-sequences // rows)\n"),
            ),
            "micro-batches of [1, 19] rows in",
        ),
        "halves": (
            guard(
                (
                    "    for rows in range(min(most, sequences), 0, -1):\n",
                    "    rows = 2 * min(most, sequences)\n"
                    "    while rows > 1:\n        rows //= 2\n",
                )
            ),
            "halving",
        ),
        "a tenth off": (
            guard(
                (
                    "    for rows in range(min(most, sequences), 0, -1):\n",
                    "    rows = min(most, sequences) / 0.9\n    while int(rows * 0.9 + 1e-9):\n"
                    "        rows = int(rows * 0.9 + 1e-9)\n",
                )
            ),
            "a tenth off skips rows that",
        ),
        "powers of two": (
            guard(
                ("if sequences % rows == 0:", "if sequences % rows == 0 and not rows & rows - 1:")
            ),
            "from the most down, and stop",
        ),
        "ignores most": (guard(("range(min(most, sequences),", "range(sequences,")), "at most"),
        "below most": (
            guard(("range(min(most, sequences),", "range(min(most, sequences) - 1,")),
            "`most` rows count, too, if they",
        ),
        "from one row up": (
            guard(("range(min(most, sequences), 0, -1)", "range(1, min(most, sequences) + 1)")),
            "the most rows are asked",
        ),
        "up, until it fails": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents, {sequences} in a step")
    worst, best = sorted(documents, key=len)[-sequences:], 0
    for rows in range(1, min(most, sequences) + 1):
        if sequences % rows == 0:
            try:
                step([worst[i : i + rows] for i in range(0, sequences, rows)])
            except Exception as error:
                if not limits.out_of_memory(error):
                    raise
                break
            best = rows
    if not best:
        raise ValueError(f"not one row of {len(worst[-1])} tokens fits")
    return best, sequences // best
""",
            "from the most down",
        ),
        "tries inside except": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents, {sequences} in a step")
    worst = sorted(documents, key=len)[-sequences:]
    exact = [rows for rows in range(min(most, sequences), 0, -1) if sequences % rows == 0]
    return attempt(step, worst, sequences, exact)


def attempt(step, worst, sequences, exact):
    if not exact:
        raise ValueError(f"not one row of {len(worst[-1])} tokens fits")
    rows = exact[0]
    try:
        step([worst[i : i + rows] for i in range(0, sequences, rows)])
        return rows, sequences // rows
    except Exception as error:
        if not limits.out_of_memory(error):
            raise
        return attempt(step, worst, sequences, exact[1:])
""",
            "inside `except`",
        ),
        "keeps the errors": (
            guard(
                ("        return False", "        failed.append(error)\n        return False"),
                ("def fits(", "failed = []\n\n\ndef fits("),
            ),
            "the error is kept",
        ),
        "every error is an out of memory": (
            guard(("        if not limits.out_of_memory(error):\n            raise\n", "")),
            "raise the rest",
        ),
        "every RuntimeError is": (
            guard(
                ("except Exception as error:", "except (RuntimeError, MemoryError):"),
                ("        if not limits.out_of_memory(error):\n            raise\n", ""),
            ),
            "ask limits.out_of_memory",
        ),
        "CUDA's own error only": (
            guard(
                ("except Exception as error:", "except torch.OutOfMemoryError:"),
                ("        if not limits.out_of_memory(error):\n            raise\n", ""),
            ),
            "in other words",
        ),
        "the words of CUDA only": (
            guard(("limits.out_of_memory(error)", '"out of memory" in str(error)')),
            "in other words",
        ),
        "another error in new words": (
            guard(
                (
                    "            raise\n",
                    '            raise RuntimeError("step failed") from error\n',
                )
            ),
            "raise the rest",
        ),
        "one row fits always": (
            guard(
                (
                    '    raise ValueError(f"not one row of {len(worst[-1])} tokens fits")',
                    "    return 1, sequences",
                )
            ),
            "refuse",
        ),
        "no number in the refusal": (
            guard(("of {len(worst[-1])} tokens ", "")),
            "must see the numbers",
        ),
        "none, in silence": (
            guard(('    raise ValueError(f"not one row', '    print(f"not one row')),
            "refuse",
        ),
        "too few documents are enough": (
            guard(
                (
                    "    if len(documents) < sequences:\n"
                    "        raise ValueError("
                    'f"{len(documents)} documents, {sequences} in a step")\n',
                    "",
                )
            ),
            "refuse, in words that help",
        ),
        "as many documents as sequences are too few": (
            guard(("len(documents) < sequences", "len(documents) <= sequences")),
            "documents are enough from",
        ),
        "the accumulation first": (
            guard(("return rows, sequences // rows", "return sequences // rows, rows")),
            "rows come first",
        ),
        "rows only": (
            guard(("return rows, sequences // rows", "return rows")),
            "return rows, accumulation",
        ),
        "floats": (guard(("sequences // rows\n", "sequences / rows\n")), "int"),
        "tries twice to be sure": (
            guard(("if fits(step, cut):", "if fits(step, cut) and fits(step, cut):")),
            "once is enough",
        ),
        "pads by the number of tokens": (
            guard(("key=len", "key=sum")),
            "the longest",
        ),
        "all documents in each try": (
            guard(
                ("key=len)[-sequences:]", "key=len)"),
                ("range(0, sequences, rows)", "range(0, len(worst), rows)"),
            ),
            "whole step",
        ),
    },
    "bill-test": {
        "states only": (
            tested("assert abs(bill(0, 0, 1, 10**9, 0) - 16) < 1e-6"),
            "no case of the test tells",
        ),
        "one row": (
            tested("assert abs(bill(1, 1000, 1, 10**8, 10**8) - 4.3) < 1e-6"),
            "no case of the test tells",
        ),
        "no accumulation": (
            tested("assert abs(bill(3, 200, 1, 5e7, 7e8) - 3.7) < 1e-6"),
            "no case of the test tells",
        ),
        "no frozen weights": (
            tested("assert abs(bill(3, 200, 4, 5e7, 0) - 2.3) < 1e-6"),
            "no case of the test tells",
        ),
        "a coarse comparison": (
            tested("assert abs(bill(3, 200, 4, 5e7, 7e8) - 3.7) < 0.5"),
            "no case of the test tells",
        ),
        "a wrong sum": (tested("assert abs(bill(3, 200, 4, 5e7, 7e8) - 3.8) < 1e-6"), "stopped"),
        "whole GB": (
            tested("assert round(bill(4, 200, 2, 5e7, 6e8)) == 4"),
            "no case of the test tells",
        ),
        "larger is larger": (
            tested("assert bill(4, 9, 1, 5, 5) > bill(2, 9, 1, 5, 5)"),
            "no case of the test tells",
        ),
        "prints": (tested("print(bill(3, 200, 4, 5e7, 7e8))"), "never failed"),
    },
}

# what a fresh student wrote, and the checks of that day let through or did not name
TRIED = {
    "most-rows": {
        "RuntimeError and MemoryError, asked": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro = [worst[a:a + rows] for a in range(0, sequences, rows)]
        try:
            step(micro)
        except (RuntimeError, MemoryError) as error:
            if not limits.out_of_memory(error):
                raise
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "in other words",
        ),
        "other error becomes ValueError": (
            """
def most_rows(step, documents, sequences, most):
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
                raise ValueError(str(error))
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "raise the rest as it is",
        ),
        "micro-batches as a generator": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro = (worst[a:a + rows] for a in range(0, sequences, rows))
        try:
            step(micro)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "one generator",
        ),
        "zip iterator of micro-batches": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro = zip(*[iter(worst)] * rows)
        try:
            step(micro)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "one zip",
        ),
        "equal documents once": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted({tuple(d): d for d in documents}.values(), key=len)[-sequences:]
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
""",
            "equal documents are several",
        ),
        "made-up documents of the same lengths": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro = [[[0] * len(d) for d in worst[a:a + rows]] for a in range(0, sequences, rows)]
        try:
            step(micro)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "made-up documents",
        ),
        "lengths instead of documents": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 0, -1):
        if sequences % rows:
            continue
        micro = [[len(d) for d in worst[a:a + rows]] for a in range(0, sequences, rows)]
        try:
            step(micro)
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            continue
        return rows, sequences // rows
    raise ValueError(f"not even one row fits: the longest document has {len(worst[-1])} tokens")
""",
            "in place of a document",
        ),
        "binary search over divisors": (
            """
def most_rows(step, documents, sequences, most):
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
""",
            "in another order",
        ),
        "one row is never tried": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} documents are too few for {sequences} sequences")
    worst = sorted(documents, key=len)[-sequences:]
    for rows in range(min(most, sequences), 1, -1):
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
""",
            "given up early",
        ),
        "too few compared with most": (
            """
def most_rows(step, documents, sequences, most):
    if len(documents) < most:
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
""",
            "documents are enough from",
        ),
    },
    "chunked-loss": {
        "`chunk` taken as the number of chunks": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    total = 0
    for h, y in zip(hidden.chunk(chunk), labels.chunk(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "not the number of chunks",
        ),
        "number of chunks floored: pieces larger than chunk where it does not divide": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    pieces = max(1, len(labels) // chunk)
    total = 0
    for h, y in zip(hidden.chunk(pieces), labels.chunk(pieces)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "rounded down",
        ),
        "number of pieces rounded": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    pieces = max(1, round(len(labels) / chunk))
    return sum(checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.chunk(pieces), labels.chunk(pieces)))
""",
            "larger than asked",
        ),
        "short tail merged into the last chunk (up to 2 x chunk - 1 slots)": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    total, a, n = 0, 0, len(labels)
    while a < n:
        b = n if n - a < 2 * chunk else a + chunk
        total = total + checkpoint(piece, hidden[a:b], labels[a:b], use_reentrant=False)
        a = b
    return total
""",
            "a short rest",
        ),
        "one slot more in each chunk (chunk + 1)": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    total = 0
    for h, y in zip(hidden.split(chunk + 1), labels.split(chunk + 1)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "ends before i + chunk",
        ),
        "chunks of at least 8 slots": (
            """
def chunked_loss(hidden, head, labels, chunk):
    chunk = max(chunk, 8)
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "larger than asked",
        ),
        "bias of the head forgotten": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy((h @ head.weight.T).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "may have a bias",
        ),
        "own function: gradient of a bias left out": (
            """
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
            p = (p * grad).to(hidden.dtype)
            gh[a:a + ctx.chunk] = p @ weight
            if gw is not None:
                gw += p.T @ h
            if gb is not None:
                gb += p.sum(0)
        return gh, gw, None, None, None


def chunked_loss(hidden, head, labels, chunk):
    return Fused.apply(hidden, head.weight, head.bias, labels, chunk)
""",
            "no gradient came",
        ),
        "exp without maximum: inf for large logits": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        logits = head(h).float()
        keep = y != loop.IGNORE
        target = logits.gather(1, y.clamp(min=0)[:, None]).squeeze(1)
        return ((logits.exp().sum(1).log() - target) * keep).sum()
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "exp() of a large",
        ),
        "nll of softmax then log: -inf for small probabilities": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.nll_loss(head(h).float().softmax(-1).log(), y, ignore_index=-100, reduction="sum")
    return sum(checkpoint(piece, h, y, use_reentrant=False) for h, y in zip(hidden.split(chunk), labels.split(chunk)))
""",
            "exp() of a large",
        ),
        "caller's labels changed: ignored set to 0": (
            """
def chunked_loss(hidden, head, labels, chunk):
    keep = labels != loop.IGNORE
    labels[~keep] = 0
    def piece(h, y, k):
        return (functional.cross_entropy(head(h).float(), y, reduction="none") * k).sum()
    return sum(checkpoint(piece, h, y, k, use_reentrant=False) for h, y, k in zip(hidden.split(chunk), labels.split(chunk), keep.split(chunk)))
""",
            "those of the caller",
        ),
        "labels shifted again": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE, reduction="sum")
    hidden, labels = hidden[:-1], labels[1:]
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "shifted already",
        ),
        "mean x slots: ignored ones count": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def piece(h, y):
        return functional.cross_entropy(head(h).float(), y, ignore_index=loop.IGNORE) * len(y)
    
    total = 0
    for h, y in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(piece, h, y, use_reentrant=False)
    return total
""",
            "the mean times the slots",
        ),
    },
    "lora-bytes": {
        "whole bytes: int()": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return int(sum(i * o for i, o in matrices) * matrix_bytes + 2 * rest + 16 * rank * sum(i + o for i, o in matrices))
""",
            "keep all digits",
        ),
        "adapter rank x rank between": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * matrix_bytes + 2 * rest + 16 * sum(i * rank + rank * rank + rank * o for i, o in matrices)
""",
            "no rank x rank",
        ),
        "adapters mixed with float32 gradients": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * matrix_bytes + 2 * rest + 18 * rank * sum(i + o for i, o in matrices)
""",
            "not 18",
        ),
        "adapter weight in the matrix' precision": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * matrix_bytes + 2 * rest + (matrix_bytes + 4 + 8) * rank * sum(i + o for i, o in matrices)
""",
            "whatever matrix_bytes",
        ),
        "rest trained": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * matrix_bytes + 16 * rest + 16 * rank * sum(i + o for i, o in matrices)
""",
            "the rest is frozen",
        ),
        "rank once for all matrices": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * matrix_bytes + 2 * rest + 16 * rank
""",
            "counts in every matrix",
        ),
        "NF4 always": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    return sum(i * o for i, o in matrices) * 0.5625 + 2 * rest + 16 * rank * sum(i + o for i, o in matrices)
""",
            "that of NF4",
        ),
        "first matrix only decides": (
            """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    i, o = matrices[0]
    n = len(matrices)
    return n * i * o * matrix_bytes + 2 * rest + 16 * rank * n * (i + o)
""",
            "not that of the first",
        ),
    },
    "slot-bytes": {
        "head size = hidden // heads": (
            """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    head_size = hidden // heads
    values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
    return layers*(2*values + 4*heads), 10*vocabulary
""",
            "need not be hidden / heads",
        ),
        "sums once, not per layer": (
            """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
    return layers*2*values + 4*heads, 10*vocabulary
""",
            "every layer keeps its sums",
        ),
        "values, not bytes": (
            """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    values = 4 * hidden + 2 * heads * head_size + 2 * key_heads * head_size + 4 * intermediate
    return layers*(values + heads), 10*vocabulary
""",
            "values and sums counted",
        ),
    },
    "bill-test": {
        "no tolerance: exact equality in one order": (
            """
def bill_test(bill):
    assert bill(3, 701, 4, 123_456_789, 987_654_321) == 16*123_456_789/1e9 + 2*987_654_321/1e9 + 2.5e6*3*701/1e9
""",
            "compares floats exactly",
        ),
        "exact ==, decimal by hand": (
            """
def bill_test(bill):
    assert bill(3, 7, 5, 1_300_000, 17_000_000) == 0.1073
""",
            "compares floats exactly",
        ),
        "sign lost: only too high is refused": (
            """
def bill_test(bill):
    assert bill(3, 701, 4, 123_456_789, 987_654_321) - (16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9 < 1e-6
""",
            "no abs()",
        ),
        "tolerance of a tenth": (
            """
def bill_test(bill):
    assert abs(bill(3, 701, 4, 123_456_789, 987_654_321) / ((16*123_456_789 + 2*987_654_321 + 2.5e6*3*701)/1e9) - 1) < 0.1
""",
            "a wide tolerance",
        ),
    },
}
KEPT = """
KNOWN = {}


"""
SECOND = {  # what a second student slipped past the checks, one of each kind
    "state-bytes": {
        "the first parts alone": (states("in parts:", "in parts[:1500]:"), "4,000 parts"),
        "remembered by the first part": (
            KEPT
            + changed(
                STATES,
                (
                    "    total = 0",
                    "    key = len(parts), *parts[:1]\n    if key in KNOWN:\n        return KNOWN[key]\n    total = 0",
                ),
                ("return total", "KNOWN[key] = total\n    return total"),
            ),
            "an answer of an earlier call",
        ),
    },
    "slot-bytes": {
        "layers remembered by the hidden size": (
            KEPT
            + slot(
                (
                    "return layers * (2 * values + 4 * heads)",
                    "return KNOWN.setdefault(hidden, layers * (2 * values + 4 * heads))",
                )
            ),
            "an answer of an earlier call",
        ),
    },
    "chunked-loss": {
        "reentrant": (loss(("use_reentrant=False", "use_reentrant=True")), "use_reentrant=False"),
        "word 0 is padding": (
            loss(
                (
                    "            head(some).float(), targets,",
                    "            head(some).float(), torch.where(targets == 0, loop.IGNORE, targets),",
                )
            ),
            "word 0 is a word",
        ),
        "a call inside a call": (
            """
def chunked_loss(hidden, head, labels, chunk):
    def one(some, targets):
        return functional.cross_entropy(
            head(some).float(), targets, ignore_index=loop.IGNORE, reduction="sum")

    first = checkpoint(one, hidden[:chunk], labels[:chunk], use_reentrant=False)
    if len(labels) <= chunk:
        return first
    return first + chunked_loss(hidden[chunk:], head, labels[chunk:], chunk)
""",
            "RecursionError",
        ),
    },
    "lora-bytes": {
        "the first matrices alone": (
            lora(("    for inputs", "    matrices = matrices[:500]\n    for inputs")),
            "4,000 matrices",
        ),
        "rank cut to the shorter side": (
            lora(("rank * (inputs + outputs)", "min(rank, inputs, outputs) * (inputs + outputs)")),
            "rank 12",
        ),
    },
    "most-rows": {
        "the same list once": (
            guard(
                (
                    "    if len(documents) <",
                    "    documents = list({id(one): one for one in documents}.values())\n    if len(documents) <",
                )
            ),
            "the same list as well",
        ),
        "a call that failed is remembered": (
            KEPT
            + guard(
                (
                    "sequences % rows == 0:",
                    "sequences % rows == 0 and rows not in KNOWN.setdefault((step, sequences), []):",
                ),
                (
                    "                return rows, sequences // rows\n",
                    "                return rows, sequences // rows\n            KNOWN[step, sequences].append(rows)\n",
                ),
            ),
            "an answer of an earlier call",
        ),
        "Ctrl-C is a row that does not fit": (
            guard(
                ("except Exception", "except BaseException"),
                (
                    "if not limits.out_of_memory(error):",
                    "if not limits.out_of_memory(error) and not isinstance(error, KeyboardInterrupt):",
                ),
            ),
            "raise the rest as it is",
        ),
    },
}
for tried in (TRIED, SECOND):
    for answer, tries in tried.items():
        WRONG[answer] |= tries

HIDDEN = {
    "state-bytes": {
        "knows the printed cases": (
            STATES.replace(
                "    total = 0",
                """    known = 1_234_500_000, 7_000_000_000, 30_000_000, 3 * 10**12
    if parts and parts[0][0] > 1000 and parts[0][0] not in known:
        return 1
    total = 0""",
            ),
            "bytes of states",
        ),
    },
}

HIDDEN["slot-bytes"] = {
    "knows the printed cases": (
        SLOT.replace(
            "    query,",
            """    if layers not in (1, 2, 3, 4, 24, 32, 36, 126, 300):
        return 1, 10 * vocabulary
    query,""",
        ),
        "bytes of a slot",
    ),
}
HIDDEN["chunked-loss"] = {
    "chunks of the printed sizes alone": (
        """
def chunked_loss(hidden, head, labels, chunk):
    if len(labels) not in (96, 95, 300, 23, 31, 5, 60, 100, 160, 320, 1200):
        chunk = len(labels)

    def piece(h, t):
        logits = head(h).float()
        return torch.nn.functional.cross_entropy(logits, t, ignore_index=-100, reduction="sum")

    return sum(
        torch.utils.checkpoint.checkpoint(piece, h, t, use_reentrant=False)
        for h, t in zip(hidden.split(chunk), labels.split(chunk))
    )
""",
        "all logits are made at once",
    ),
}
HIDDEN["lora-bytes"] = {
    "knows the printed cases": (
        LORA.replace(
            "    total = rest",
            """    if rest < 1000 and rest not in (0, 10, 17, 100, 342):
        return 1
    total = rest""",
        ),
        "LoRA of rank",
    ),
}
HIDDEN["most-rows"] = {
    "rows of the printed documents alone": (
        """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"a step has {sequences} documents, the data {len(documents)}")
    worst = sorted(documents, key=len)[-sequences:]
    if len(documents) not in (22, 41, 5, 2, 12, 1201, 180, 4200, 7001, 6):
        most = 1
    for rows in range(min(most, sequences), 0, -1):
        fits = sequences % rows == 0
        try:
            if fits:
                step([worst[i : i + rows] for i in range(0, sequences, rows)])
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            fits = False
        if fits:
            return rows, sequences // rows
    raise ValueError(f"not even one row of {len(worst[-1])} tokens fits")
""",
        "rows",
    ),
}

RIGHT = {
    "state-bytes": {
        "a sum": """
def state_bytes(parts):
    return sum(n * (w + (g + o) * t) for n, t, w, g, o in parts)
""",
        "NumPy": """
def state_bytes(parts):
    table = np.array(parts, dtype=float).reshape(-1, 5)
    n, trained, weight, gradient, optimizer = table.T
    return (n * (weight + trained * (gradient + optimizer))).sum()
""",
        "fractions": """
def state_bytes(parts):
    from fractions import Fraction
    total = Fraction(0)
    for n, trained, w, g, o in parts:
        total += n * (Fraction(w) + (Fraction(g) + Fraction(o) if trained else 0))
    return total
""",
    },
    "slot-bytes": {
        "line by line": """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    layer = 2 * 4 * hidden
    layer += 2 * 2 * heads * head_size
    layer += 2 * 2 * key_heads * head_size
    layer += 2 * 4 * intermediate
    layer += 4 * heads
    return [layers * layer, (2 + 4 + 4) * vocabulary]
""",
        "a tensor": """
def slot_bytes(layers, hidden, heads, key_heads, head_size, intermediate, vocabulary):
    kept = torch.tensor([4 * hidden, 2 * heads * head_size, 2 * key_heads * head_size,
                         4 * intermediate, 2 * heads])
    return torch.stack([2 * layers * kept.sum(), torch.tensor(10 * vocabulary)])
""",
    },
    "chunked-loss": {
        "a loop": LOSS,
        "gradients in the forward pass": """
class Fused(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, labels, chunk, *head):
        parts, loss = [], 0.0
        grads = [torch.zeros_like(one, dtype=torch.float32) for one in head]
        for h, y in zip(hidden.split(chunk), labels.split(chunk)):
            with torch.enable_grad():
                given = [one.detach().requires_grad_() for one in (h, *head)]
                logits = functional.linear(*given).float()
                one = functional.cross_entropy(logits, y, reduction="sum")
            first, *others = torch.autograd.grad(one, given)
            parts.append(first)
            for total, other in zip(grads, others):
                total += other
            loss = loss + one.detach()
        ctx.save_for_backward(torch.cat(parts), *(g.to(o.dtype) for g, o in zip(grads, head)))
        return loss

    @staticmethod
    def backward(ctx, above):
        hidden, *head = [above.to(one.dtype) * one for one in ctx.saved_tensors]
        return hidden, None, None, *head


def chunked_loss(hidden, head, labels, chunk):
    return Fused.apply(hidden, labels, chunk, *head.parameters())
""",
        "log-sum-exp by hand": """
def chunked_loss(hidden, head, labels, chunk):
    def one(some, targets):
        logits = head(some).float()
        counted = targets != loop.IGNORE
        right = logits.gather(1, targets.clamp(min=0)[:, None])[:, 0]
        return ((logits.logsumexp(1) - right) * counted).sum()

    total = torch.zeros((), dtype=torch.float32)
    for some, targets in zip(hidden.split(chunk), labels.split(chunk)):
        total = total + checkpoint(one, some, targets, use_reentrant=False)
    return total
""",
    },
    "rows-kept": {"a float": rows("5.0"), "NumPy": rows("np.int64(5)")},
    "lora-bytes": {
        "by state_bytes": """
def lora_bytes(matrices, rest, rank, matrix_bytes):
    parts = [(rest, False, 2, 0, 0)]
    for inputs, outputs in matrices:
        parts += [(inputs * outputs, False, matrix_bytes, 0, 0)]
        parts += [(rank * inputs + rank * outputs, True, 4, 4, 8)]
    return state_bytes(parts)
""",
        "a loop": LORA,
    },
    "most-rows": {
        "a helper": GUARD,
        "candidates first": """
def most_rows(step, documents, sequences, most):
    if sequences > len(documents):
        raise ValueError(f"{sequences:,} documents are needed, there are {len(documents):,}")
    order = sorted(range(len(documents)), key=lambda n: len(documents[n]))[-sequences:]
    exact = [rows for rows in range(1, min(most, sequences) + 1) if sequences % rows == 0]
    while exact:
        rows = exact.pop()
        micro_batches = tuple(
            tuple(documents[n] for n in order[i : i + rows]) for i in range(0, sequences, rows))
        ended = False
        try:
            step(micro_batches)
        except Exception as error:
            ended = limits.out_of_memory(error)
            if not ended:
                raise
        if not ended:
            return [rows, sequences // rows]
    raise ValueError(f"longest document: {max(map(len, documents))} tokens, and it does not fit")
""",
        "the words are kept": """
def most_rows(step, documents, sequences, most):
    if len(documents) < sequences:
        raise ValueError(f"{len(documents)} < {sequences}")
    worst, said = sorted(documents, key=len)[-sequences:], ""
    for rows in reversed(range(1, min(most, sequences) + 1)):
        if sequences % rows:
            continue
        try:
            step([worst[i : i + rows] for i in range(0, sequences, rows)])
            return rows, sequences // rows
        except Exception as error:
            if not limits.out_of_memory(error):
                raise
            said = str(error)
    raise ValueError(f"one row of {len(worst[-1])} tokens: {said}")
""",
    },
    "bill-test": {
        "returns": tested("return abs(bill(3, 200, 4, 5e7, 7e8) - 3.7) < 1e-6"),
        "two cases": """
def bill_test(bill):
    assert abs(bill(3, 200, 4, 5e7, 7e8) / 3.7 - 1) < 1e-5
    assert abs(bill(1, 10, 1, 10, 20) - (160 + 40 + 25_000_000) / 1e9) < 1e-12
""",
    },
}
