#!/usr/bin/env python
"""Perch's command line: composes the layers and runs them."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import structlog
import uvloop

import schema
from resolvers.jobs.worker import Worker
from resolvers.operation.services import Services
from resolvers.operation.stream_filters import StreamEventKind
from resolvers.operation.tokens import NO_PASSWORD
from resolvers.upkeep import commands, demo, exporting, import_account, imports, move, progress, tail
from resolvers.upkeep.commands import UpkeepRefused
from resolvers.upkeep.imports import ImportRefused
from resolvers.upkeep.tail import TailOptions, TailRefused
from serving import arguments, endpoint, logs, processes
from serving.arguments import Commands, Run
from serving.endpoint import StartError
from serving.tables import tables
from store.client import requirements
from store.client.database import Unavailable, UnsupportedServer
from store.credentials.records import Role
from store.embedded import opening
from store.embedded.launch import EmbeddedStoreError
from store.secret import Secret
from store.settings import Settings
from store.settings.declaring import SettingError

REFUSALS = EmbeddedStoreError, ImportRefused, SettingError, TailRefused, Unavailable, UnsupportedServer, UpkeepRefused
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.EFBIG}
USAGE_STATUS = 2  # exit status of a wrong setting or argument


def main(given: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    asked = _parser().parse_args(given)
    try:
        settings = Settings.from_environment(os.environ | dict(pair.split("=", 1) for pair in asked.settings))
    except SettingError as error:
        print(f"perch: {error}", file=sys.stderr)
        return USAGE_STATUS
    logs.configure(settings.log_level)
    logs.catch_the_rest()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            status: int = runner.run(asked.run(settings, asked))
    except (StartError, *REFUSALS) as error:
        print(f"perch: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except BrokenPipeError:  # nobody reads standard output any more, and Python must not flush it at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        print(f"perch: {f'{error.filename}: ' if error.filename else ''}{error.strerror}", file=sys.stderr)
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=arguments.program(),
        description="Perch, a social network's back end. Settings are environment variables: docs/operations.md.",
    )
    known = Commands(parser, _upkeep)
    _add_serve(known)
    known.add("worker", _work, "do the deferred work, without serving")
    _add_import(known)
    _add_exports(known)
    _add_checks(known)
    known.upkeep("trim", commands.trim, "bound homes and timelines by the settings now, and let go of idle homes")
    _add_members(known)
    _add_tail(known)
    known.upkeep("recount", commands.recount, "set every counter of members and posts to what there is")
    _add_jobs(known)
    _add_move(known)
    known.add("print-schema", _print_schema, "print the GraphQL schema")
    known.add("print-tables", _print_tables, "print the documentation's tables of settings, keys and codes")
    return parser


def _add_serve(known: Commands) -> None:
    serve = known.add("serve", _serve, "serve the API, and do the deferred work unless RUN_WORKER is false")
    for name, setting, text in (
        ("--processes", "PROCESSES={}", "so many on one port, 0 as many as processors (default: PROCESSES)"),
        ("--store-nodes", "STORE_NODES={}", "nodes of a new embedded store; half of six or more are replicas"),
    ):
        serve.add_argument(name, dest="settings", action="append", type=setting.format, metavar="N", help=text)
    serve.add_argument("--sockets", type=arguments.descriptors, help=argparse.SUPPRESS)  # from the parent
    serve.add_argument("--demo", action="store_true", help="fill an empty store with a small community first")


def _add_import(known: Commands) -> None:
    load = known.add("import", _import, "load a network of members, follows and posts; run again, it goes on")
    of_follows, of_posts = "follower TAB followed a line, .tsv or .tsv.gz", "one post a line, .txt or .txt.gz"
    of_total = "deal out N posts, repeating the file (default: each once)"
    load.add_argument("--follows", type=Path, required=True, metavar="FILE", help=of_follows)
    load.add_argument("--posts", type=Path, metavar="FILE", help=of_posts)
    load.add_argument("--posts-total", type=arguments.count, metavar="N", help=of_total)
    load.add_argument("--messages", type=arguments.count, default=0, metavar="N", help="deal out N messages to pairs")
    load.add_argument("--groups", type=arguments.count, default=0, metavar="N", help="make N groups of followers")
    load.add_argument("--members", type=arguments.count, metavar="N", help="only the N members with the most follows")
    load.add_argument("--seed", type=int, default=1, metavar="N", help="deals the posts out another way (default 1)")
    load.add_argument("--password", metavar="TEXT", help="lets imported members log in with it (default: they cannot)")


def _add_exports(known: Commands) -> None:
    export = known.add("export", _export, "write everything that is kept of a member to a ZIP of JSON files and pages")
    export.add_argument("login", metavar="LOGIN")
    export.add_argument("file", nargs="?", type=Path, metavar="FILE", help="a new file (default: perch-LOGIN.zip)")
    load = known.add("import-account", _import_account, "read an export into a store without its member")
    load.add_argument("file", type=Path, metavar="FILE", help="a file that `export` or a link has written")
    load.add_argument("--password", metavar="TEXT", help="lets the member log in with it (default: they cannot)")


def _add_checks(known: Commands) -> None:
    for name, task, text in (
        ("verify", commands.check, "check every invariant of the store; exit status 1 names what does not hold"),
        ("repair", commands.repair, "mend what verify finds"),
    ):
        check, homes = known.upkeep(name, task, text), "homes computed anew (default 1000)"
        check.add_argument("--homes", type=arguments.count, default=1000, metavar="N", help=homes)
        check.add_argument("--all-homes", action="store_true", help="compute every home anew")
        check.add_argument("--seed", type=int, default=1, metavar="N", help="chooses other homes (default 1)")
    rebuild = known.upkeep("rebuild-home", commands.rebuild_home, "compute a member's home anew")
    rebuild.add_argument("login", metavar="LOGIN")


def _add_members(known: Commands) -> None:
    appoint = known.upkeep("set-role", commands.set_role, "give a member a role; this makes the first administrator")
    appoint.add_argument("login", metavar="LOGIN")
    roles, text = [role.value for role in Role], "MEMBER, MODERATOR or ADMIN"
    appoint.add_argument("role", type=str.upper, choices=roles, metavar="ROLE", help=text)
    suspend = known.upkeep("suspend", commands.suspend, "hide a member from all but moderators, and end their sessions")
    suspend.add_argument("login", metavar="LOGIN")
    suspend.add_argument("--end", action="store_true", help="end the suspension")
    factor = known.upkeep("two-factor", commands.two_factor, "print whether a member has a second factor")
    factor.add_argument("login", metavar="LOGIN")
    factor.add_argument("--off", action="store_true", help="turn it off, for a member who has lost it")


def _add_tail(known: Commands) -> None:
    tail = known.add("tail", _tail, "follow what happens on the site, a line an event; filters are any-of")
    tail.add_argument("--follow", action="append", metavar="LOGIN", help="events by this member; may be repeated")
    tail.add_argument("--track", action="append", metavar="PHRASE", help="posts with all words of it; may be repeated")
    tail.add_argument("--box", action="append", nargs=4, type=float, metavar=tuple("SWNE"), help="posts located in it")
    kinds = [kind.value for kind in StreamEventKind]
    tail.add_argument("--kind", action="append", type=str.upper, choices=kinds, help="of this kind; may be repeated")
    tail.add_argument("--sample", type=arguments.count, metavar="PERCENT", help="a share of all posts instead")
    tail.add_argument("--after", metavar="CURSOR", help="begin with what came since (default: now)")


def _add_move(known: Commands) -> None:
    what = "copy a running single server into an empty cluster; then it refuses writes"
    moving = known.upkeep("move", move.run, what)
    moving.add_argument("target", nargs="?", metavar="TARGET_URL", help="a REDIS_URL of the cluster")
    for option, text in move.OPTIONS.items():
        moving.add_argument(option, action="store_true", help=text)


def _add_jobs(known: Commands) -> None:
    work = known.upkeep("jobs", commands.work, "print what is unfinished, and jobs set aside after too many failures")
    decision = work.add_mutually_exclusive_group()
    decision.add_argument("--retry", type=arguments.job_or_all, metavar="ID|all", help="make dead jobs fresh work")
    decision.add_argument("--discard", type=arguments.count, metavar="ID", help="remove a dead job for good")


async def _serve(settings: Settings, asked: argparse.Namespace) -> int:
    if asked.sockets:
        await processes.serve_as_one(settings, asked.sockets)
    elif (count := processes.wanted(settings)) == 1:
        async with endpoint.opened(settings) as services:
            await _prepare(services, asked)
            with endpoint.listening(settings) as (sockets,):
                await endpoint.serve(services, sockets, partial(endpoint.announce, settings, sockets))
    else:
        async with opening.database(settings):  # the store outlives each of the processes that use it
            async with endpoint.opened(settings) as services:
                await _prepare(services, asked)
            with endpoint.listening(settings, count) as sockets:
                command = [sys.executable, __file__, "serve", "--sockets"]
                await processes.supervise(settings, sockets, command, partial(endpoint.announce, settings, sockets[0]))
    return 0


async def _prepare(services: Services, asked: argparse.Namespace) -> None:
    await requirements.warn(services.db)
    # Work that an earlier process left is finished before the first request, including names that a sign-up reserved.
    try:
        await Worker(services.db).run_once()
    except Unavailable as error:  # for example on a full disk: reads still work, and the worker tries again
        structlog.get_logger().warning("unfinished_work_waits", error=str(error))
    if asked.demo:
        await _fill(services)


async def _fill(services: Services) -> None:
    if login := await demo.fill(services):
        print(f"The store has a demo community now: log in as {login.login} with the password {login.password!r}")
    else:
        print("The store has members already: no demo community was added")


async def _work(settings: Settings, _: argparse.Namespace) -> int:
    async with endpoint.opened(settings) as services:
        await requirements.warn(services.db)
        print("Perch works; Ctrl-C ends it.", flush=True)
        await endpoint.run_until_stopped(endpoint.work(services))
    return 0


async def _tail(settings: Settings, asked: argparse.Namespace) -> int:
    options = _options(asked)
    async with endpoint.opened(settings) as services:
        chosen = await tail.begin(services, TailOptions(**options))
        print("Perch follows the site; Ctrl-C ends it.", flush=True)
        await endpoint.run_until_stopped(_print_lines(services, chosen))
    return 0


async def _print_lines(services: Services, chosen: tail.Tail) -> None:
    async with contextlib.aclosing(tail.lines(services, chosen)) as lines:
        async for line in lines:
            # A terminal may not be able to print every character.
            print(line.encode(sys.stdout.encoding, "backslashreplace").decode(sys.stdout.encoding), flush=True)


async def _import(settings: Settings, asked: argparse.Namespace) -> int:
    network = imports.read_network(
        asked.follows, asked.posts, settings, total=asked.posts_total, most=asked.members, seed=asked.seed
    )
    async with endpoint.opened(settings) as services:
        await Worker(services.db).run_once()
        print(await imports.load(services.db, network, await _hash(services, asked), asked.messages, asked.groups))
    return 0


async def _export(settings: Settings, asked: argparse.Namespace) -> int:
    async with endpoint.opened(settings) as services:
        print(await exporting.write(services, asked.login, asked.file))
    return 0


async def _import_account(settings: Settings, asked: argparse.Namespace) -> int:
    async with endpoint.opened(settings) as services:
        await Worker(services.db).run_once()
        print(await import_account.load(services.db, asked.file, await _hash(services, asked)))
    return 0


async def _hash(services: Services, asked: argparse.Namespace) -> Secret:
    return await services.passwords.hash(Secret(asked.password)) if asked.password else NO_PASSWORD


def _upkeep(task: Callable[..., Awaitable[commands.Answer]]) -> Run:
    """Return a command that runs a task of upkeep with the parsed arguments, and prints its answer."""

    async def run(settings: Settings, asked: argparse.Namespace) -> int:
        options = _options(asked)
        async with opening.database(settings) as db:
            answer = await task(db, partial(progress.bar, hidden=asked.json), **options)
        print(answer.as_json() if asked.json else "\n".join(answer.lines))
        return answer.status

    return run


def _options(asked: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(asked).items() if name not in {"run", "settings", "json"}}


async def _print_schema(settings: Settings, _: argparse.Namespace) -> int:
    print(schema.build(settings).as_str())
    return 0


async def _print_tables(_: Settings, __: argparse.Namespace) -> int:
    print("\n\n".join(tables().values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
