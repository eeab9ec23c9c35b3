"""What the page shows: real decoder layers, what they keep, runs in turns; a checkpoint in use.

layers, an input, segments  ->  outputs, bytes, seconds
"""

import itertools
import time

__all__ = [
    "checkpointed",
    "chunked_trainer",
    "even",
    "gpt3_pieces",
    "in_order",
    "interleaved",
    "kept_bytes",
    "peak_of",
    "stack",
]


def stack(network):
    """The decoder layers of a Llama of transformers, each a function of hidden states."""
    import torch

    class Decoder(torch.nn.Module):
        def __init__(self, layer, positions):
            super().__init__()
            self.layer, self.positions = layer, positions

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)[None]
            rotary = self.positions(x, places)
            return self.layer(x, attention_mask=None, position_embeddings=rotary)

    return [Decoder(layer, network.model.rotary_emb) for layer in network.model.layers]


def in_order(layers, x):
    """The output of the last layer, each layer run on the output of the one before."""
    for layer in layers:
        x = layer(x)
    return x


def checkpointed(segment, layers, x, segments):
    """The output of the layers; those of each segment (first, end) run by the class `segment`."""
    import torch

    class Recomputed(segment, torch.autograd.Function):
        pass

    at = 0
    for first, end in segments:
        x = in_order(layers[at:first], x)
        weights = torch.nn.ModuleList(layers[first:end]).parameters()  # each one once
        x = Recomputed.apply(layers[first:end], x, *weights)
        at = end
    return in_order(layers[at:], x)


def kept_bytes(layer, x):
    """Bytes that a layer keeps for its backward pass, its input included and its weights not."""
    import torch

    own = {one.untyped_storage().data_ptr() for one in [*layer.parameters(), *layer.buffers()]}
    seen = {}

    def note(value):
        storage = value.untyped_storage()
        if storage.data_ptr() not in own:  # alive, so that no two share a place
            seen[storage.data_ptr()] = storage.nbytes(), value
        return value

    with torch.autograd.graph.saved_tensors_hooks(note, lambda value: value):
        layer(x.detach().requires_grad_())
    return sum(size for size, _ in seen.values())


def peak_of(run, layers):
    """Bytes at the fullest moment of `run` and of the backward pass of its mean square.

    Gradients are there before, as in every micro-batch of a step but the first, and do not count.
    """
    import torch

    from batchlab.memory import trace

    for weight in torch.nn.ModuleList(layers).parameters():
        weight.grad = torch.zeros_like(weight)
    return trace.measure_peak(lambda: run().square().mean().backward())


def even(layers, segments):
    """Segments as even as they can be; the last is one of the longest.

    >>> even(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = [layers * n // segments for n in range(segments + 1)]
    return list(itertools.pairwise(cuts))


def chunked_trainer():
    """The `Trainer` of lesson 7: its loss makes the logits of 256 slots at a time."""
    from transformers import Trainer

    from batchlab.exercises.memory.chunked_loss import chunked_loss

    class Chunked(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            labels = inputs.pop("labels")[:, 1:].flatten()
            hidden = model.model(**inputs).last_hidden_state[:, :-1].flatten(0, 1)
            return chunked_loss(hidden, model.lm_head, labels, 256) / num_items_in_batch

    return Chunked


def gpt3_pieces(layers):
    """(edge, kept, flops) of layers of GPT-3, each in two pieces; per token and in units of h.

    The piece without the attention core, 28 h bytes, and the core, which keeps its inputs (query,
    key, value: 6 h) and 5 a s bytes of scores: Korthikanti et al. 2023, Eq. 1, with a = 96 heads,
    h = 12,288, s = 2,048. FLOPs: 24 h for the products with weights, 4 s for the scores.
    """
    h, heads, length = 12_288, 96, 2048
    rest = (2.0, 28.0, 24.0 * h)
    core = (6.0, 6.0 + 5 * heads * length / h, 4.0 * length)
    return [piece for _ in range(layers) for piece in (rest, core)]


def interleaved(runs, rounds=7, *, clock=time.perf_counter):
    """Shortest seconds of each run; the runs take turns, so that a busy machine hits all alike.

    `time.process_time` as the clock leaves out what other programs do on these cores.
    """
    taken = {name: [] for name in runs}
    for _ in range(rounds + 1):
        for name, run in runs.items():
            begin = clock()
            run()
            taken[name].append(clock() - begin)
    return {name: min(some[1:]) for name, some in taken.items()}  # the first one warms up
