"""Commands and types of arguments on the command line. A wrong value raises ArgumentTypeError, which says the rule."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from resolvers.upkeep import backlog
from resolvers.upkeep.commands import Answer
from store.settings import Settings

INSTALLED = "perch"  # the command's name in pyproject.toml

Run = Callable[[Settings, argparse.Namespace], Awaitable[int]]  # runs one command and returns its exit status
Task = Callable[..., Awaitable[Answer]]  # a task of upkeep, with the parsed arguments


def program() -> str:
    """Return the name that this is called by: `perch` when installed, or the file's."""
    called = Path(sys.argv[0]).name
    return called if called == INSTALLED else "server.py"


class Commands:
    """The subcommands of a parser. `run_task` makes a command of a task of upkeep."""

    def __init__(self, parser: argparse.ArgumentParser, run_task: Callable[[Task], Run]) -> None:
        self._parsers = parser.add_subparsers(title="commands", required=True, metavar="command")
        self._run_task = run_task

    def add(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        """Add a command and return its parser, for its options."""
        command = self._parsers.add_parser(name, help=text, description=text)
        command.set_defaults(run=run, settings=[])
        return command

    def upkeep(self, name: str, task: Task, text: str) -> argparse.ArgumentParser:
        """Add a command that prints the answer of a task."""
        command = self.add(name, self._run_task(task), text)
        command.add_argument("--json", action="store_true", help="print the answer as one JSON document")
        return command


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
