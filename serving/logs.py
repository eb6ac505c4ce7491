"""The log: one line of JSON per record on standard error, for records of all libraries.

A line has no local variables and no text of a document or a request, since any of them may hold a password.
"""

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from types import TracebackType
from typing import Any, TextIO

import structlog
from graphql import GraphQLError
from structlog.typing import EventDict

from store.client.tracing import LOGGED

LINE_MOST = 16_384  # Characters. The values of a longer line are truncated.
VALUE_MOST = 300  # Characters of a value in a truncated line.
ITEMS_MOST = 20  # Entries of a list or an object in a truncated line.
MESSAGE_MOST = 1_000  # Characters of an exception's message.
FRAMES_MOST = 20  # Innermost frames of a traceback.
CAUSES_MOST = 5  # Exceptions described in one line.

log = structlog.get_logger()

_WRITING = threading.Lock()  # several threads log
_LEVELS = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO)
_encoded = json.JSONEncoder(default=repr).encode


def configure(level: str, file: TextIO | None = None) -> None:
    """Configure the log of this process: records from `level` on are written to a file, by default standard error."""
    number = logging.getLevelNamesMapping()[level]
    structlog.configure(
        processors=[rendered],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: LineWriter(file or sys.stderr),
        cache_logger_on_first_use=file is None,
    )
    root = logging.getLogger()
    root.setLevel(number)
    if not any(isinstance(handler, Forwarding) for handler in root.handlers):
        root.addHandler(Forwarding())
    logging.captureWarnings(capture=True)


def catch_the_rest() -> None:
    """Log uncaught exceptions, in place of the tracebacks that Python prints."""
    sys.excepthook = _log_uncaught
    sys.unraisablehook = _log_unraisable
    threading.excepthook = _log_in_thread


class LineWriter:
    """Writes lines to a file. One that cannot be written is lost: a full disk ends neither a request nor a job."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def msg(self, line: str) -> None:
        """Write a line, or lose it."""
        try:
            with _WRITING:
                self._file.write(f"{line}\n")
                self._file.flush()
        except (OSError, ValueError):  # ValueError: the file is closed
            pass

    debug = info = warning = error = critical = msg


class Forwarding(logging.Handler):
    """Forwards records of the standard library's `logging` to structlog: those of aiohttp, asyncio and redis-py."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record; never raises."""
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # its arguments do not fit its text
            text = str(record.msg)
        level = next((level for level in _LEVELS if record.levelno >= level), logging.DEBUG)
        log.log(level, text, logger=record.name, **({"exc_info": record.exc_info} if record.exc_info else {}))


def described(exc_info: Any) -> list[dict[str, Any]]:
    """Return an exception and its causes, newest first: class, message and places in the code."""
    return [
        {"exc_type": type(error).__qualname__, "exc_value": _message(error), "frames": _frames(error.__traceback__)}
        for error in islice(_led_by(exc_info[1]), CAUSES_MOST)
    ]


_describe_exception = structlog.processors.ExceptionRenderer(described)


def _led_by(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _led_by(one)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _message(error: BaseException) -> str:
    from aiohttp.http_exceptions import HttpProcessingError  # commands that do not serve start faster without it

    if isinstance(error, HttpProcessingError):
        return str(error.code)  # its text quotes the request
    try:
        text = error.message if isinstance(error, GraphQLError) else str(error)  # `str` would quote the document
    except Exception:  # noqa: BLE001  the exception's own `__str__` may raise anything
        return "(no message)"
    return _cut(text, MESSAGE_MOST)


def _frames(traceback: TracebackType | None) -> list[str]:
    frames = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename}:{traceback.tb_lineno} {code.co_qualname}")
        traceback = traceback.tb_next
    return frames[-FRAMES_MOST:]


def add_context(_: Any, __: str, line: EventDict) -> EventDict:
    """Add the ids of the request and the trace to a record."""
    for name, value in LOGGED.get().items():
        line.setdefault(name, value)
    return line


def rendered(_: Any, level: str, line: EventDict) -> str:
    """Return a record as JSON, with truncated values where it is too long.

    It does at once what several processors of structlog would do: most requests have a line.
    """
    add_context(None, level, line)
    line["level"] = level
    line["process"] = os.getpid()
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    line["timestamp"] = f"{_formatted(seconds)}.{nanoseconds // 1_000:06}Z"
    if "exc_info" in line:
        line = _describe_exception(None, level, line)
    text = _encoded(line)
    if len(text) > LINE_MOST:
        text = _encoded({key: _shortened(value) for key, value in line.items()})
    return text


@lru_cache(1)
def _formatted(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {_cut(str(key), VALUE_MOST): _shortened(one) for key, one in islice(value.items(), ITEMS_MOST)}
    if isinstance(value, (list, tuple)):
        return [_shortened(one) for one in value[:ITEMS_MOST]]
    return value if isinstance(value, (int, float, type(None))) else _cut(str(value), VALUE_MOST)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _log_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
    else:
        log.critical("an exception ended the process", exc_info=(kind, error, traceback))


def _log_unraisable(raised: "sys.UnraisableHookArgs") -> None:
    where = type(raised.object).__qualname__
    log.error("an exception could not be raised", where=where, exc_info=(raised.exc_type, raised.exc_value, None))


def _log_in_thread(failure: threading.ExceptHookArgs) -> None:
    log.error("a thread failed", exc_info=(failure.exc_type, failure.exc_value, failure.exc_traceback))
