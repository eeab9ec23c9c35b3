"""Stand-ins for what lives in the other process, and calls in both directions.

    a number  ->  something that can be called, looped over or shown like what it stands for

What a call changed in its arguments is carried back into the arguments here. Results of the last
calls are remembered over there, so that a result that is handed out twice is seen.
"""

import collections
import contextlib
import functools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from batchlab.classroom import planted
from batchlab.classroom.afar import Gone
from batchlab.grading import _driver, _errors
from batchlab.grading._values import PLAIN, Far, Garbage, Stand
from batchlab.grading._wire import Peer

__all__ = ["FarFunction", "answers", "call", "stand_in"]

Answers = dict[str, Callable[[dict[str, Any]], dict[str, Any]]]
Around = Callable[[], contextlib.AbstractContextManager[None]]
REMEMBERED = 3  # results of one function that are looked at again


class FarFunction(Far):
    """A function or a class of the other process."""

    lives_afar = True

    def __init__(self, peer: Peer, stand: Stand, *, fresh: bool = False) -> None:
        self._peer, self.stand, self.codec, self._fresh = peer, stand, peer.codec, fresh
        self.__name__ = self.__qualname__ = stand.name
        self._results: list[tuple[int, Any, list[Any]]] = []

    @property
    def repeats(self) -> bool:
        """Whether two calls can be compared."""
        return self.stand.kind == "f"

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        reply = call(self._peer, self, arguments, options, fresh=self._fresh)
        result, number = reply.get("value"), reply.get("number")
        if type(number) is int:
            for then, _, now in self._results:
                now[:] = [new for n, new in reply.get("earlier") or [] if n == then] or now
            self._results = [*self._results[1 - REMEMBERED :], (number, result, [result])]
        return result

    def fresh(self) -> "FarFunction":
        """The same function; each call runs in a fresh copy of its process."""
        return FarFunction(self._peer, self.stand, fresh=True)

    def beside(self, scene: Callable[..., Any]) -> "_Beside":
        """A function of ours that runs over there, next to this one."""
        return _Beside(self._peer, scene)

    def now(self, result: Any) -> Any:
        """What has become of a result over there."""
        return next((now[0] for _, one, now in self._results if one is result), result)

    def __deepcopy__(self, memo: dict[int, Any]) -> "FarFunction":
        return self


class _Beside:
    """A function of this side that runs on the other, from its text."""

    lives_afar, repeats = True, False

    def __init__(self, peer: Peer, scene: Callable[..., Any]) -> None:
        self._peer, self._scene, self.__name__ = peer, scene, scene.__name__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        text = {"text": _driver.text_of(self._scene), "name": self.__name__}
        return call(self._peer, text, arguments, options).get("value")


class _Far(Far):
    """An object of the other process."""

    _peer: Peer

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __repr__(self) -> str:
        return self.stand.text


class _Stream(_Far):
    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        reply = self._peer.ask("next", of=self)
        if reply.get("over") is True:
            raise StopIteration
        return _value(reply)


class _Object(_Far):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _value(self._peer.ask("get", of=self, name=name))


def stand_in(peer: Peer, stand: Stand) -> Any:
    """What stands here for an object of the other side."""
    if stand.kind in "fcb":
        return FarFunction(peer, stand)
    kind = _class(stand.name, _Stream if stand.kind == "s" else _Object)
    found = kind()
    found._peer, found.stand, found.codec = peer, stand, peer.codec
    return found


@functools.lru_cache(256)
def _class(name: str, base: type) -> Any:
    """The same class for the same name: two results of one function are of one type."""
    return type(name, (base,), {"__module__": "builtins" if base is _Stream else "afar"})


def call(
    peer: Peer, of: Any, arguments: tuple[Any, ...], options: dict[str, Any], *, fresh: bool = False
) -> dict[str, Any]:
    """The reply of a call over there; its exception is raised here."""
    reply = peer.ask("call", of=of, given=[arguments, options], fresh=fresh)
    if "ended" in reply or (reply.get("copied") is True and "ended" not in peer.heard()):
        raise Gone("the copy of its process ended before it answered")
    for place, new in reply.get("changed") or []:
        old = options[place] if type(place) is str else arguments[place]
        _carry(old, new)
    if "error" in reply:
        raise _errors.made(reply["error"])
    return reply


def _value(reply: dict[str, Any]) -> Any:
    if "error" in reply:
        raise _errors.made(reply["error"])
    return reply.get("value")


