"""The policies of `serving`, run on a real model with a key-value cache.

    model, prompts, output lengths, policy  ->  the tokens of `model.generate`, seconds of each pass

The scheduler is the one of the simulation, so passes agree exactly; only their seconds are measured
here. Every request gets as many tokens as it asks for: an end token does not end it.

Words
    row  a place in the cache; a request keeps it from its prompt to its last token
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from batchlab import lengths, model
from batchlab.serving._cost import Pass
from batchlab.serving._policy import Running, Scheduler, Step
from batchlab.serving._requests import trace
from batchlab.serving._simulate import UNLIMITED, Served, play

__all__ = ["Generated", "run"]


@dataclass(frozen=True, eq=False)
class Generated:
    """What came out, and what it took."""

    tokens: list[list[int]]  # one list a request, without its prompt
    served: Served
    passes: list[Pass]


def run(
    language_model: Any,
    prompts: Sequence[Sequence[int]],
    outputs: Sequence[int],
    *,
    policy: str = "continuous",
    rows: int = 8,
    chunk: int = 512,
    arrivals: Sequence[float] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Generated:
    """Generate greedily for every prompt under a policy of batching.

    outputs   tokens for each prompt, at least 1
    arrivals  seconds, one a prompt: simulated, so nothing is slept; at once by default
    clock     seconds of a pass are its difference; `time.thread_time` on a busy machine with
              `torch.set_num_threads(1)`. A CUDA device is waited for.

    Prompts of one pass are padded to the longest, as are their caches. Under chunked batching, a
    pass is two forwards, one for what decodes and one for the chunks.
    """
    model.require_packable(language_model)
    asked = [lengths.of(prompt) for prompt in prompts]
    times = [0.0] * len(asked) if arrivals is None else arrivals
    requests = trace(times, asked, outputs)
    order = np.argsort(np.asarray(times, dtype=float), kind="stable")
    room = max(int(a) + int(b) for a, b in zip(requests.prompts, requests.outputs, strict=True))
    positions = getattr(language_model.config, "max_position_embeddings", room)
    if room > positions:
        raise ValueError(
            f"a request of {room:,} tokens (prompt and output) is longer than the model's "
            f"{positions:,} positions"
        )
    ids = [[int(one) for one in lengths.ids_of(prompts[at])] for at in order]
    executor = _Executor(language_model, ids, rows, room, clock)
    training = language_model.training
    language_model.eval()
    try:
        with torch.inference_mode():
            served = play(requests, Scheduler(policy, rows, UNLIMITED, chunk), executor)
    finally:
        language_model.train(training)
    inverse = np.argsort(order, kind="stable")
    return Generated([executor.made[at] for at in inverse], served, executor.passes)


class _RowLayer(CacheLayerMixin):
    """Keys and values of one layer: what a pass computes is written to its requests' rows."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self, rows: int, room: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.all_rows, self.room = rows, room
        self.rows: list[int] = []  # of the pass that comes, one for each of its requests
        self.starts: list[int] = []
        self.width = 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        _, heads, _, size = key_states.shape
        self.keys = key_states.new_zeros(self.all_rows, heads, self.room, size)
        self.values = value_states.new_zeros(
            self.all_rows, heads, self.room, value_states.shape[-1]
        )
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        for at, (row, start) in enumerate(zip(self.rows, self.starts, strict=True)):
            stop = min(self.room, start + key_states.shape[2])
            self.keys[row, :, start:stop] = key_states[at, :, : stop - start]
            self.values[row, :, start:stop] = value_states[at, :, : stop - start]
        return self.keys[self.rows, :, : self.width], self.values[self.rows, :, : self.width]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.width, 0

    def get_seq_length(self) -> int:
        return max(self.starts, default=0)

    def get_max_length(self) -> int:
        return self.room

    get_max_cache_shape = get_max_length  # its name until transformers 5.x


@dataclass
class _Executor:
    """Runs the passes that a scheduler decides."""

    model: Any
    prompts: list[list[int]]
    rows: int
    room: int
    clock: Callable[[], float]
    passes: list[Pass] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = self.model.config.num_hidden_layers
        self.layers = [_RowLayer(self.rows, self.room) for _ in range(count)]
        self.cache = Cache(layers=list[Any](self.layers))
        self.made: list[list[int]] = [[] for _ in self.prompts]

    def __call__(self, step: Step) -> float:
        """One pass; its seconds."""
        start = self._now()
        decoding = (*step.decoding, *step.idle)
        if decoding:
            news = self._forward(decoding, [self.made[one.request][-1:] for one in decoding])
            for one, new in zip(step.decoding, news, strict=False):
                self.made[one.request].append(new)
        if step.chunks:
            rows = [chunk.running for chunk in step.chunks]
            texts = [
                self.prompts[chunk.running.request][chunk.start : chunk.stop]
                for chunk in step.chunks
            ]
            for chunk, new in zip(step.chunks, self._forward(rows, texts), strict=True):
                if chunk.stop == chunk.running.prompt:
                    self.made[chunk.running.request].append(new)
        took = self._now() - start
        self.passes.append(Pass(step.tokens, len(step.contexts), max(step.contexts), took))
        return took

    def _forward(self, rows: Sequence[Running], texts: Sequence[Sequence[int]]) -> list[int]:
        """The likeliest token behind each text, which continues what is in its row's cache."""
        starts = [one.context for one in rows]
        longest = max(map(len, texts))
        width = min(self.room, max(starts) + longest)
        for layer in self.layers:
            layer.rows, layer.starts, layer.width = [one.row for one in rows], starts, width
        device = self.model.device
        ids = torch.tensor([[*text, *[0] * (longest - len(text))] for text in texts], device=device)
        places = torch.tensor(starts, device=device)[:, None] + torch.arange(longest, device=device)
        seen = torch.arange(width, device=device) <= places[:, :, None]
        # a float mask: under eager attention a boolean one is added as 0 and 1, without an error
        blocked = torch.finfo(self.model.dtype).min
        mask = torch.zeros(seen.shape, dtype=self.model.dtype, device=device)
        mask = mask.masked_fill(~seen, blocked)[:, None]
        logits = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=places.clamp(max=self.room - 1),
            past_key_values=self.cache,
            use_cache=True,
        ).logits
        last = torch.tensor([len(text) - 1 for text in texts], device=device)
        picked = logits[torch.arange(len(texts), device=device), last].argmax(-1)
        return [int(one) for one in picked]

    def _now(self) -> float:
        if self.model.device.type == "cuda":
            torch.cuda.synchronize(self.model.device)
        return self.clock()
