"""Types of arguments on the command line. A wrong value raises ArgumentTypeError, which says the rule."""

from __future__ import annotations

import argparse

from resolvers.upkeep import backlog


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def descriptors(text: str) -> list[int]:
    """Read file descriptors, separated by commas."""
    return [int(part) for part in text.split(",")]


def job_or_all(text: str) -> int | str:
    """Read a job's id, or the word for all."""
    return text if text == backlog.ALL else count(text)
