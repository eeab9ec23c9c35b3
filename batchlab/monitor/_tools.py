"""Adapters of the tools that draw a run: one class a tool, each told of the record's path.

    path of the record, run  ->  Log: `send(metrics, step)` and `close()`

Words
    own  a run of a tool that was begun here, and ends here; a run of the user's goes on
"""

import importlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

__all__ = ["TOOLS", "Function", "Log", "Metrics", "Send"]

Metrics = Mapping[str, float]
Send = Callable[[Metrics, int], object]
STEP = "batchlab/step"


class Log(Protocol):
    """One tool."""

    def send(self, metrics: Metrics, step: int) -> None:
        """Take the metrics of a step."""

    def close(self) -> None:
        """End what was begun here."""


class TensorBoard:
    """Event files beside the record, in a folder for each launch: tensorboard/run/1f3a..."""

    def __init__(self, path: Path, run: str) -> None:
        writer = importlib.import_module("torch.utils.tensorboard").SummaryWriter
        self._writer = writer(log_dir=str(path.parent / "tensorboard" / path.stem / run))

    def send(self, metrics: Metrics, step: int) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WandB:
    """The run that is there, else one of its own; steps are an axis of their own.

    In the user's run these numbers join the row that is open: a row of theirs would move its step
    on, and W&B throws away what the user then logs at a step below.
    """

    def __init__(self, path: Path, run: str) -> None:
        wandb: Any = importlib.import_module("wandb")
        self._own = wandb.run is None
        there = wandb.init(project="batchlab", dir=str(path.parent)) if self._own else wandb.run
        self._run = there
        self._run.define_metric(STEP)
        self._run.define_metric("batchlab/*", step_metric=STEP)

    def send(self, metrics: Metrics, step: int) -> None:
        self._run.log({**metrics, STEP: step}, commit=self._own)

    def close(self) -> None:
        if self._own:
            self._run.finish()


class MLflow:
    """The run that is active, else one of its own; by its id, as threads do not share it."""

    def __init__(self, path: Path, run: str) -> None:
        mlflow: Any = importlib.import_module("mlflow")
        self._metric = importlib.import_module("mlflow.entities").Metric
        self._client = mlflow.MlflowClient()
        active = mlflow.active_run()
        self._own = active is None
        if active is None:
            known = mlflow.get_experiment_by_name("batchlab")
            number = known.experiment_id if known else mlflow.create_experiment("batchlab")
            active = self._client.create_run(number, run_name=path.stem)
        self._id = active.info.run_id

    def send(self, metrics: Metrics, step: int) -> None:
        now = int(1000 * time.time())
        each = [self._metric(name, value, now, step) for name, value in metrics.items()]
        self._client.log_batch(self._id, metrics=each)

    def close(self) -> None:
        if self._own:
            self._client.set_terminated(self._id)


class Trackio:
    """The run that is there, else one of its own."""

    def __init__(self, path: Path, run: str) -> None:
        trackio: Any = importlib.import_module("trackio")
        current = importlib.import_module("trackio.context_vars").current_run.get()
        self._own = current is None
        name = f"{path.stem} {run}"
        self._run = trackio.init(project="batchlab", name=name) if self._own else current

    def send(self, metrics: Metrics, step: int) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        if self._own:
            self._run.finish()


class Function:
    """A function of the user's own."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def send(self, metrics: Metrics, step: int) -> None:
        self._send(metrics, step)

    def close(self) -> None:
        pass


TOOLS: Mapping[str, Callable[[Path, str], Log]] = {
    "tensorboard": TensorBoard,
    "wandb": WandB,
    "mlflow": MLflow,
    "trackio": Trackio,
}
