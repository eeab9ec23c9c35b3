"""Batches under a budget, inside a `Trainer` that somebody else wrote.

a Trainer, slots  ->  the same Trainer, with other batches for training
"""

from typing import Any

from torch.utils.data import DataLoader, IterableDataset

from batchlab import buckets, lengths

__all__ = ["budgeted"]

CUTTING = ("split_batches", "dispatch_batches")  # ways of accelerate to deal batches out
KEPT = ("collate_fn", "num_workers", "pin_memory", "persistent_workers", "prefetch_factor",
        "worker_init_fn", "multiprocessing_context", "in_order")  # fmt: skip


def budgeted(trainer: Any, slots: int, **options: Any) -> Any:
    """Make a `Trainer` of transformers or TRL train on batches of at most `slots` slots.

    trainer  is changed in place and given back: `batches.budgeted(trainer, 4096).train()`
    slots    of one micro-batch of one rank, padding included: what fits in memory
    options  of `buckets.sampler`: max_rows, round_to, pool, cost; the seed is that of the Trainer

    Its documents are a `datasets.Dataset` with a column input_ids. Those of similar length share a
    batch, and batches that ranks take side by side cost alike. `per_device_train_batch_size` and a
    sampler count no more; collator, workers, accumulation, resuming and evaluation stay. An epoch
    may have a batch more than another: one that is resumed in its midst may be that far off.
    Batches hold unequal numbers of documents: `loop.exact` divides their steps rightly. Refused: a
    stream, split_batches, dispatch_batches.
    """
    if not hasattr(trainer, "get_train_dataloader"):
        kind = type(trainer).__name__
        raise ValueError(f"a Trainer of transformers or TRL is needed, got {kind}")
    accelerator, args = trainer.accelerator, trainer.args
    if cut := [name for name in CUTTING if getattr(accelerator.dataloader_config, name)]:
        raise ValueError(f"{cut[0]} of accelerate cuts batches that are made: leave it out")
    if isinstance(trainer.train_dataset, IterableDataset):
        raise ValueError("batches of similar length need all lengths: a stream has none")
    seed = args.seed if args.data_seed is None else args.data_seed
    sizes = lengths.of_dataset(trainer.train_dataset)
    how = {"ranks": args.world_size, "seed": seed, **options}
    buckets.sampler(sizes, slots, **how)  # what cannot be batched is refused now
    accelerator.dataloader_config.even_batches = False  # else accelerate fills short batches up
    theirs = trainer.get_train_dataloader

    def loader() -> Any:
        prepare, accelerator.prepare = accelerator.prepare, lambda made: made
        try:
            made = theirs()
        finally:
            accelerator.prepare = prepare
        kept = {name: getattr(made, name) for name in KEPT}
        sampler: Any = buckets.sampler(sizes, slots, **how)
        return prepare(DataLoader(made.dataset, batch_sampler=sampler, **kept))

    trainer.get_train_dataloader = loader
    return trainer
