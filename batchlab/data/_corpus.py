"""The embedded corpus: the standard library's own docstrings and code, present wherever Python is.

    source files  ->  docstring -> code pairs  ->  byte-level BPE  ->  Corpus

Each function with a docstring gives one document: the docstring is the prompt, the code without it
is the answer, and only the answer is trained. The result is kept in the user's cache folder.

Words
    document   one prompt and its answer, as token ids, with labels that ignore the prompt
"""

import ast
import hashlib
import os
import sys
import sysconfig
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from batchlab.counts import IGNORE

__all__ = [
    "DEFAULT_LONGEST",
    "IGNORE",
    "Corpus",
    "cache_folder",
    "embedded",
    "from_pieces",
    "pairs",
]

VOCABULARY = 4096
DEFAULT_LONGEST = 768  # tokens: a sweep of documents up to here ends in two minutes
END = "<|end|>"
FORMAT = 1  # raise it when the making changes: old caches are then left alone
SKIPPED = {"test", "tests", "idlelib", "lib2to3", "site-packages", "turtledemo", "__pycache__"}


@dataclass(frozen=True, eq=False)
class Corpus(Sequence[Mapping[str, np.ndarray]]):
    """Documents in two flat arrays; `corpus[i]` is a mapping as in `datasets`.

    tokens   (tokens,) int32, all documents one after another
    starts   (documents + 1,) int64, where each document begins
    prompts  (documents,) int64, how many tokens of each are prompt: their labels are ignored
    trained  (tokens,) bool where labels are ignored behind a prompt too, as the turns of a
             conversation are; else None
    """

    name: str
    tokens: np.ndarray
    starts: np.ndarray
    prompts: np.ndarray
    vocabulary: int
    tokenizer: Any = None  # decodes; None where the tokens came without one
    trained: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return self.select(range(*number.indices(len(self))))
        number = range(len(self))[number]
        here = slice(self.starts[number], self.starts[number + 1])
        ids = self.tokens[here]
        labels = ids.copy()
        labels[: self.prompts[number]] = IGNORE
        if self.trained is not None:
            labels[~self.trained[here]] = IGNORE
        return {"input_ids": ids, "labels": labels}

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, (documents,) int64."""
        return np.diff(self.starts)

    @property
    def fingerprint(self) -> str:
        """A short name of the content: equal for equal tokens and prompts."""
        digest = hashlib.sha256()
        for array in (self.tokens, self.starts, self.prompts, self.trained):
            if array is not None:
                digest.update(np.ascontiguousarray(array).data.cast("B"))
        return digest.hexdigest()[:16]

    def select(self, numbers: Sequence[int] | np.ndarray) -> "Corpus":
        """The documents with these numbers, in this order."""
        numbers = np.asarray(numbers, dtype=np.int64)
        if len(numbers) == 0:
            raise ValueError("a corpus needs at least 1 document")
        starts = np.concatenate([[0], np.cumsum(self.lengths[numbers])])
        begins, ends = self.starts[:-1][numbers].tolist(), self.starts[1:][numbers].tolist()

        def gathered(array: np.ndarray) -> np.ndarray:
            if begins[1:] == ends[:-1]:  # neighbours: nothing is copied
                return array[begins[0] : ends[-1]]
            return np.concatenate([array[b:e] for b, e in zip(begins, ends, strict=True)])

        return replace(
            self,
            tokens=gathered(self.tokens),
            starts=starts,
            prompts=self.prompts[numbers],
            trained=None if self.trained is None else gathered(self.trained),
        )

    def at_most(self, length: int) -> "Corpus":
        """Only the documents of at most `length` tokens."""
        kept = np.flatnonzero(self.lengths <= length)
        if len(kept) == 0:
            raise ValueError(f"no document has at most {length:,} tokens")
        return self.select(kept)

    def fitted(self, length: int, too_long: str) -> "Corpus":
        """Documents of at most `length` tokens; what becomes of others is said as to `packing`.

        Of a prompt that is cut, every piece stays a prompt. ValueError where longer ones are
        refused, or none would be left.
        """
        sizes = self.lengths
        if sizes.max() <= length:
            return self
        if too_long == "drop":
            return self.at_most(length)
        if too_long == "refuse":
            at = int(np.argmax(sizes > length))
            raise ValueError(f"document {at:,} has {sizes[at]:,} tokens, a row has {length:,}")
        inside = np.arange(len(self.tokens)) - np.repeat(self.starts[:-1], sizes)
        begins = np.flatnonzero(inside % length == 0)
        owner = np.searchsorted(self.starts, begins, side="right") - 1
        starts = np.append(begins, len(self.tokens))
        prompts = np.clip(self.prompts[owner] - inside[begins], 0, np.diff(starts))
        pieces = replace(self, starts=starts, prompts=prompts)
        if too_long == "truncate":
            return pieces.select(np.flatnonzero(inside[begins] == 0))
        return pieces

    def text(self, number: int) -> str:
        """One document as text, where the corpus has its tokenizer."""
        if self.tokenizer is None:
            raise ValueError(f"{self.name} came as tokens: no tokenizer to decode them")
        return str(self.tokenizer.decode(self[number]["input_ids"].tolist()))

    def as_dataset(self) -> Any:
        """The same documents as a `datasets.Dataset`."""
        from datasets import Dataset

        columns: dict[str, list[Any]] = {"input_ids": [], "labels": []}
        for document in self:
            for name, column in columns.items():
                column.append(document[name])
        return Dataset.from_dict(columns)


def from_pieces(
    name: str,
    prompts: Sequence[Sequence[int]],
    answers: Sequence[Sequence[int]],
    *,
    vocabulary: int,
    tokenizer: Any = None,
) -> Corpus:
    """Put prompts and answers together; an empty prompt means that everything is trained."""
    sizes = [len(p) + len(a) for p, a in zip(prompts, answers, strict=True)]
    if not sizes:
        raise ValueError(f"{name}: no documents in it")
    if 0 in sizes:
        raise ValueError(f"{name}: document {sizes.index(0)} has no tokens")
    flat = [
        token for p, a in zip(prompts, answers, strict=True) for part in (p, a) for token in part
    ]
    return Corpus(
        name,
        np.array(flat, dtype=np.int32),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.array([len(p) for p in prompts], dtype=np.int64),
        vocabulary,
        tokenizer,
    )


def embedded() -> Corpus:
    """The embedded corpus, from the cache or made in seconds; a broken cache is made anew."""
    from tokenizers import Tokenizer

    version = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    path = cache_folder() / f"stdlib-{version}-{FORMAT}.npz"
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            tokenizer = Tokenizer.from_str(str(file["tokenizer"]))
            arrays = file["tokens"], file["starts"], file["prompts"]
            return Corpus("stdlib", *arrays, VOCABULARY, tokenizer)
    except Exception:  # not there, torn, or of another tokenizers version: all mean "make it"
        made = _make()
    _write_whole(path, made)
    return made


def _make() -> Corpus:
    found = sorted(set(pairs(Path(sysconfig.get_paths()["stdlib"]))))
    tokenizer = _train([text for pair in found for text in pair])
    end = tokenizer.token_to_id(END)
    prompts = [e.ids for e in tokenizer.encode_batch([prompt + "\n" for prompt, _ in found])]
    answers = [[*e.ids, end] for e in tokenizer.encode_batch([answer for _, answer in found])]
    return from_pieces("stdlib", prompts, answers, vocabulary=VOCABULARY, tokenizer=tokenizer)


def _train(texts: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """(docstring, code without it) of every function with a docstring, file by file."""
    for path in sorted(folder.rglob("*.py")):
        if SKIPPED & set(path.relative_to(folder).parts[:-1]):
            continue
        try:
            source = path.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
            continue  # samples that are broken on purpose
        lines = source.splitlines()  # by line numbers: ast.get_source_segment is quadratic
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node)
                if docstring and len(node.body) > 1:
                    head = lines[node.lineno - 1 : node.body[0].lineno - 1]
                    tail = lines[node.body[0].end_lineno or 0 : node.end_lineno]
                    code = textwrap.dedent("\n".join(head + tail)).strip()
                    yield docstring.strip(), code


def cache_folder() -> Path:
    """Where things that can be made again are kept; never created here."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "batchlab"


def _write_whole(path: Path, corpus: Corpus) -> None:
    """Write by a temporary name; a folder that cannot be written costs time, not correctness."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            np.savez(
                file,
                tokens=corpus.tokens,
                starts=corpus.starts,
                prompts=corpus.prompts,
                tokenizer=np.array(corpus.tokenizer.to_str()),
            )
        Path(file.name).replace(path)
    except OSError:
        return
