"""The kinds of requests, in the order in which they are refused. Reads and writes of members share what is left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of request, and what it may use before it is refused."""

    name: str
    share: float  # of the requests that may be answered at a time
    patience: int  # how many times STORE_PATIENCE_MS the store may be silent


ANONYMOUS = Kind("anonymous", 0.4, 1)
STREAM = Kind("stream", 0.6, 2)
READ = Kind("read", 1.0, 3)
WRITE = Kind("write", 1.0, 4)
KINDS = (ANONYMOUS, STREAM, READ, WRITE)

_WRITES, _STREAMS = b"mutation", b"subscription"


def of_document(text: bytes, *, is_signed_in: bool) -> Kind:
    """Return the kind of an operation by the text that has it; parsing that would cost too much here.

    A read that mentions one of the words is taken for another kind, and is refused a little later than it could be.
    """
    if _WRITES in text:
        return WRITE
    if _STREAMS in text:
        return STREAM
    return READ if is_signed_in else ANONYMOUS
