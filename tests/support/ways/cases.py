"""Cases: all that one client sends over one connection. And each case with one part less."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

BREAK = b"\r\n"


@dataclass(frozen=True)
class RawRequest:
    """One request as it is sent. Neither line nor headers need be valid, and the body is framed already."""

    line: bytes
    headers: tuple[bytes, ...]  # whole lines
    body: bytes = b""
    line_break: bytes = BREAK

    @property
    def wire(self) -> bytes:
        return self.line_break.join([self.line, *self.headers, b"", b""]) + self.body


@dataclass(frozen=True)
class Cut:
    """A place at which the bytes are cut, so that the server gets what precedes them first."""

    at: int
    settles: bool  # whether the server has done all that it can do with them before the rest follows


@dataclass(frozen=True)
class Write:
    """Requests that are sent together. The server has answered them before anything else follows."""

    requests: tuple[RawRequest, ...]
    cuts: tuple[Cut, ...] = ()

    @property
    def segments(self) -> Iterator[tuple[bytes, bool]]:
        """The pieces in which the bytes are sent, and whether the server settles after each."""
        wire, begin = b"".join(one.wire for one in self.requests), 0
        for cut in sorted(self.cuts, key=lambda one: one.at):
            if begin < cut.at < len(wire):
                yield wire[begin : cut.at], cut.settles
                begin = cut.at
        yield wire[begin:], True


@dataclass(frozen=True)
class Case:
    """All that one client sends, from its first byte to its last."""

    writes: tuple[Write, ...]
    address: str = "127.0.0.1"  # of the client
    silence: float = 0.0  # for how long the store has not answered, s

    @property
    def count(self) -> int:
        """The number of requests."""
        return sum(len(write.requests) for write in self.writes)

    def __str__(self) -> str:
        shown = [f"from {self.address}, the store is silent for {self.silence} s"]
        for write in self.writes:
            shown += [f"  {'waits after' if settles else 'goes on after'} {data!r}" for data, settles in write.segments]
        return "\n".join(shown)


def smaller(case: Case) -> Iterator[Case]:
    """Yield versions of a case with one part less, the largest parts first."""
    for place, write in enumerate(case.writes):
        if len(case.writes) > 1:
            yield replace(case, writes=case.writes[:place] + case.writes[place + 1 :])
        for less in _smaller(write):
            yield replace(case, writes=(*case.writes[:place], less, *case.writes[place + 1 :]))
    if case.silence:
        yield replace(case, silence=0.0)


def _smaller(write: Write) -> Iterator[Write]:
    if write.cuts:
        yield replace(write, cuts=())
    for place, request in enumerate(write.requests):
        before, after = write.requests[:place], write.requests[place + 1 :]
        if before or after:
            yield replace(write, requests=before + after)
        for index in range(len(request.headers)):
            less = replace(request, headers=request.headers[:index] + request.headers[index + 1 :])
            yield replace(write, requests=(*before, less, *after))
    if len(write.cuts) > 1:
        for cut in write.cuts:
            yield replace(write, cuts=(cut,))
