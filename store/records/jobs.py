"""Jobs as records."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Job(Struct, frozen=True):
    """A durable job: committed work that is unfinished. Its id names what began it."""

    id: int
    kind: str
    body: dict[str, object]
    cursor: str = ""
    trace: str = ""  # of the operation that committed it, as `traceparent` has it; known to workers only


def read_job(job: str, kind: str, body: str, cursor: str | None = None, trace: str = "") -> Job:
    """Return a job from its committed id, kind and JSON body."""
    return Job(int(job), kind, msgspec.json.decode(body), cursor or "", trace)
