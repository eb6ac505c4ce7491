"""Definitions that all types share: nodes, timestamps and user errors."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import strawberry
from strawberry.types.scalar import ScalarDefinition

from resolvers.process.errors import UserErrorCode
from resolvers.reading import global_ids
from schema.types.descriptions import enum
from schema.types.fields import computed, field
from store.ids import record_made_at

MINUTES_KEPT = 10_000  # cached texts of minutes, enough for a week

enum(
    UserErrorCode,
    "Why a mutation was refused.",
    BLANK="A text that must say something is empty.",
    TOO_LONG="A text has more characters, or a picture more bytes or pixels, than the limit that the message names.",
    INVALID="A value, or an uploaded file, breaks the rule that the message names.",
    TAKEN="Another member has this login or e-mail address, or had it until lately.",
    WEAK_PASSWORD="The password is too short, too common, or a name of the member.",
    WRONG_CREDENTIALS="The password or the refresh token is wrong, or no longer valid.",
    NOT_FOUND="There is no such member, post, comment, group, conversation, message, report, notification or promotion "
    "for the viewer.",
    NOT_ALLOWED="The viewer may not do this.",
    LIMIT_REACHED="The viewer has as many of these, or made as many in this hour or day, as the limit allows.",
    SELF="The member named is the viewer, or what is named is the viewer's own.",
    CONFLICT="The `idempotencyKey` was used with other input. Or the report is open already, or is resolved. "
    "Or another change of the same came first: try again.",
)


def created(description: str = "When it was created.") -> Any:
    """Declare the time of creation, which is in the id."""
    return computed(record_made_at, datetime, description, cached=True, shared=True)  # formatted without a datetime


def _write_instant(moment: datetime | int) -> str:
    if isinstance(moment, int):
        minute, ms = divmod(moment, 60_000)
        return f"{_minute(minute)}:{ms // 1000:02}.{ms % 1000:03}Z"
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return f"{moment.isoformat(timespec='milliseconds')[:-6]}Z"  # in place of +00:00


@lru_cache(MINUTES_KEPT)
def _minute(minute: int) -> str:
    """Return a minute since 1970 as text."""
    return datetime.fromtimestamp(minute * 60, UTC).isoformat(timespec="minutes")[:-6]  # without +00:00


def _read_instant(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("an instant needs its offset from UTC, such as a final Z")
    return moment.astimezone(UTC)


DATE_TIME: ScalarDefinition = strawberry.scalar(
    name="DateTime",
    description="An instant in UTC with milliseconds, RFC 3339, e.g. `2026-11-21T03:31:00.123Z`.",
    specified_by_url="https://scalars.graphql.org/andimarek/date-time",
    serialize=_write_instant,
    parse_value=_read_instant,
)


@strawberry.interface(
    description="Anything with an identity. Ids are opaque, unique across all types, and usable with `node`."
)
class Node:
    id = computed(
        global_ids.of,
        strawberry.ID,
        "The identity of this object. It never changes, and no other object ever gets it.",
        cached=True,
        shared=True,
    )


@strawberry.type(description="An expected refusal, answered as data.")
class UserError:
    code: UserErrorCode = field("The kind of refusal, for programs.")
    message: str = field("The rule that was broken, in English, for people.")
    field: list[str] | None = field(
        'The path in the input, such as `["login"]`. Null when the refusal concerns the whole input.'
    )
