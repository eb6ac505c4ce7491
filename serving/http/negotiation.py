"""Content negotiation: chooses the media type of a response from the Accept header (RFC 9110 §12.5.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from schema.execution.parameters import EVENTS

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"
HTML = "text/html"
WISHES_KEPT = 1_000  # cached Accept headers; there are many clients, but few kinds of them

_ANY = "*/*"
_NAMED, _KIND, _WILD, _UNNAMED = 3, 2, 1, 0  # specificity of a media range for a type


@dataclass(frozen=True, slots=True)
class _Range:
    media: str
    quality: float

    def closeness(self, media: str) -> int:
        if self.media == media:
            return _NAMED
        if self.media == _ANY:
            return _WILD
        kind, _, rest = self.media.partition("/")
        return _KIND if rest == "*" and media.startswith(f"{kind}/") else _UNNAMED


@lru_cache(WISHES_KEPT)
def choose(accept: tuple[str, ...]) -> str | None:
    """Return the media type of the response, or None when the client accepts none. Without Accept it is plain JSON."""
    ranges = list(_ranges(accept))
    if not any(header.strip() for header in accept):
        return JSON
    graphql, json = _wish(ranges, GRAPHQL), _wish(ranges, JSON)
    if takes_events(accept) and _wish(ranges, EVENTS) > max(graphql, json):
        return EVENTS
    # Only a client that names the newer type is known to understand it. A wildcard selects the older one.
    if graphql[0] and (not json[0] or (graphql >= json and graphql[1] == _NAMED)):
        return GRAPHQL
    return JSON if json[0] else None


@lru_cache(WISHES_KEPT)
def takes_events(accept: tuple[str, ...]) -> bool:
    """Return whether the client accepts event streams by name. A wildcard doesn't show that it understands them."""
    quality, closeness = _wish(list(_ranges(accept)), EVENTS)
    return quality > 0 and closeness == _NAMED


def prefers_page(accept: Sequence[str]) -> bool:
    """Return whether the client asks for HTML by name, as browsers do, and prefers it at least as much as JSON."""
    ranges = list(_ranges(accept))
    html = _wish(ranges, HTML)
    return html[0] > 0 and html[1] >= _KIND and html[0] >= max(_wish(ranges, JSON)[0], _wish(ranges, GRAPHQL)[0])


def _wish(ranges: Sequence[_Range], media: str) -> tuple[float, int]:
    """Return quality and specificity of the most specific range that matches a type."""
    closest = max(ranges, key=lambda one: one.closeness(media), default=None)
    if closest is None or not (closeness := closest.closeness(media)):
        return 0.0, _UNNAMED
    return closest.quality, closeness


def _ranges(accept: Sequence[str]) -> Iterator[_Range]:
    for element in ",".join(accept).split(","):
        media, *parameters = (part.strip().lower() for part in element.split(";"))
        values = dict(parameter.split("=", 1) for parameter in parameters if "=" in parameter)
        charset = values.get("charset", "utf-8").strip('"')
        if "/" in media and charset in {"utf-8", "utf8", "*"}:
            yield _Range(media, _quality(values.get("q", "1")))


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0
