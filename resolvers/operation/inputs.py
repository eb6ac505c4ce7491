"""Input checks that several resolvers share (texts, logins, idempotency keys, locations), and batches."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Protocol, TypeVar

from resolvers.process.errors import UserError, UserErrorCode, field_error, refuse, refuse_all
from resolvers.process.tokens import digest
from resolvers.rules import places
from resolvers.rules.text import LOGIN_MAX, TextRefused, is_login, normalise
from store.records.posts import Location

Item = TypeVar("Item")

KEY_MOST = 64  # characters of an idempotency key


class Coordinates(Protocol):
    """A place as a client sends it."""

    latitude: float
    longitude: float


def checked_text(text: str, limit: int, *, may_be_empty: bool = False, field: str = "text") -> str:
    """Return a post's or comment's text in normal form; raises Refused, which names the broken rule."""
    try:
        return normalise(text, limit=limit, may_be_empty=may_be_empty)
    except TextRefused as refusal:
        raise refuse(UserErrorCode(refusal.code), f"{field}: {refusal}", field) from None


def checked_note(note: str | None, limit: int) -> str:
    """Return the note of a report or of a moderator in normal form, which may be empty; raises Refused."""
    return checked_text(note or "", limit, may_be_empty=True, field="note")


def check_login(login: str, errors: list[UserError]) -> None:
    """Append a user error for a login that breaks a rule."""
    if not login.strip():
        errors.append(field_error(UserErrorCode.BLANK, "login: must not be blank", "login"))
    elif len(login) > LOGIN_MAX:
        errors.append(field_error(UserErrorCode.TOO_LONG, f"login: must be at most {LOGIN_MAX} characters", "login"))
    elif not is_login(login):
        errors.append(field_error(UserErrorCode.INVALID, "login: only a-z, A-Z, 0-9 and _ are allowed", "login"))


def profile_text(
    text: str,
    field: str,
    limit: int,
    errors: list[UserError],
    *,
    multiline: bool = False,
    may_be_empty: bool = False,
) -> str:
    """Return a text of a profile in normal form. If it breaks a rule, append a user error and return ""."""
    try:
        return normalise(text, limit=limit, multiline=multiline, may_be_empty=may_be_empty)
    except TextRefused as refusal:
        errors.append(field_error(UserErrorCode(refusal.code), f"{field}: {refusal}", field))
        return ""


def checked_key(key: str | None) -> str | None:
    """Return an idempotency key; raises Refused if it is empty or too long."""
    if key is not None and not 1 <= len(key) <= KEY_MOST:
        message = f"idempotencyKey: must have 1 to {KEY_MOST} characters"
        raise refuse(UserErrorCode.INVALID, message, "idempotencyKey")
    return key


def key_conflict() -> Exception:
    """Return the refusal of an idempotency key that was used with other input."""
    return refuse(UserErrorCode.CONFLICT, "idempotencyKey: this key was used with other input", "idempotencyKey")


def checked_location(place: Coordinates | None) -> Location | None:
    """Return a location; raises Refused if a coordinate is not a number or out of range."""
    if place is None:
        return None
    flaws = {
        "latitude": places.flaw(place.latitude, places.LATITUDE_MOST),
        "longitude": places.flaw(place.longitude, places.LONGITUDE_MOST),
    }
    refuse_all(
        [
            UserError(UserErrorCode.INVALID, f"location.{name}: {flaw}", ["location", name])
            for name, flaw in flaws.items()
            if flaw
        ]
    )
    return Location(place.latitude, place.longitude)


def input_digest(*parts: object) -> str:
    """Return a digest of a mutation's input, to tell a retry from other input."""
    return digest(json.dumps(parts))


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield items a batch at a time."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch
