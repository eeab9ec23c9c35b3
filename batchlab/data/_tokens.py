"""Texts into token ids, with a tokenizer of tokenizers or of transformers.

    texts, or conversations  ->  token ids, and which of them are trained

Words
    span   a text, and where in it the answers begin and end, in characters
"""

from array import array
from collections.abc import Sequence
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from batchlab.data._columns import Packed
from batchlab.data._corpus import embedded

__all__ = ["Encoder", "Span", "tokenizer_from"]

STRETCH = 8  # messages that a turn is rendered behind
Span = tuple[str, list[tuple[int, int]]]


def tokenizer_from(tokenizer: Any) -> Any:
    """A tokenizer object from an object, a folder or a hub name."""
    if not isinstance(tokenizer, str | PathLike):
        return tokenizer
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(tokenizer))
    except Exception as error:  # readers of other libraries have errors of their own
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{tokenizer}: not a tokenizer ({first})") from None


class Encoder:
    """One tokenizer, asked for token ids; the embedded one is loaded when a text needs it."""

    def __init__(self, tokenizer: Any = None):
        self.given = None if tokenizer is None else tokenizer_from(tokenizer)

    @cached_property
    def _tokenizer(self) -> Any:
        return embedded().tokenizer if self.given is None else self.given

    @property
    def used(self) -> Any:
        """The tokenizer that was given or needed; None where the tokens came without one."""
        return self.given if self.given is not None else vars(self).get("_tokenizer")

    @property
    def vocabulary(self) -> int:
        """Entries of the tokenizer that was used; 0 without one."""
        if self.used is None:
            return 0
        return int(self.used.get_vocab_size()) if _is_bare(self.used) else len(self.used)

    def texts(self, texts: list[str], *, special: bool = True) -> list[Packed]:
        """Token ids of each text; `special` tokens of the tokenizer's own around it, or none."""
        if _is_bare(self._tokenizer):
            found = self._tokenizer.encode_batch(texts, add_special_tokens=special)
            return [array("i", one.ids) for one in found]
        return [array("i", ids) for ids in self._called(texts, special)["input_ids"]]

    def spans(
        self, spans: Sequence[Span], *, special: bool
    ) -> tuple[list[Packed], list[np.ndarray]]:
        """Token ids of each text, and whether each token holds any of an answer."""
        texts = [text for text, _ in spans]
        if _is_bare(self._tokenizer):
            found = self._tokenizer.encode_batch(texts, add_special_tokens=special)
            ids, offsets = [one.ids for one in found], [one.offsets for one in found]
        else:
            try:
                made = self._called(texts, special, return_offsets_mapping=True)
            except NotImplementedError:
                raise ValueError(
                    f"tokenizer {_name(self._tokenizer)} does not say where its tokens stand in "
                    "a text: prompts are masked with a fast tokenizer (use_fast=True)"
                ) from None
            ids, offsets = made["input_ids"], made["offset_mapping"]
        answers = [answers for _, answers in spans]
        trained = [_inside(at, one) for at, one in zip(offsets, answers, strict=True)]
        return [array("i", one) for one in ids], trained

    def rendered(self, messages: list[Any], tools: Any, *, reply: bool = False) -> str:
        """A conversation as its chat template writes it; `reply` opens the assistant's turn."""
        if getattr(self._tokenizer, "chat_template", None) is None:
            raise ValueError(
                f"messages need a chat template, and tokenizer {_name(self._tokenizer)} has none: "
                "give tokenizer= (--tokenizer) of a chat model"
            )
        try:
            text = self._tokenizer.apply_chat_template(
                messages, tools=tools or None, tokenize=False, add_generation_prompt=reply
            )
        except Exception as error:  # a template is a program of its own
            why = " ".join(str(error).split()) or type(error).__name__
            raise ValueError(f"the chat template refuses it ({why:.120})") from None
        return str(text)

    def turn(self, prompt: list[Any], answer: list[Any], tools: Any = None) -> Span:
        """A conversation whose prompt is given, with the span of what answers it."""
        before = self.rendered(prompt, tools, reply=True)
        whole = self.rendered(prompt + answer, tools)
        if not whole.startswith(before):
            raise ValueError("the chat template writes the prompt anew once it is answered")
        return whole, [(len(before), len(whole))]

    def answers(self, messages: list[Any], tools: Any = None) -> Span:
        """A conversation, with the span of each turn of the assistant."""
        whole = self.rendered(messages, tools)
        turns = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
        if not turns:
            raise ValueError("the assistant says nothing in it")
        spans = self._spans(whole, messages, tools, turns, STRETCH)
        if len(spans) < len(turns):
            spans = self._spans(whole, messages, tools, turns, len(messages))
        if len(spans) < len(turns):
            raise ValueError(
                f"the chat template writes message {turns[len(spans)]} anew in a longer "
                "conversation, so that it cannot be found: train all (answers_only=False), or give "
                "prompt and completion"
            )
        return whole, spans

    def _spans(
        self, whole: str, messages: list[Any], tools: Any, turns: list[int], most: int
    ) -> list[tuple[int, int]]:
        """Where the turns stand in `whole`, up to the first that is not found.

        Each is rendered behind at most about `most` messages, from a question on, and what it adds
        must be what `whole` holds next: a template that looks further back is not mistaken.
        """
        head = 1 if messages[0]["role"] == "system" else 0
        begin, done, at, known = head, 0, 0, ""  # `known` is found, and ends at `at`
        spans: list[tuple[int, int]] = []
        try:
            for turn in turns:
                if turn - begin >= most:
                    asked = [n for n in range(begin + 1, done) if messages[n]["role"] == "user"]
                    if asked:
                        begin = asked[-1]
                        known = self.rendered(messages[:head] + messages[begin:done], tools)
                stretch = messages[:head] + messages[begin:turn]
                before = self.rendered(stretch, tools, reply=True)
                after = self.rendered([*stretch, messages[turn]], tools)
                added = after[len(known) :]
                if not (
                    before.startswith(known)
                    and after.startswith(before)
                    and whole.startswith(added, at)
                ):
                    break
                spans.append((at + len(before) - len(known), at + len(added)))
                done, at, known = turn + 1, at + len(added), after
        except ValueError:
            if most >= len(messages):
                raise
        return spans

    def _called(self, texts: list[str], special: bool, **options: bool) -> Any:
        """What a tokenizer of transformers answers; token ids, as they are, need no end."""
        if getattr(self._tokenizer, "eos_token_id", None) is None:
            raise ValueError(
                f"tokenizer {_name(self._tokenizer)} has no end-of-sequence token: set "
                "tokenizer.eos_token, so that documents can end"
            )
        try:
            return self._tokenizer(texts, add_special_tokens=special, **options)
        except Exception as error:
            if type(error) is not Exception:
                raise
            name = _name(self._tokenizer)  # what the Rust of tokenizers raises has no other type
            raise ValueError(f"tokenizer {name} cannot encode ({error})") from None


def _is_bare(tokenizer: Any) -> bool:
    """Whether it is one of tokenizers, not wrapped by transformers."""
    return hasattr(tokenizer, "token_to_id")


def _name(tokenizer: Any) -> str:
    return getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__


def _inside(offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> np.ndarray:
    """Which tokens overlap a span; a token without characters goes with the one before it."""
    begins, ends = np.array(offsets, dtype=np.int64).reshape(-1, 2).T
    inside = np.zeros(len(begins), bool)
    for begin, end in spans:
        inside |= (begins < end) & (ends > begin)
    real = np.where(begins < ends, np.arange(len(begins)), -1)
    before = np.maximum.accumulate(real) if len(real) else real
    return np.where(before >= 0, inside[before], False)
