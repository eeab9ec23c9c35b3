"""Every option of the command line, defined once: a word means the same in each verb.

    words of a verb  ->  offer  ->  a parser

A verb offers at most eight words of its own, beside `--json`, `--help` and `--verify`; what is
rarer is in the library. Verbs about a step of training also offer `TRAINING`, one list for all of
them: it reads like the config that people have, so its words have a group of their own in the help.
Words are checked before anything heavy is loaded: numbers and choices by the parser (exit code 2),
files, folders and words that need each other by `cli._checked` (exit code 1, one line).
"""

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from batchlab import packing
from batchlab.cli._kinds import above_zero, card, filled, gibibytes, port, whole

__all__ = [
    "BILL",
    "HOW_IT_IS_TRAINED",
    "LAYOUTS",
    "PRECISIONS",
    "PROPOSAL",
    "RUN",
    "TRAINING",
    "WHAT_A_RUN_HAS",
    "WHAT_IS_PROPOSED",
    "WHAT_IT_TAKES",
    "WORDS",
    "Word",
    "dtypes",
    "offer",
    "offer_bill",
    "offer_proposal",
    "offer_run",
    "offer_training",
    "place",
    "precision",
]

PRECISIONS = ("float32", "bfloat16", "autocast-bfloat16", "autocast-float16")
OPTIMIZERS = (
    "adamw", "adam", "adamw8bit", "adamw8bit-trainer", "adafactor", "sgd", "lion", "muon"
)  # fmt: skip
QUANTISED = ("nf4", "nf4-double")
ATTENTIONS = ("sdpa", "eager")
LOSSES = ("full", "chunked")
SHARDS = ("zero1", "zero2", "zero3")
LAYOUTS = ("padded", "bucketed", "packed")
DEVICES = ("cpu", "cuda")
FORMS = ("ddp", "fsdp", "plain")
ISOLATIONS = ("L3", "L2", "L0")
SYSTEMS = ("canvas", "moodle", "csv", "nbgrader", "gradescope", "feedback")
UNITS = ("file", "line", "paragraph")
SCHEDULES = ("constant", "linear", "cosine")
TOOLS = ("tensorboard", "wandb", "mlflow", "trackio")
FIGURES = (".png", ".svg", ".pdf")
RUNS = Path("runs")  # the one folder that is made unasked: the sweep's records go there by default


@dataclass(frozen=True)
class Word:
    """One option: what it means wherever it is offered."""

    means: str
    shape: str = ""  # what stands behind it in the usage
    default: str = ""  # said where a verb gives no value of its own
    kind: Callable[[str], Any] = filled
    choices: Collection[str] | None = None
    flag: bool = False


