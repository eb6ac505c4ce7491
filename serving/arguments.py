"""Commands and types of arguments on the command line. A wrong value raises ArgumentTypeError, which says the rule."""

import argparse
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from resolvers.process.site_stream import StreamEventKind
from resolvers.upkeep import backlog
from store.settings import Settings

SHELLS = ("bash", "zsh", "fish", "tcsh")
INSTALLED = "perch"  # the command's name in pyproject.toml

CommandRun = Callable[[Settings, argparse.Namespace], Awaitable[int]]  # runs one command and returns its exit status


def program() -> str:
    """Return the name that this is called by: `perch` when installed, or the file's."""
    called = Path(sys.argv[0]).name
    return called if called == INSTALLED else "server.py"


class Subcommands:
    """The subcommands of a parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._parsers = parser.add_subparsers(title="commands", required=True, metavar="command")

    def add(self, name: str, run: CommandRun, text: str) -> argparse.ArgumentParser:
        """Add a command and return its parser, for its options."""
        command = self._parsers.add_parser(name, help=text, description=text)
        command.set_defaults(run=run, settings=[])
        return command


def options(asked: argparse.Namespace) -> dict[str, Any]:
    """Return what was given to one command, by the names of its parameters."""
    return {name: value for name, value in vars(asked).items() if name not in {"run", "settings", "json"}}


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


def completion(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script by which a shell completes commands, options, and files where a command takes one."""
    import shtab  # no other command needs it

    left = [parser]
    while left:
        for action in left.pop()._actions:  # noqa: SLF001  argparse has no public way to its arguments
            if isinstance(action.choices, dict):  # the subcommands
                left.extend(action.choices.values())
            elif action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return shtab.complete(parser, shell=shell)


def add_serve(serve: argparse.ArgumentParser) -> None:
    """Declare what the command `serve` takes."""
    for name, setting, text in (
        ("--processes", "PROCESSES={}", "so many on one port, 0 as many as processors (default: PROCESSES)"),
        ("--store-nodes", "STORE_NODES={}", "nodes of a new embedded store; half of six or more are replicas"),
    ):
        serve.add_argument(name, dest="settings", action="append", type=setting.format, metavar="N", help=text)
    serve.add_argument("--sockets", type=descriptors, help=argparse.SUPPRESS)  # from the parent
    serve.add_argument("--demo", action="store_true", help="fill an empty store with a small community first")


def add_export(export: argparse.ArgumentParser) -> None:
    """Declare what the command `export` takes."""
    export.add_argument("login", metavar="LOGIN")
    export.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a new file (default: perch-LOGIN.zip)")


def add_import_account(load: argparse.ArgumentParser) -> None:
    """Declare what the command `import-account` takes."""
    load.add_argument("file", type=Path, metavar="FILE", help="a file that `export` or a link has written")
    load.add_argument("--password", metavar="TEXT", help="lets the member log in with it (default: they cannot)")


def add_tail(tail: argparse.ArgumentParser) -> None:
    """Declare what the command `tail` takes."""
    tail.add_argument("--follow", action="append", metavar="LOGIN", help="events by this member; may be repeated")
    tail.add_argument("--track", action="append", metavar="PHRASE", help="posts with all words of it; may be repeated")
    tail.add_argument("--box", action="append", nargs=4, type=float, metavar=tuple("SWNE"), help="posts located in it")
    kinds = [kind.value for kind in StreamEventKind]
    tail.add_argument("--kind", action="append", type=str.upper, choices=kinds, help="of this kind; may be repeated")
    tail.add_argument("--sample", type=count, metavar="PERCENT", help="a share of all posts instead")
    tail.add_argument("--after", metavar="CURSOR", help="begin with what came since (default: now)")


def add_import(load: argparse.ArgumentParser) -> None:
    """Declare what the command `import` takes."""
    of_follows, of_posts = "follower TAB followed a line, .tsv or .tsv.gz", "one post a line, .txt or .txt.gz"
    of_total = "deal out N posts, repeating the file (default: each once)"
    load.add_argument("--follows", type=Path, required=True, metavar="FILE", help=of_follows)
    load.add_argument("--posts", type=Path, metavar="FILE", help=of_posts)
    load.add_argument("--posts-total", type=count, metavar="N", help=of_total)
    load.add_argument("--messages", type=count, default=0, metavar="N", help="deal out N messages to pairs")
    load.add_argument("--images", type=count, default=0, metavar="N", help="draw a picture for N posts")
    load.add_argument("--groups", type=count, default=0, metavar="N", help="make N groups of followers")
    load.add_argument("--members", type=count, metavar="N", help="only the N members with the most follows")
    load.add_argument("--seed", type=int, default=1, metavar="N", help="deals the posts out another way (default 1)")
    load.add_argument("--password", metavar="TEXT", help="lets imported members log in with it (default: they cannot)")
