"""A process's log."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from serving import logs


@contextmanager
def written(level: str = "DEBUG") -> Iterator[io.StringIO]:
    """Collect as text everything logged inside the context."""
    before, root = structlog.get_config(), logging.getLogger()
    handlers, least, text = root.handlers[:], root.level, io.StringIO()
    root.handlers.clear()
    logs.configure(level, text)
    try:
        yield text
    finally:
        structlog.configure(**before)
        root.handlers[:] = handlers
        root.setLevel(least)
        logging.captureWarnings(capture=False)


def read(text: io.StringIO | str) -> list[dict[str, Any]]:
    """Return the records of a log."""
    return [json.loads(line) for line in (text if isinstance(text, str) else text.getvalue()).splitlines()]