def _carry(old: Any, new: Any) -> None:
    """Make `old` what `new` is, in place, as far as that can be."""
    if type(old) in (tuple,):
        for one, other in zip(old, new, strict=False):
            _carry(one, other)
    elif type(old) is list:
        old[:] = new
    elif type(old) in (dict, set):
        old.clear()
        old.update(new)
    elif type(old) is collections.deque:
        old.clear()
        old.extend(new)
    elif type(old) is np.ndarray:
        if old.shape != new.shape:
            old.resize(new.shape, refcheck=False)
        old[...] = new
    elif type(old) is np.random.Generator:
        old.bit_generator.state = new.bit_generator.state
    elif type(old) is random.Random:
        old.setstate(new.getstate())
    elif hasattr(old, "data_ptr"):
        old.data = new.detach()
    elif hasattr(old, "set_state"):
        old.set_state(new.get_state())


class _Called:
    """Answers to calls of own functions: runs them, and says what they changed."""

    def __init__(self, around: Around, guarded: bool) -> None:
        self.around, self.guarded = around, guarded
        self.peer: Peer
        self.count = 0
        self.bench = _driver.Bench()
        self.results: dict[int, list[tuple[int, Any, Any]]] = collections.defaultdict(list)

    def call(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.meant(asked)
        if asked.get("fresh") is True and not self.guarded:
            if hasattr(os, "fork"):
                return self.in_a_copy(asked)
            asked["of"] = planted.fresh(asked["of"])
        return self.called(asked)

    def meant(self, asked: dict[str, Any]) -> None:
        """A stranger may ask for what was handed over to it, and for nothing else."""
        if self.guarded and not any(one is asked.get("of") for one in self.peer.codec.own):
            raise Garbage("a call of something that was never handed over")

    def in_a_copy(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Let a copy of this process answer, and say when it has ended."""
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                self.peer.process = os.getpid()
                self.peer.say(self.called(asked) | {"copied": True})
            os._exit(0)
        return {"ended": os.waitpid(child, 0)[1]}

    def called(self, asked: dict[str, Any]) -> dict[str, Any]:
        answer, (arguments, options) = asked["of"], asked["given"]
        codec, around = self.peer.codec, self.around
        if type(answer) is dict and not self.guarded:
            answer, around = self.bench.driver(**answer), self.bench.around(self.around)
        parts = [*enumerate(arguments), *options.items()]
        before = [codec.pack(value, frozen=True) for _, value in parts]
        reply: dict[str, Any] = {}
        try:
            with around():
                result = answer(*arguments, **options)
            reply["value"] = result
            if not self.guarded:  # a stranger judges nothing
                self.remember(answer, result, reply)
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ in {"Gone", "Flood"}:
                raise
            reply["error"] = _errors.told(error)
        pairs = zip(parts, before, strict=True)
        moved = [[at, one] for (at, one), old in pairs if codec.pack(one, frozen=True) != old]
        return reply | ({"changed": moved} if moved else {})

    def remember(self, answer: Any, result: Any, reply: dict[str, Any]) -> None:
        """Say what has become of earlier results of this function."""
        codec, kept = self.peer.codec, self.results[id(answer)]
        self.count += 1
        reply["number"] = self.count
        moved = [[n, one] for n, one, old in kept if old and codec.pack(one, frozen=True) != old]
        if moved:
            reply["earlier"] = moved
        old = None if type(result) in PLAIN else codec.pack(result, frozen=True)
        kept.append((self.count, result, old))
        del kept[:-REMEMBERED]

    def next(self, asked: dict[str, Any]) -> dict[str, Any]:
        self.meant(asked)
        try:
            with self.around():
                return {"value": next(asked["of"])}
        except StopIteration:
            return {"over": True}
        except BaseException as error:
            return {"error": _errors.told(error)}

    def get(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"value": getattr(asked["of"], asked["name"])}
        except BaseException as error:
            return {"error": _errors.told(error)}


def answers(around: Around, *, guarded: bool) -> tuple[Answers, Callable[[Peer], None]]:
    """The answers of a side whose functions may be called, and how they learn who asks.

    `guarded` where a stranger asks; each call runs inside `around()`.
    """
    called = _Called(around, guarded)

    def introduce(peer: Peer) -> None:
        called.peer = peer

    offered: Answers = {"call": called.call, "next": called.next}
    if not guarded:
        offered["get"] = called.get
    return offered, introduce
