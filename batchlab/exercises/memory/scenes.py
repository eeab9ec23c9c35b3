"""What the page shows: two published models, a loss under watch, a device that runs out of memory.

a loss, or a guard  ->  plain data of what was seen
"""

from functools import cache

__all__ = [
    "guarded",
    "limited",
    "llama_8b",
    "plain_loss",
    "qwen_half_b",
    "qwen_peak",
    "script_peak",
    "watched",
]

HIDDEN, VOCABULARY = 4, 2000  # so a tensor of 4 x 2,000 may be the head's, or its gradient
SCALE = 7  # the caller divides by target tokens before the backward pass


@cache
def qwen_half_b():
    """Qwen2.5-0.5B: its config.json on the hub."""
    from batchlab import memory

    return memory.ModelShape(
        hidden=896, layers=24, heads=14, kv_heads=2, head_size=64, intermediate=4864,
        vocabulary=151_936, tied=True, biases=18 * 64,
    )  # fmt: skip


def qwen_peak(**how):
    """The predicted peak of 8 rows of 2,048 slots in bf16 with AdamW, by kind, in GiB."""
    import torch
    from transformers import Qwen2Config

    from batchlab.memory import trace

    shape = qwen_half_b()
    config = Qwen2Config(
        vocab_size=shape.vocabulary, hidden_size=shape.hidden, num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        intermediate_size=shape.intermediate, tie_word_embeddings=shape.tied,
    )  # fmt: skip
    peak = trace.predict_peak(config, rows=8, length=2048, dtype=torch.bfloat16, **how)
    return {kind: held / 2**30 for kind, held in peak.by_kind.items()}


@cache
def llama_8b():
    """Llama 3 8B: Grattafiori et al. 2024, Table 3."""
    from batchlab import memory

    return memory.ModelShape(
        hidden=4096, layers=32, heads=32, kv_heads=8, head_size=128, intermediate=14_336,
        vocabulary=128_256,
    )  # fmt: skip


def script_peak(**replaced):
    """Bytes at the fullest moment of a few of the script's steps, weights included.

    One step of one micro-batch, unless `replaced` says otherwise.
    """
    from batchlab.classroom import script
    from batchlab.memory import trace

    ready = script.trainer(**{"max_steps": 1, "gradient_accumulation_steps": 1} | replaced)
    held = list(ready.model.parameters())
    return trace.measure_peak(ready.train, ready.args.device, held=held)


def limited(budget):
    """A real step over lists of documents that is out of memory above `budget`, and 400 documents."""
    import torch

    from batchlab import batches, data, loop, model, units
    from batchlab.memory import trace

    corpus = data.embedded()
    small = model.small(corpus.vocabulary, layers=1, hidden=32)
    optimizer = torch.optim.AdamW(small.parameters(), lr=0.0)  # no weight moves

    def step(micro_batches):
        parts = [batches.padded(micro, range(len(micro))) for micro in micro_batches]
        held = [*small.parameters(), *(one for part in parts for one in part.values())]
        peak = trace.measure_peak(lambda: loop.train_step(small, optimizer, parts), held=held)
        if peak > budget:
            raise torch.OutOfMemoryError(f"{units.size(peak)} of {units.size(budget)}")

    return step, [one["input_ids"].tolist() for one in corpus.at_most(256)][:400]


def plain_loss(hidden, head, labels, chunk):
    """All logits at once, whatever `chunk` says."""
    from torch.nn import functional

    from batchlab import loop

    logits = head(hidden).float()
    return functional.cross_entropy(logits, labels, ignore_index=loop.IGNORE, reduction="sum")


def made(slots, lost=(), dtype="float32", frozen="", bias=False, large=False):
    """Hidden states, a head and targets: the same at each call; large logits reach hundreds.

    lost: slots without a target; frozen: "head" or "hidden", which then needs no gradient
    """
    import torch

    generator = torch.Generator().manual_seed(7)
    wide = torch.randn(slots, HIDDEN, generator=generator) * (64 if large else 1)
    weight = torch.randn(VOCABULARY, HIDDEN, generator=generator) / 2
    targets = torch.randint(VOCABULARY, (slots,), generator=generator)
    targets[1::5] = 0  # a word as any other
    targets[list(lost)] = -100
    kind = getattr(torch, dtype)
    head = torch.nn.Linear(HIDDEN, VOCABULARY, bias=bias, dtype=kind)
    with torch.no_grad():
        head.weight.copy_(weight)
        if bias:
            head.bias.copy_(torch.randn(VOCABULARY, generator=generator))
    head.requires_grad_(frozen != "head")
    return wide.to(kind).requires_grad_(frozen != "hidden"), head, targets


def watched(answer, slots, chunk, peak=False, **how):
    """What came of one forward and backward pass through a loss.

    kind            what was returned in place of a float32 scalar with its graph, in words
    loss            as a float, or None
    hidden, weight, bias   gradients over `SCALE`, beyond what `.grad` held; None where none came
    moved           what of the caller's was changed, in words
    rows            the most rows of logits in one tensor, forward and backward
    alive           with `peak`: peak bytes over those of a chunk's float32 logits
    """
    import warnings

    import torch

    from batchlab.memory import trace

    leaf, head, targets = made(slots, **how)
    before = targets.tolist()
    for part in head.parameters():
        part.grad = torch.ones_like(part) if part.requires_grad else None
    found = {"kind": "", "loss": None, "moved": "", "rows": 0, "alive": 0.0}

    def step():
        loss = answer(leaf * 1.0, head, targets, chunk)
        found["kind"] = _kind(loss)
        if not found["kind"]:
            found["loss"] = loss.item()
            (loss / SCALE).backward()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if peak:
            found["alive"] = trace.measure_peak(step) / (chunk * VOCABULARY * 4)
        else:
            with _rows() as seen:
                step()
            found["rows"] = seen.most
    found["hidden"] = None if leaf.grad is None else leaf.grad.float().numpy()
    for name, one in (("weight", head.weight), ("bias", head.bias)):
        there = one is not None and one.grad is not None
        found[name] = (one.grad - 1).float().numpy() if there else None
    if head.weight.requires_grad is (how.get("frozen") == "head"):
        found["moved"] = "requires_grad of the head is another now"
    if targets.tolist() != before:
        found["moved"] = "the caller's labels are others now"
    return found


