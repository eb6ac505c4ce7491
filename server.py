#!/usr/bin/env python
"""Perch's command line. Commands that need the schema import it: that takes longer than most others run."""

import argparse
import asyncio
import contextlib
import errno
import os
import signal
import sys
from functools import partial

import structlog
import uvloop

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import exporting, tail
from resolvers.upkeep.commands import UpkeepRefused
from resolvers.upkeep.demo import community
from resolvers.upkeep.importing import account
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import ImportRefused
from resolvers.upkeep.tail import TailOptions, TailRefused
from serving import arguments, logs, processes, running, systemd, upkeep
from serving.arguments import Subcommands
from serving.running import StartError
from serving.tracing.exporting import exported
from store.client import requirements
from store.client.database import Unavailable
from store.client.requirements import UnsupportedServer
from store.embedded import opening
from store.embedded.launch import EmbeddedStoreError
from store.layout.versions import UnsupportedLayout
from store.secret import Secret
from store.settings import Settings, files
from store.settings.declaring import SettingError

REFUSALS = (
    EmbeddedStoreError,
    ImportRefused,
    SettingError,
    TailRefused,
    Unavailable,
    UnsupportedLayout,
    UnsupportedServer,
    UpkeepRefused,
)
DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.EFBIG}
USAGE_STATUS = 2  # exit status of a wrong setting or argument


def main(given: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    asked = _parser().parse_args(given)
    try:
        settings = files.load(os.environ | dict(pair.split("=", 1) for pair in asked.settings))
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
        description="Perch, a social network's back end. Settings: docs/operations.md.",
    )
    known = Subcommands(parser)
    arguments.add_serve(
        known.add("serve", _serve, "serve the API, and do the deferred work unless RUN_WORKER is false")
    )
    known.add("worker", _work, "do the deferred work, without serving")
    load = known.add("import", _import, "load a network of members, follows and posts; run again, it goes on")
    arguments.add_import(load)
    export = known.add("export", _export, "write everything that is kept of a member to a ZIP of JSON files and pages")
    arguments.add_export(export)
    load = known.add("import-account", _import_account, "read an export into a store without its member")
    arguments.add_import_account(load)
    arguments.add_tail(known.add("tail", _tail, "follow what happens on the site, a line an event; filters are any-of"))
    upkeep.add_all(known)
    known.add("print-schema", _print_schema, "print the GraphQL schema")
    known.add("print-tables", _print_tables, "print the documentation's tables of settings, keys and codes")
    completion = known.add("print-completion", _print_completion, "print what completes these commands in a shell")
    completion.add_argument("shell", choices=arguments.SHELLS)
    return parser


async def _serve(settings: Settings, asked: argparse.Namespace) -> int:
    import schema
    from serving import endpoint

    if settings.trusted_documents:
        schema.build(settings)  # reads the file, so that a bad one is refused before anything starts
    if asked.sockets:
        await processes.serve_as_one(settings, asked.sockets)
    elif (count := processes.wanted(settings)) == 1:
        async with running.opened(settings) as services:
            await _prepare(services, asked)
            with running.listening(settings) as (sockets,):
                await endpoint.serve(services, sockets, partial(running.announce, settings, sockets))
    else:
        async with running.database(settings) as db:  # the store outlives each of the processes that use it
            async with running.opened(settings) as services:
                await _prepare(services, asked)
            with running.listening(settings, count) as sockets:
                command = [sys.executable, __file__, "serve", "--sockets"]
                await processes.supervise(db, sockets, command, partial(running.announce, settings, sockets[0]))
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
    if login := await community.fill(services):
        print(f"The store has a demo community now: log in as {login.login} with the password {login.password!r}")
    else:
        print("The store has members already: no demo community was added")


async def _work(settings: Settings, _: argparse.Namespace) -> int:
    async with running.opened(settings) as services, exported(services.db), _measured(services):
        await requirements.warn(services.db)
        await running.run_until_stopped(running.work(services), _say_it_works)
    return 0


def _say_it_works() -> None:
    print("Perch works; Ctrl-C ends it.", flush=True)
    systemd.tell("READY=1")


def _measured(services: Services) -> contextlib.AbstractAsyncContextManager[None]:
    """Serve the metrics of a worker, if METRICS_PORT is set."""
    if not services.settings.metrics_port:
        return contextlib.nullcontext()
    from serving.metrics import recorder

    return recorder.of_worker(services.db)


async def _tail(settings: Settings, asked: argparse.Namespace) -> int:
    options = arguments.options(asked)
    async with running.opened(settings, opening.COMMAND_PATIENCE) as services:
        chosen = await tail.begin(services, TailOptions(**options))
        print("Perch follows the site; Ctrl-C ends it.", flush=True)
        await running.run_until_stopped(_print_lines(services, chosen))
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
    async with running.opened(settings, opening.COMMAND_PATIENCE) as services:
        await Worker(services.db).run_once()
        hashed, of_each = await _hash(services, asked), (asked.messages, asked.groups, asked.images)
        print(await imports.load(services.db, network, hashed, *of_each))
    return 0


async def _export(settings: Settings, asked: argparse.Namespace) -> int:
    async with running.opened(settings, opening.COMMAND_PATIENCE) as services:
        print(await exporting.write(services, asked.login, asked.file))
    return 0


async def _import_account(settings: Settings, asked: argparse.Namespace) -> int:
    async with running.opened(settings, opening.COMMAND_PATIENCE) as services:
        await Worker(services.db).run_once()
        print(await account.load(services.db, asked.file, await _hash(services, asked)))
    return 0


async def _hash(services: Services, asked: argparse.Namespace) -> Secret:
    return await services.passwords.hash(Secret(asked.password)) if asked.password else NO_PASSWORD


async def _print_schema(settings: Settings, _: argparse.Namespace) -> int:
    import schema

    print(schema.build(settings).as_str())
    return 0


async def _print_completion(_: Settings, asked: argparse.Namespace) -> int:
    print(arguments.completion(_parser(), asked.shell))
    return 0


async def _print_tables(_: Settings, __: argparse.Namespace) -> int:
    from serving.tables import tables

    print("\n\n".join(tables().values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
