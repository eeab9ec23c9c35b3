"""Who computes in the next forward pass: static, continuous and chunked batching.

    requests waiting and running  ->  Step: prompts to read, requests that get one token

One scheduler decides; it is played with a cost (`simulate`) or with a model (`serving.generate`),
and both make the same steps.

Words
    row     place of one request in the batch, with its cache
    prefill  the forward pass over a prompt; it gives the first token of the output
    decode   one more token for each running request
"""

from collections import deque
from dataclasses import dataclass, field

from batchlab.units import whole

__all__ = ["POLICIES", "Chunk", "Running", "Scheduler", "Step"]

POLICIES = ("static", "continuous", "chunked")


@dataclass
class Running:
    """One request in its row: tokens of its prompt that were read, tokens that came out."""

    request: int
    row: int
    prompt: int
    output: int
    read: int = 0
    made: int = 0

    @property
    def context(self) -> int:
        """Tokens in its cache: a token enters it in the pass after the one that made it."""
        return self.read + max(0, self.made - 1)

    @property
    def finished(self) -> bool:
        return self.made >= self.output


@dataclass(frozen=True)
class Chunk:
    """A stretch of a prompt that a pass reads."""

    running: Running
    start: int
    stop: int

    @property
    def tokens(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class Step:
    """One forward pass."""

    chunks: tuple[Chunk, ...]
    decoding: tuple[Running, ...]
    idle: tuple[Running, ...] = ()  # finished, and computed on in a static batch

    @property
    def rows(self) -> int:
        """Rows that the pass computes to decode, useful or not."""
        return len(self.decoding) + len(self.idle)

    @property
    def tokens(self) -> int:
        return self.rows + sum(chunk.tokens for chunk in self.chunks)

    @property
    def contexts(self) -> list[int]:
        """Cache entries that each row reads, the new ones included."""
        old = [one.context + 1 for one in (*self.decoding, *self.idle)]
        return old + [chunk.stop for chunk in self.chunks]


@dataclass
class Scheduler:
    """Admits requests into rows and says what the next pass computes.

    policy      static: a batch is filled, and emptied before the next
                continuous: a free row is filled at once, its prompt in a pass of its own
                chunked: as continuous, prompts in stretches beside the decoding
    rows        requests that run at the same time
    cache       tokens that all caches hold together; a request reserves prompt + output
    chunk       tokens of one pass under chunked, decoding included
    """

    policy: str
    rows: int
    cache: int
    chunk: int
    waiting: deque[Running] = field(default_factory=deque)
    running: list[Running] = field(default_factory=list)
    reading: list[Running] = field(default_factory=list)  # of the running: prompts not read yet
    decoding: list[Running] = field(default_factory=list)
    idle: list[Running] = field(default_factory=list)  # finished, and in a static batch
    kept: int = 0  # tokens of cache that the running ones reserve

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(f"unknown policy {self.policy!r}; there are {', '.join(POLICIES)}")
        for name in ("rows", "cache", "chunk"):
            setattr(self, name, whole(getattr(self, name), name))
        if self.policy == "chunked" and self.chunk <= self.rows:
            raise ValueError(
                f"a chunk of {self.chunk} tokens leaves no room for prompts beside {self.rows} "
                "rows that decode: take more than the rows"
            )

    def arrive(self, request: int, prompt: int, output: int) -> None:
        """Put a request into the queue; one that no cache could hold is refused."""
        if prompt + output > self.cache:
            raise ValueError(
                f"request {request} needs {prompt + output:,} tokens of cache (prompt {prompt:,} + "
                f"output {output:,}), there are {self.cache:,}"
            )
        self.waiting.append(Running(request, -1, prompt, output))

    def next(self) -> Step | None:
        """The next pass; None if nothing runs and nothing waits."""
        if self.waiting and (self.policy != "static" or not self.running):
            self._admit()
        if not self.running:
            return None
        if self.policy == "chunked":
            return Step(self._stretches(), tuple(self.decoding))
        if self.reading:  # whole prompts in a pass of their own, before anybody decodes on
            return Step(tuple(Chunk(one, 0, one.prompt) for one in self.reading), ())
        return Step((), tuple(self.decoding), tuple(self.idle))

    def done(self, step: Step, passes: int = 1) -> list[Running]:
        """Book what a pass computed, or so many like it; return the requests that it finished."""
        read = []
        for chunk in step.chunks:
            chunk.running.read = chunk.stop
            if chunk.stop == chunk.running.prompt:
                chunk.running.made = 1
                read.append(chunk.running)
        for one in step.decoding:
            one.made += passes
        ended = [one for one in (*read, *step.decoding) if one.made >= one.output]
        if read:
            self.reading = [one for one in self.reading if one.read < one.prompt]
            self.decoding += read
        if ended:
            self.decoding = [one for one in self.decoding if one.made < one.output]
            self._leave()
        return ended

    def _leave(self) -> None:
        """Rows of finished requests are free; in a static batch they stay until it is empty."""
        if self.policy == "static" and (self.decoding or self.reading):
            self.idle = [one for one in self.running if one.made >= one.output]
        else:
            self.running, self.idle = self.decoding + self.reading, []
            self.kept = sum([one.prompt + one.output for one in self.running])

    def _admit(self) -> None:
        if len(self.running) == self.rows:
            return
        free = sorted(set(range(self.rows)) - {one.row for one in self.running})
        for row in free:
            if not self.waiting:
                return
            one = self.waiting[0]
            if self.kept + one.prompt + one.output > self.cache:
                return  # in the order of arrival: a shorter one behind it waits as well
            self.waiting.popleft()
            one.row = row
            self.kept += one.prompt + one.output
            self.running.append(one)
            self.reading.append(one)

    def _stretches(self) -> tuple[Chunk, ...]:
        """What decoding leaves of a pass reads prompts, in the order of arrival."""
        left = self.chunk - len(self.decoding)
        chunks = []
        for one in self.reading:
            if left <= 0:
                break
            stop = min(one.prompt, one.read + left)
            chunks.append(Chunk(one, one.read, stop))
            left -= stop - one.read
        return tuple(chunks)
