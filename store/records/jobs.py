"""Jobs as records, and what scripts answer that commit them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple

import msgspec
from msgspec import Struct
from typing_extensions import TypeVar

from store.records.job_bodies import Body, Ids


class UnreadBody(Struct, frozen=True):
    """The body of a job that this version cannot read: it is damaged, or a newer version wrote it."""

    kind: str
    reason: str


AnyBody = Body | UnreadBody


B_co = TypeVar("B_co", bound=AnyBody, covariant=True, default=AnyBody)  # `Job` alone is a job of any kind


OneBody = TypeVar("OneBody", bound=Body)


class Job(Struct, Generic[B_co], frozen=True):
    """A durable job: committed work that is unfinished. Its id names what began it."""

    id: int
    body: B_co
    cursor: str = ""
    trace: str = ""  # of the operation that committed it, as `traceparent` has it; known to workers only

    @property
    def kind(self) -> str:
        return self.body.kind


class DeadJob(Struct, frozen=True):
    """A job that has failed too often, with its body as it was committed."""

    id: int
    kind: str
    body: dict[str, Any]
    since: datetime  # when it was set aside

    @classmethod
    def read(cls, job: int, fields: Mapping[str, str], since: int) -> "DeadJob":
        body = msgspec.json.decode(fields["body"], type=dict[str, Any])
        return cls(job, fields["kind"], body, datetime.fromtimestamp(since / 1000, UTC))


def _subclasses(body: type[Body]) -> list[type[Body]]:
    return [known for one in body.__subclasses__() for known in (one, *_subclasses(one))]


KINDS = {body.kind: body for body in _subclasses(Body) if "kind" in vars(body)}


def read_job(body: type[OneBody], job: str, text: str) -> Job[OneBody]:
    """Return a job from its committed id and JSON body. Raises msgspec.MsgspecError."""
    return Job(int(job), _read(body, text))


class Created(NamedTuple, Generic[B_co]):
    """What a change has created. A retry gets the same id again, and no job."""

    is_new: bool
    id: int
    job: Job[B_co] | None = None


def read_created(body: type[OneBody], reply: Sequence[str]) -> Created[OneBody]:
    """Return what a script has created, from its reply.

    The reply is the id, which the job has, too. Then comes the job's body, "" without a job, and nothing for a retry.
    """
    created, *rest = reply
    return Created(bool(rest), int(created), read_job(body, created, rest[0]) if rest and rest[0] else None)


def read_any_job(kind: str, job: str, text: str, trace: str = "") -> Job:
    """Return a job of any kind. One that cannot be read has an `UnreadBody`."""
    body: AnyBody
    try:
        body = _read(KINDS[kind], text) if kind in KINDS else UnreadBody(kind, "unknown kind")
    except msgspec.MsgspecError as error:
        body = UnreadBody(kind, str(error))
    return Job(int(job), body, trace=trace)


def _read(body: type[OneBody], text: str) -> OneBody:
    # Lua writes an empty list as {}.
    given = {field: value for field, value in msgspec.json.decode(text, type=dict).items() if value or value is False}
    return msgspec.convert(given, body, strict=False, dec_hook=_split)


def _split(form: type[Any], text: str) -> Any:
    return form(map(int, text.split()) if form is Ids else text.split())