def _kind(loss):
    """What is returned in place of a loss that can go backward; empty for a good one."""
    import torch

    if not isinstance(loss, torch.Tensor):
        return f"{type(loss).__name__}, no tensor"
    if loss.shape != ():
        return f"a tensor of shape {tuple(loss.shape)}"
    if not loss.requires_grad:
        return "a tensor without a graph"
    return "" if loss.dtype == torch.float32 else f"a tensor of {loss.dtype}"


def _rows():
    """Notes the most rows of a tensor with the vocabulary in its shape."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Rows(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            come = func(*args, **(kwargs or {}))
            for one in come if isinstance(come, tuple | list) else [come]:
                if isinstance(one, torch.Tensor) and VOCABULARY in one.shape:
                    rows = one.numel() // VOCABULARY
                    self.most = max(self.most, rows if rows != HIDDEN else 0)
            return come

    return Rows()


KINDS = {  # how devices say that memory ended
    "cuda": "CUDA out of memory. Tried to allocate 2.00 GiB",
    "cpu": "[enforce fail] DefaultCPUAllocator: can't allocate memory",
    "cublas": "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling create",
    "cudnn": "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
    "python": "",
    "system": "Cannot allocate memory",
}
ENDS = {  # what is no out of memory, and must be seen
    "shapes": lambda: RuntimeError("mat1 and mat2 shapes cannot be multiplied (8x64 and 32x8)"),
    "data": lambda: ValueError("document 3 has no target token"),
    "Ctrl-C": lambda: KeyboardInterrupt("by hand"),
}


def out_of_memory(kind):
    """An exception that says so."""
    import torch

    if kind in ("python", "system"):
        return MemoryError() if kind == "python" else OSError(12, KINDS[kind])
    return (torch.OutOfMemoryError if kind == "cuda" else RuntimeError)(KINDS[kind])


class _Held:
    """What a step has made."""


def guarded(answer, lengths, sequences, most, capacity, gradient=0, kind="cuda", breaks=""):
    """Run a memory guard on a device of `capacity` slots, and say what was seen.

    A try needs rows x longest document of each micro-batch, and from the second one on the
    gradient as well. What a failed step has made stays as long as its frames do.

    answer   what it returned, or that the step's own error went through
    tries    lengths of the documents, by micro-batch, of each step that the guard took
    unlike   what was handed over in place of documents of the data; kept: a failed step lives on
    moved    whether the caller's documents were changed
    """
    import gc
    import weakref

    held, ends, seen = [], set(), {"answer": None, "tries": [], "unlike": "", "kept": False}
    thrown = ENDS[breaks]() if breaks else None
    documents = [[1 + 3 * length % 5] * length for length in lengths]  # equal ones, too
    enabled = gc.isenabled()
    gc.disable()  # all that an answer makes stays young: a look takes a thousandth

    def step(micro_batches):
        if any(one() for one in held):
            gc.collect(1)  # a circle of an error and its frame is nobody's fault
        seen["kept"] |= any(one() for one in held)
        mine = _Held()
        held.append(weakref.ref(mine))
        seen["unlike"] = seen["unlike"] or _unlike(micro_batches, documents)
        if seen["unlike"]:
            return
        seen["tries"].append([[len(one) for one in micro] for micro in micro_batches])
        if thrown:
            raise thrown
        for number, micro in enumerate(seen["tries"][-1]):
            if len(micro) * max(micro, default=0) + (gradient if number else 0) > capacity:
                ended = out_of_memory(kind)
                ends.add(id(ended))
                raise ended

    try:
        found = answer(step, documents, sequences, most)
        seen["answer"] = list(found) if isinstance(found, tuple | list) else found
    except BaseException as error:
        refused = isinstance(error, ValueError) and not thrown
        if refused and any(one() for one in held):
            gc.collect()
        if refused and any(one() for one in held):
            where = "__context__" if ends & {*map(id, _behind(error))} else "frame"
            raise RuntimeError(f"the failed step lives on in the ValueError's {where}") from None
        if error is not thrown:
            raise
        seen["answer"] = f"the step's own {type(thrown).__name__} went through"
    finally:
        if enabled:
            gc.enable()
    seen["moved"] = [len(one) for one in documents] != list(lengths)
    return seen


def _behind(error):
    """The errors during which this one was raised."""
    while error := error.__context__:
        yield error


def _unlike(micro_batches, documents):
    """What is handed to a step in place of a list of lists of documents; empty if it is one."""
    if not isinstance(micro_batches, list | tuple):
        return f"the micro-batches are one {type(micro_batches).__name__}: a list is asked"
    for micro in micro_batches:
        if not isinstance(micro, list | tuple):
            return f"a micro-batch is one {type(micro).__name__}: a list of documents is asked"
        for one in micro:
            if not isinstance(one, list | tuple):
                return f"one {type(one).__name__} in place of a document: hand over its tokens"
            if list(one) not in documents:
                return "made-up documents: hand over the documents themselves"
    return ""
