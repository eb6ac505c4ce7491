"""Input checks that several resolvers share (texts, logins, idempotency keys, locations), and batches."""

import json
from collections.abc import Callable, Iterable, Iterator
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


def gathered(errors: list[UserError], check: Callable[[], str], *path: str) -> str:
    """Return the text that a check returns. If it breaks a rule, append a user error and return ""."""
    try:
        return check()
    except TextRefused as refusal:
        errors.append(UserError(UserErrorCode(refusal.code), f"{path[-1]}: {refusal}", list(path)))
        return ""


def checked_text(text: str, limit: int, *path: str, may_be_empty: bool = False) -> str:
    """Return a text in normal form; raises Refused, which names the broken rule. The usual field is `text`."""
    errors: list[UserError] = []
    words = gathered(errors, lambda: normalise(text, limit=limit, may_be_empty=may_be_empty), *(path or ("text",)))
    refuse_all(errors)
    return words


def checked_note(note: str | None, limit: int) -> str:
    """Return the note of a report or of a moderator in normal form, which may be empty; raises Refused."""
    return checked_text(note or "", limit, "note", may_be_empty=True)


def check_login(login: str, errors: list[UserError]) -> None:
    """Append a user error for a login that breaks a rule."""
    if not login.strip():
        errors.append(field_error(UserErrorCode.BLANK, "login: must not be blank", "login"))
    elif len(login) > LOGIN_MAX:
        errors.append(field_error(UserErrorCode.TOO_LONG, f"login: must be at most {LOGIN_MAX} characters", "login"))
    elif not is_login(login):
        errors.append(field_error(UserErrorCode.INVALID, "login: only a-z, A-Z, 0-9 and _ are allowed", "login"))


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
