"""Spans of round trips to the store, and of the scripts in them."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, partial
from typing import Any

from store.client.caching.values import Reading
from store.client.lua import NAMES
from store.client.tracing import SPAN, Span, SpanKind

COMMANDS_SHOWN = 10  # Different commands and scripts that the text of a round trip names.
ROUND_TRIP = SpanKind.ROUND_TRIP.value  # the name of their spans
TEXTS_KEPT = 1_000  # Cached texts of round trips.

_SCRIPTS = frozenset(NAMES.values())
_UNWATCHED: AbstractContextManager[None] = nullcontext()

Command = tuple[Any, ...]


def command_name(command: Command) -> str:
    """Return the name of a command, or of the script that it runs."""
    return str(NAMES.get(command[1], "EVALSHA") if command[0] == "EVALSHA" else command[0])


def watched(commands: Sequence[Command], readings: Sequence[Reading] = ()) -> AbstractContextManager[None]:
    """Watch a round trip, if somebody watches what is running."""
    parent = SPAN.get()
    return _UNWATCHED if parent is None else _Watched(parent, commands, readings)


class _Watched:
    """A round trip that is watched. A repetition in it, after a slot has moved, makes no span of its own."""

    __slots__ = ("_commands", "_readings", "_span", "_token")

    def __init__(self, parent: Span, commands: Sequence[Command], readings: Sequence[Reading]) -> None:
        self._commands = commands
        self._readings = readings
        self._span = parent.child(SpanKind.ROUND_TRIP, ROUND_TRIP)

    def __enter__(self) -> None:
        self._token = SPAN.set(None)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        SPAN.reset(self._token)
        _end(self._span, self._commands, self._readings, error)


def follow(replied: asyncio.Future[list[Any]], readings: Sequence[Reading]) -> None:
    """Watch a round trip until the future of its replies is done."""
    parent = SPAN.get()
    if parent is not None:
        span = parent.child(SpanKind.ROUND_TRIP, ROUND_TRIP)
        replied.add_done_callback(partial(_replied, span, readings))


def _replied(span: Span, readings: Sequence[Reading], replied: asyncio.Future[list[Any]]) -> None:
    _end(span, (), readings, None if replied.cancelled() else replied.exception())


def _end(span: Span, commands: Sequence[Command], readings: Sequence[Reading], error: BaseException | None) -> None:
    """End a round trip and its scripts. Replies are read together, so the scripts have the times of the round trip."""
    sent = [*commands, *(command for reading in readings for command in reading.commands)] if readings else commands
    names = tuple(map(command_name, sent))
    text, scripts = _summary(names) if names else ("PING", {})
    span.facts = {"commands": text, "count": len(names) or 1}
    span.end(error)
    for script, calls in scripts.items() if span.trace else ():
        inner = span.child(SpanKind.SCRIPT, script)
        inner.began, inner.ended, inner.error, inner.facts = span.began, span.ended, span.error, {"calls": calls}
        inner.take(inner)


@lru_cache(TEXTS_KEPT)
def _summary(names: tuple[str, ...]) -> tuple[str, Mapping[str, int]]:
    """Return the text that names the commands and scripts of a round trip, and how often it runs each script."""
    counts = Counter(names)
    texts = [one if count == 1 else f"{one} x{count}" for one, count in counts.items()]
    texts[COMMANDS_SHOWN:] = ["…"] if len(texts) > COMMANDS_SHOWN else []
    return ", ".join(texts), {one: count for one, count in counts.items() if one in _SCRIPTS}
