"""Errors that the client sees: user errors of mutations, and request errors with their codes."""

from dataclasses import dataclass
from enum import Enum

from graphql import GraphQLError

from store.client.metering import METER
from store.client.outages import CommandRefused, Unavailable


class UserErrorCode(Enum):
    """Why an expected refusal was given."""

    BLANK = "BLANK"
    TOO_LONG = "TOO_LONG"
    INVALID = "INVALID"
    TAKEN = "TAKEN"
    WEAK_PASSWORD = "WEAK_PASSWORD"  # noqa: S105  the name of a refusal
    WRONG_CREDENTIALS = "WRONG_CREDENTIALS"
    NOT_FOUND = "NOT_FOUND"
    NOT_ALLOWED = "NOT_ALLOWED"
    SELF = "SELF"
    LIMIT_REACHED = "LIMIT_REACHED"
    CONFLICT = "CONFLICT"


@dataclass(frozen=True, slots=True)
class UserError:
    """An expected refusal, answered as data; `field` is the path in the input."""

    code: UserErrorCode
    message: str
    field: list[str] | None = None


class Refused(Exception):
    """Ends a mutation with user errors. The code that raises it has changed nothing."""

    def __init__(self, *errors: UserError) -> None:
        super().__init__(errors)
        self.errors = list(errors)


def refuse(code: UserErrorCode, message: str, *path: str) -> Refused:
    """Return a Refused to raise, with one user error about the input field at `path`."""
    return Refused(UserError(code, message, list(path) or None))


def no_such(what: str, *path: str) -> Refused:
    """Return a Refused to raise, for an input field that names what does not exist or what the viewer does not see."""
    return refuse(UserErrorCode.NOT_FOUND, f"{path[-1]}: there is no such {what}", *path)


def not_allowed(why: str, *path: str) -> Refused:
    """Return a Refused to raise, for an input field that names what the viewer may not do this to."""
    return refuse(UserErrorCode.NOT_ALLOWED, f"{path[-1]}: {why}", *path)


def over_limit(setting: str, message: str, *path: str) -> Refused:
    """Return a Refused to raise, with LIMIT_REACHED; metrics count it for the setting that refused."""
    METER.refusals[setting] += 1
    return refuse(UserErrorCode.LIMIT_REACHED, message, *path)


def field_error(code: UserErrorCode, message: str, field: str) -> UserError:
    """Return the user error of one input field, to be collected with others."""
    return UserError(code, message, [field])


def refuse_all(errors: list[UserError]) -> None:
    """Raise Refused with the collected user errors, if there are any."""
    if errors:
        raise Refused(*errors)


class RequestError(GraphQLError):
    """An error whose code clients may rely on. Its text is meant for clients.

    The docstring of each subclass that sets `code` is the description in the table of error codes.
    """

    code = "INTERNAL"
    status = 200
    retry_after: int | None = None  # seconds
    limit: str = ""  # the setting that refused, if one did, for metrics

    def __init__(self, message: str) -> None:
        super().__init__(message, extensions={"code": self.code})


class Unauthenticated(RequestError):
    """The access token is missing, expired, revoked or forged. Refresh the session and retry once; then log in."""

    code = "UNAUTHENTICATED"
    status = 401


class Forbidden(RequestError):
    """The operation needs a role that the viewer does not have, or comes from an origin that may not call."""

    code = "FORBIDDEN"


class BadUserInput(RequestError):
    """The request or an argument is invalid. `message` names it and the rule. Correct the client."""

    code = "BAD_USER_INPUT"


class NotFound(RequestError):
    """The subject of a subscription is gone, or the viewer may no longer see it. Do not subscribe again."""

    code = "NOT_FOUND"


class RateLimited(RequestError):
    """Too many requests or attempts. Retry after `extensions.retryAfter` seconds."""

    code = "RATE_LIMITED"
    status = 429

    def __init__(self, message: str, retry_after: int, limit: str = "") -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.limit = limit
        self.extensions = {"code": self.code, "retryAfter": retry_after}


class QueryTooComplex(RequestError):
    """The query is deeper, longer or costlier than the limits allow. Ask for less at once."""

    code = "QUERY_TOO_COMPLEX"
    status = 400

    def __init__(self, message: str, limit: str = "") -> None:
        super().__init__(message)
        self.limit = limit


UNREACHABLE = "the database cannot be reached: try again"
REFUSING = "the database cannot do this now: try again later"
REFUSING_SECONDS = 10  # before a retry of a refused command: an operator has to act first


class ServiceUnavailable(RequestError):
    """The database cannot answer, or there is too much to do. Retry after the seconds that `Retry-After` gives."""

    code = "SERVICE_UNAVAILABLE"
    status = 503

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def unavailable(error: Unavailable) -> ServiceUnavailable:
    """Return the client's error for an outage of the database."""
    if isinstance(error, CommandRefused):
        return ServiceUnavailable(REFUSING, REFUSING_SECONDS)
    return ServiceUnavailable(UNREACHABLE)
