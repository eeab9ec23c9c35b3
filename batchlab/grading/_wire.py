"""Two processes that ask each other: frames of plain data over a pipe.

    a question and its parts  ->  one frame there  ->  one frame back; meanwhile, questions back

A frame is a mark, two sizes, a tree in JSON and raw bytes. Sizes are looked at before anything is
read, and what does not parse ends the connection (`Garbage`): a stranger writes on the other end.
"""

import contextlib
import json
import os
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any

from batchlab.classroom.afar import Gone
from batchlab.grading import _errors
from batchlab.grading._codec import Codec
from batchlab.grading._values import Flood, Garbage, Stand, TooLarge

__all__ = ["Channel", "Flood", "Peer"]

MARK = b"tEB1"
HEAD = struct.Struct("<4sQQ")
LARGEST = 1 << 28  # bytes of one message: 256 MiB
OF_STRANGERS = 16 << 20, 40 << 20  # of one that a stranger sends: text, raw bytes


class Channel:
    """Frames over two file descriptors, which may be the same."""

    def __init__(self, reads: int, writes: int, most: tuple[int, int] | None = None) -> None:
        self.reads, self.writes = reads, writes
        self.most = most or (LARGEST, LARGEST)  # that is read: text, raw bytes

    def send(self, tree: Any, buffers: list[bytes]) -> None:
        """Write one frame; Gone where nobody reads."""
        text = json.dumps(tree, separators=(",", ":")).encode()
        blob = b"".join(buffers)
        if len(text) + len(blob) > LARGEST:
            raise Flood(f"a message of {len(text) + len(blob):,} bytes")
        view = memoryview(HEAD.pack(MARK, len(text), len(blob)) + text + blob)
        try:
            while view:
                view = view[os.write(self.writes, view[: 1 << 20]) :]
        except OSError:
            raise Gone("nobody reads") from None

    def receive(self) -> tuple[Any, memoryview]:
        """Read one frame; Gone at its end, Flood or Garbage where it is none."""
        mark, text, blob = HEAD.unpack(self._exactly(HEAD.size))
        if mark != MARK:
            raise Garbage("no frame begins here")
        if text + blob > LARGEST or text > self.most[0] or blob > self.most[1]:
            raise Flood(f"a message of {text + blob:,} bytes")
        tree, raw = self._exactly(text), self._exactly(blob)
        try:
            return json.loads(bytes(tree)), memoryview(raw)
        except (ValueError, RecursionError):
            raise Garbage("no JSON") from None

    def _exactly(self, size: int) -> bytearray:
        found = bytearray()
        while len(found) < size:
            try:
                part = os.read(self.reads, min(size - len(found), 1 << 20))
            except OSError:
                part = b""
            if not part:
                raise Gone("the other end is closed")
            found += part
        return found

    def close(self) -> None:
        """Close both ends of it here."""
        for one in {self.reads, self.writes}:
            with contextlib.suppress(OSError):
                os.close(one)


class Peer:
    """One side of a conversation: asks, and answers what it is asked meanwhile.

    `answers` maps a question's name to a function of its parts, a dict, that returns a dict.
    """

    def __init__(
        self,
        channel: Channel,
        answers: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]],
        stand_in: Callable[["Peer", Stand], Any],
        *,
        strict: bool,
    ) -> None:
        self.channel, self.answers = channel, answers
        self.codec = Codec(lambda stand: stand_in(self, stand), strict=strict)
        self.process = os.getpid()
        self._turn = threading.RLock()

    def ask(self, question: str, **parts: Any) -> dict[str, Any]:
        """The other side's answer, a dict."""
        with self._turn:
            self.say({"ask": question, **parts})
            while True:
                message = self.heard()
                if "ask" not in message:
                    return message
                self.answer(message)

    def serve(self) -> None:
        """Answer until the other side leaves."""
        with contextlib.suppress(Gone):
            while True:
                self.answer(self.heard())

    def say(self, message: dict[str, Any]) -> None:
        """Send one message; a copy of this process that nobody meant to talk ends here."""
        if os.getpid() != self.process:
            os._exit(1)
        self.channel.send(*self.codec.pack(message))

    def heard(self) -> dict[str, Any]:
        """The next message: a dict with names as keys."""
        message = self.codec.unpack(*self.channel.receive())
        if type(message) is not dict or any(type(key) is not str for key in message):
            raise Garbage("a message is a dict of names")
        return message

    def answer(self, message: dict[str, Any]) -> None:
        """Answer one question."""
        asked = message.pop("ask", None)
        if type(asked) is not str or asked not in self.answers:
            raise Garbage(f"nobody asks {str(asked)[:20]!r} here")
        try:
            self.say(self.answers[asked](message))
        except (TooLarge, Flood):
            self.say({"error": _errors.told(TooLarge())})