WORDS: Mapping[str, Word] = {
    "model": Word("folder, config.json or hub name; its tokenizer too", "NAME", "a small Llama"),
    "data": Word("documents: a file, a folder or a hub name", "DATA", "the embedded documents"),
    "document": Word("what a document of a .txt file is", "UNIT",
                     "a paragraph; in a folder, a file", choices=UNITS),
    "field": Word("field of the text or the token ids; A,B joins two", "NAME", "by its name"),
    "split": Word("split of a data set that has several", "NAME", "train"),
    "tokenizer": Word("folder or hub name; it counts texts", "NAME", "the embedded one"),
    "length": Word("slots of a row", "N", kind=whole),
    "rows": Word("rows of a micro-batch", "N", kind=whole),
    "accumulation": Word("micro-batches of a step", "N", kind=whole),
    "data_parallel": Word("replicas that share a step", "N", kind=whole),
    "slots": Word("slots of a step, for accumulation", "N", "what the factors give", whole),
    "devices": Word("devices of the run", "N", "as the config says", whole),
    "tool": Word("whose config it is, where its keys do not tell", "NAME", "as its keys say"),
    "window": Word("batches that are sorted together", "N", kind=whole),
    "method": Word("how rows are filled", "M", choices=packing.METHODS),
    "too_long": Word("a document longer than a row", "HOW", choices=packing.TOO_LONG),
    "layout": Word("how documents become micro-batches", "L", choices=LAYOUTS),
    "precision": Word("what a step computes in", "P", "bfloat16 where the GPU has it, else float32",
                      choices=PRECISIONS),
    "checkpointing": Word("recompute activations in the backward pass", flag=True),
    "optimizer": Word("what updates the weights", "NAME", choices=OPTIMIZERS),
    "lora": Word("rank of adapters on all linear layers", "RANK", "all weights are trained", whole),
    "quantised": Word("4-bit weights under the adapters", "Q", "as --precision", choices=QUANTISED),
    "attention": Word("what computes attention", "A", choices=ATTENTIONS),
    "loss": Word("logits of a micro-batch at once, or of 1,024 slots", "HOW", choices=LOSSES),
    "offload": Word("activations wait on the host for the backward pass", flag=True),
    "tensor": Word("devices that share each layer: tensor parallel", "N", kind=whole),
    "experts": Word("devices that each keep a share of the experts", "N", kind=whole),
    "shard": Word("what --devices share: ZeRO, FSDP", "Z", "nothing", choices=SHARDS),
    "budget": Word("GiB of tensors", "GIB", "what is free on a GPU, 1 on a CPU", gibibytes),
    "device": Word("where a step runs", "D", "cuda where there is one", choices=DEVICES),
    "tokens": Word("tokens of the whole run, such as 1e12", "N", "no bill", above_zero),
    "price": Word("of a device and hour, in any currency", "P", "not known", above_zero),
    "utilisation": Word("MFU, from least to most", "MFU", kind=above_zero),
    "products": Word("number type of the matrix products", "P",
                     choices=("bf16", "fp8", "fp4")),
    "card": Word("device of a data sheet", "NAME", kind=card),
    "trace": Word("requests: .csv or .jsonl with arrival, prompt, output", "FILE",
                  "the embedded documents", Path),
    "requests": Word("requests that arrive", "N", kind=whole),
    "arrivals": Word("requests per second", "R", kind=above_zero),
    "from_batch": Word("sequences of a step before the change", "N", kind=whole),
    "to_batch": Word("sequences of a step after it", "N", kind=whole),
    "rate": Word("learning rate", "RATE", kind=above_zero),
    "betas": Word("Adam's two betas", "BETA", kind=above_zero),
    "warmup": Word("warm-up, in steps before the change", "N", kind=whole),
    "generations": Word("completions of a prompt; the run is GRPO", "N", "no GRPO", whole),
    "noise_scale": Word("noise scale in sequences", "N", "not known", above_zero),
    "steps": Word("optimizer steps", "N", kind=whole),
    "nproc": Word("processes of this machine, each with a GPU where there are GPUs", "N",
                  kind=whole),
    "form": Word("how processes share the model", "F", choices=FORMS),
    "schedule": Word("shape of the rate until --tokens", "S", choices=SCHEDULES),
    "warmup_tokens": Word("target tokens until the rate is whole", "N", "10 steps", above_zero),
    "compile": Word("compile the layers of the model", flag=True),
    "report_to": Word("tools that get the numbers as well", "TOOL", "none", choices=TOOLS),
    "doctor": Word("say at the end where the time went", flag=True),
    "verify": Word("prove what is said: measure it, or read what was written", flag=True),
    "output": Word("file of records; a run that was stopped goes on from it", "FILE",
                   "nothing is kept", Path),
    "course": Word("folder of the course: solutions, course.toml", "FOLDER", ".", Path),
    "lesson": Word("this lesson only", "NAME", "as the notebooks say"),
    "student": Word("this student only, by the id of the table", "ID", "all"),
    "workers": Word("submissions graded side by side", "N", "the cores, 8 at most", whole),
    "again": Word("grade anew what has a grade; both are kept", flag=True),
    "isolation": Word("least isolation of strangers' code", "L", "that of course.toml, else L2",
                      choices=ISOLATIONS),
    "public_seed": Word("grade with the seed that anyone can read", flag=True),
    "to": Word("what takes the grades", "SYSTEM", choices=SYSTEMS),
    "template": Word("the table of the LMS, as it was downloaded", "FILE", "none", Path),
    "write": Word("write it here", "PATH", "only said, nothing is written", Path),
    "seeds": Word("seeds that each check is tried on", "N", kind=whole),
    "port": Word("port of this machine; 0 takes a free one", "PORT", kind=port),
    "export": Word("write a copy of the page", "FILE.html", "the page is served", Path),
    "no_open": Word("open no browser", flag=True),
    "figure": Word(f"draw it: {', '.join(FIGURES)}", "FILE", "nothing is drawn", Path),
    "json": Word("print JSON instead of tables", flag=True),
}  # fmt: skip


