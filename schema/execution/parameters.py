"""The GraphQL parameters of a request, the same for all transports."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from resolvers.operation.errors import Unauthenticated

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*) *")  # RFC 6750 §2.1


class Parameters(Struct, frozen=True):
    """The GraphQL parameters of one request: query, operation name, variables and extensions."""

    query: str
    operation_name: str | None
    variables: dict[str, Any] | None
    extensions: dict[str, Any] | None

    def __repr__(self) -> str:
        return f"Parameters(operation_name={self.operation_name!r})"  # the other parameters may hold passwords


def bearer(authorization: str) -> str:
    """Return the token of an `Authorization` value; raises Unauthenticated where it is not `Bearer TOKEN`."""
    match = _BEARER.fullmatch(authorization)
    if match is None:
        raise Unauthenticated("Authorization must be `Bearer TOKEN`")
    return match[1]


EVENTS = "text/event-stream"
