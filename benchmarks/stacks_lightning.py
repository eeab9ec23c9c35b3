"""Lightning's Trainer, watched by its callback.

Way, a file for the record  ->  Timed
"""

import logging
import warnings
from pathlib import Path
from typing import Any

import torch

from batchlab import model, monitor
from benchmarks.stacks_loops import small, together
from benchmarks.stacks_plants import BETWEEN, EACH, STEPS, Plant, Timed, Update, Way, documents

__all__ = ["Lightning"]


class Lightning:
    """A small Llama inside a LightningModule, automatic optimization."""

    def __init__(self) -> None:
        self.net = small()
        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    def __call__(self, way: Way, path: Path) -> Timed:
        import lightning.pytorch as library

        plant = Plant(way)
        model.set_checkpointing(self.net, way.checkpointing)
        trainer = library.Trainer(
            max_steps=STEPS, accumulate_grad_batches=way.accumulation, accelerator="cpu",
            logger=False, enable_progress_bar=False, enable_model_summary=False,
            default_root_dir=path.with_suffix(""), num_sanity_val_steps=0,
            val_check_interval=BETWEEN, limit_val_batches=4 * (way.plant == "evaluation"),
            enable_checkpointing=way.plant == "saving",
            callbacks=[
                monitor.lightning(path, every=BETWEEN, probe=way.probe),
                *self.sites(library, plant),
            ],
        )  # fmt: skip
        hook = self.net.get_input_embeddings().register_forward_hook(
            lambda *_: plant.sleep("away") if torch.is_grad_enabled() else None
        )
        for name, verb in (("evaluation", "val_loop"), ("saving", "checkpoint")):
            self.clocked(trainer, plant, name, verb)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                trainer.fit(self.module(library, plant))
            finally:
                hook.remove()
        return plant.window()

    def clocked(self, trainer: Any, plant: Plant, name: str, verb: str) -> None:
        if name == "saving":
            trainer.save_checkpoint = plant.timed(name)(trainer.save_checkpoint)
        else:
            loop = trainer.fit_loop.epoch_loop.val_loop
            loop.run = plant.timed(name)(loop.run)

    def sites(self, library: Any, plant: Plant) -> list[Any]:
        """A checkpoint every few steps, and a slow logger of a user's own."""

        class Site(library.Callback):
            def on_train_batch_end(self, trainer: Any, module: Any, *_: Any) -> None:
                if trainer.global_step and not trainer.fit_loop._should_accumulate():
                    plant.work("host")
                    if plant.way.plant == "generation":
                        with plant.timed("generation"):
                            prompt = torch.arange(4, 36).repeat(2, 1)
                            module.model.generate(prompt, max_new_tokens=3, pad_token_id=0)

        saving = library.callbacks.ModelCheckpoint(every_n_train_steps=BETWEEN)
        return [Site(), saving] if plant.way.plant == "saving" else [Site()]

    def module(self, library: Any, plant: Plant) -> Any:
        net, way = self.net, plant.way

        class Module(library.LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.model = net

            def training_step(self, batch: Any, _: int) -> Any:
                return self.model(**batch).loss

            validation_step = training_step

            def configure_optimizers(self) -> Any:
                return Update(self.parameters(), plant)

            def train_dataloader(self) -> Any:
                def fed(rows: Any) -> Any:
                    plant.sleep("input")
                    return together(rows)

                return torch.utils.data.DataLoader(
                    documents(way), batch_size=way.rows, collate_fn=fed
                )

            def val_dataloader(self) -> Any:
                return torch.utils.data.DataLoader(
                    documents(Way()), batch_size=EACH, collate_fn=together
                )

        return Module()