WHAT_IS_PROPOSED = "what its batch and rate follow, with --tokens and without a step"
WHAT_IT_TAKES = "what the whole run takes, with --tokens and --devices"
HOW_IT_IS_TRAINED = "how it is trained"
WHAT_A_RUN_HAS = "what a run may have besides"
HOW_LAYERS_ARE_SHARED = "layers over several devices: the peak of one of them"
TRAINING = (
    "accumulation",
    "optimizer",
    "lora",
    "quantised",
    "attention",
    "loss",
    "offload",
    "shard",
    "devices",
)
RUN = (
    "field",
    "document",
    "too_long",
    "lora",
    "compile",
    "schedule",
    "tokens",
    "warmup_tokens",
    "report_to",
    "doctor",
)
SHARED = ("tensor", "experts")
BILL = ("tokens", "model", "card", "products", "price", "utilisation")
PROPOSAL = ("optimizer", "lora", "generations", "noise_scale", "rate", "from_batch")


class Offers(Protocol):
    """A parser, or a group of its options that exclude each other."""

    def add_argument(self, *names: str, **how: Any) -> argparse.Action:
        """Add one option."""


def offer(
    parser: Offers,
    *words: str,
    several: Collection[str] = (),
    shown: Mapping[str, str] | None = None,
    **defaults: Any,
) -> None:
    """Add options to a parser, each as it is in every verb.

    several   words that take more than one value
    shown     defaults in words, where the verb works them out by itself
    defaults  values, shown as they are
    """
    for name in words:
        word, default = WORDS[name], defaults.get(name)
        option = f"--{name.replace('_', '-')}"
        if word.flag:
            parser.add_argument(option, action="store_true", help=word.means)
            continue
        means = ": ".join([word.means, *([", ".join(word.choices)] if word.choices else [])])
        given = word.default if default is None else str(default)
        if default is not None and name in several:
            given = " ".join(map(str, default))
        parser.add_argument(
            option,
            type=word.kind,
            choices=word.choices,
            metavar=word.shape,
            nargs="+" if name in several else None,
            default=default,
            help=f"{means} (default: {(shown or {}).get(name, given)})",
        )


def offer_training(parser: argparse.ArgumentParser) -> None:
    """Add the words that say how a step is trained, as a group of the help."""
    group = parser.add_argument_group(HOW_IT_IS_TRAINED)
    defaults: dict[str, Any] = {"accumulation": 1, "optimizer": "adamw"}
    defaults |= {"attention": "sdpa", "loss": "full"}
    offer(group, *TRAINING, shown={"devices": "1"}, **defaults)


def offer_run(parser: argparse.ArgumentParser) -> None:
    """Add the words that a run need not have, as a group of the help."""
    offer(
        parser.add_argument_group(WHAT_A_RUN_HAS),
        *RUN,
        several=["report_to"],
        shown={"tokens": "a constant rate"},
        schedule="constant",
        too_long="drop",
    )


def offer_bill(parser: argparse.ArgumentParser) -> None:
    """Add the words that say what a whole run takes, as a group of the help."""
    offer(
        parser.add_argument_group(WHAT_IT_TAKES),
        *BILL,
        several=["utilisation"],
        shown={
            "model": "Llama 3 8B",
            "utilisation": "as public runs reached",
            "card": "h100",
            "products": "bf16",
        },
    )


def offer_proposal(parser: argparse.ArgumentParser) -> None:
    """Add the words that a proposal of batch and rate follows, as a group of the help."""
    offer(
        parser.add_argument_group(WHAT_IS_PROPOSED),
        *PROPOSAL,
        shown={
            "optimizer": "adamw", "rate": "none of your own", "from_batch": "none of your own"
        },
    )  # fmt: skip


def place(device: str | None) -> str:
    """The device that was asked for, if it is here; without a word, cuda where there is one."""
    import torch

    there = torch.cuda.is_available()
    if device == "cuda" and not there:
        raise ValueError("--device cuda: torch finds no CUDA device here")
    return device or ("cuda" if there else "cpu")


def precision(asked: str | None, device: str) -> str:
    """The precision that was asked for; without a word, bfloat16 where the GPU computes in it.

    Before compute capability 8.0 (a T4) bfloat16 is emulated: there it is float32, as on a CPU, and
    for a GPU that is not here.
    """
    import torch

    if asked or device != "cuda" or not torch.cuda.is_available():
        return asked or "float32"
    return "bfloat16" if torch.cuda.get_device_capability() >= (8, 0) else "float32"


def dtypes(precision: str) -> tuple[Any, Any]:
    """The dtype of the weights, and that of autocast or None."""
    import torch

    kind, _, name = precision.rpartition("-")
    if kind:
        return torch.float32, getattr(torch, name)
    return getattr(torch, name), None
