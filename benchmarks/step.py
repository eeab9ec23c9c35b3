"""What one optimizer step costs against the tightest loop by hand, on the same documents.

    python benchmarks/step.py [--rounds 11]

CPU seconds on one core, in turn, medians of the rounds. The loop by hand counts the targets of its
micro-batches, clips by the norm and steps: what every trainer does and nothing else. Flat rows are
those of `batches.flattened` against the flattening collator of transformers, both through its own
sdpa attention; below that, ours through the attention of this library.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from interleaved import medians

from batchlab import attention, batches, data, loop, model
from batchlab.counts import IGNORE

ROWS, MICRO_BATCHES = 4, 4


def by_hand(net: Any, optimizer: torch.optim.Optimizer, parts: list[Any]) -> float:
    """One exact step: sums over all micro-batches, one division, one clip."""
    optimizer.zero_grad(set_to_none=True)
    targets = sum(int((part["labels"][:, 1:] != IGNORE).sum()) for part in parts)
    total = torch.zeros(())
    for part in parts:
        given = {name: part[name] for name in part if name != "labels"}
        logits = net(**given, use_cache=False).logits
        labels = F.pad(part["labels"][:, 1:], (0, 1), value=IGNORE).flatten()
        loss = F.cross_entropy(logits.flatten(0, 1), labels, ignore_index=IGNORE, reduction="sum")
        (loss / targets).backward()
        total += loss.detach()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    return total.item() / targets


def ours(net: Any, optimizer: torch.optim.Optimizer, parts: list[Any]) -> float:
    return loop.train_step(net, optimizer, parts, max_grad_norm=1.0).loss


def collated(documents: Any, numbers: list[int]) -> Any:
    """A flat row as the collator of transformers makes it."""
    from transformers import DataCollatorWithFlattening

    collate = DataCollatorWithFlattening(return_tensors="pt")
    rows = [documents[number]["input_ids"].tolist() for number in numbers]
    return dict(collate([{"input_ids": ids} for ids in rows]))


def concatenated(documents: Any, numbers: list[int]) -> dict[str, torch.Tensor]:
    """A flat row by hand, of documents that are known to be arrays: nothing is checked."""
    read = [documents[number] for number in numbers]
    sizes = np.array([len(one["input_ids"]) for one in read])
    ends = np.cumsum(sizes)
    ids = np.concatenate([one["input_ids"] for one in read]).astype(np.int64)
    labels = np.concatenate([one["labels"] for one in read]).astype(np.int64)
    labels[ends - sizes] = IGNORE
    positions = np.arange(len(ids)) - np.repeat(ends - sizes, sizes)
    flat = {"input_ids": ids, "labels": labels, "position_ids": positions}
    return {name: torch.from_numpy(one)[None] for name, one in flat.items()} | {
        "cu_seqlens": torch.from_numpy(np.append(0, ends).astype(np.int32)),
        "max_length": torch.tensor(int(sizes.max())),
    }


def line(what: str, steps: dict[str, Callable[[], object]], rounds: int) -> None:
    seconds = medians(steps, rounds=rounds)
    first, *others = seconds.values()
    for name, other in zip(list(seconds)[1:], others, strict=True):
        print(f"{what:<34}{1e3 * first:>10.1f}{first / other:>8.3f}  {name}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=11)
    chosen = options.parse_args()
    corpus = data.embedded().at_most(data.DEFAULT_LONGEST)
    cuts = [range(ROWS * n, ROWS * (n + 1)) for n in range(MICRO_BATCHES)]
    padded = [batches.padded(corpus, cut) for cut in cuts]
    hand_padded = [
        {k: part[k] for k in ("input_ids", "labels", "attention_mask")} for part in padded
    ]
    flat = [batches.flattened(corpus, cut) for cut in cuts]
    theirs = [collated(corpus, list(cut)) for cut in cuts]

    def step(how: Callable[..., float], parts: list[Any], varlen: bool = False) -> Any:
        net = model.load(None)
        net.train()
        if varlen:
            attention.prepare(net)
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
        return lambda: how(net, optimizer, parts)

    print(f"{'ours':<34}{'ms':>10}{'x':>8}  against")
    line(
        f"train_step, {MICRO_BATCHES} x {ROWS} padded rows",
        {"ours": step(ours, padded), "a loop by hand": step(by_hand, hand_padded)},
        chosen.rounds,
    )
    line(
        "train_step, flat rows, sdpa",
        {"ours": step(ours, flat), "their collator, a loop by hand": step(by_hand, theirs)},
        chosen.rounds,
    )
    line(
        "train_step, flat rows, varlen",
        {"ours": step(ours, flat, True), "their collator, a loop by hand": step(by_hand, theirs)},
        chosen.rounds,
    )
    line(
        "flattened, 16 documents",
        {
            "ours": lambda: [batches.flattened(corpus, cut) for cut in cuts],
            "their collator": lambda: [collated(corpus, list(cut)) for cut in cuts],
            "by hand": lambda: [concatenated(corpus, list(cut)) for cut in cuts],
        },
        chosen.rounds,
    )


if __name__ == "__main__":
    main()
