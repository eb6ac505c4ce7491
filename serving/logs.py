"""The log: one line of JSON per record on standard error, for records of all libraries.

A line has no local variables and no text of a document or a request, since any of them may hold a password.
"""

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from types import TracebackType
from typing import Any, TextIO, cast

import structlog
from graphql import GraphQLError
from structlog.typing import EventDict

LINE_MOST = 16_384  # Characters. The values of a longer line are truncated.
VALUE_MOST = 300  # Characters of a value in a truncated line.
ITEMS_MOST = 20  # Entries of a list or an object in a truncated line.
MESSAGE_MOST = 1_000  # Characters of an exception's message.
FRAMES_MOST = 20  # Innermost frames of a traceback.
CAUSES_MOST = 5  # Exceptions described in one line.

log = structlog.get_logger()

_LEVELS = (logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO)
_render = structlog.processors.JSONRenderer()


def configure(level: str, file: TextIO | None = None) -> None:
    """Configure the log of this process: records from `level` on are written to a file, by default standard error."""
    number = logging.getLevelNamesMapping()[level]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            _name_process,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.ExceptionRenderer(described),
            _bounded,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", Unfailing(file or sys.stderr))),
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


class Unfailing:
    """A file that loses what cannot be written: a full disk ends neither a request nor a job."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        """Write a text, or lose it."""
        with contextlib.suppress(OSError, ValueError):  # ValueError: the file is closed
            self._file.write(text)

    def flush(self) -> None:
        """Write what is in the buffer, or keep it there."""
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()


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


def _name_process(_: Any, __: str, line: EventDict) -> EventDict:
    line["process"] = os.getpid()
    return line


def _bounded(logger: Any, method: str, line: EventDict) -> str | bytes:
    """Return a record as JSON, with truncated values where it is too long."""
    text = _render(logger, method, line)
    return (
        text
        if len(text) <= LINE_MOST
        else _render(logger, method, {key: _shortened(value) for key, value in line.items()})
    )


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
