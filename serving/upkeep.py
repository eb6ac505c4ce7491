"""Operators' commands on a store: their names and options, and how each is run and its answer is printed."""

import argparse
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from resolvers.upkeep import commands, migrate, move, progress
from resolvers.upkeep.backups import backup, restore
from resolvers.upkeep.commands import CommandAnswer
from serving import arguments
from serving.arguments import CommandRun, Subcommands
from store.credentials.records import Role
from store.embedded import opening
from store.settings import Settings

Task = Callable[..., Awaitable[CommandAnswer]]  # a task of upkeep, with the parsed arguments


def add_all(known: Subcommands) -> None:
    """Add every command of upkeep."""
    _add_checks(known)
    known.add("check", _check, "say what is wrong with a set-up, and how to fix it; exit status 1 if anything is")
    _add(known, "trim", commands.trim, "bound homes and timelines by the settings now, and let go of idle homes")
    _add_members(known)
    _add(known, "recount", commands.recount, "set every counter of members and posts to what there is")
    _add_jobs(known)
    _add_move(known)
    _add_backups(known)
    _add(known, "migrate", migrate.run, "rewrite what an older Perch has stored, beside the server that uses it")


async def _check(settings: Settings, _: argparse.Namespace) -> int:
    from serving import setup  # it needs the schema, which takes long to import

    problems = await setup.problems(settings)
    for problem in problems:
        print(f"{problem.what}\n  {problem.fix}")
    print(f"{len(problems)} problems found" if problems else "nothing is wrong with this set-up")
    return 1 if problems else 0


def _add(known: Subcommands, name: str, task: Task, text: str) -> argparse.ArgumentParser:
    """Add a command that prints the answer of a task, and return its parser."""
    command = known.add(name, _run(task), text)
    command.add_argument("--json", action="store_true", help="print the answer as one JSON document")
    return command


def _run(task: Task) -> CommandRun:
    """Return a command that runs a task with the parsed arguments, and prints its answer."""

    async def run(settings: Settings, asked: argparse.Namespace) -> int:
        options = arguments.options(asked)
        async with opening.database(settings, patience=opening.COMMAND_PATIENCE) as db:
            answer = await task(db, partial(progress.bar, hidden=asked.json), **options)
        print(answer.as_json() if asked.json else "\n".join(answer.lines))
        return answer.status

    return run


def _add_checks(known: Subcommands) -> None:
    for name, task, text in (
        ("verify", commands.check, "check every invariant of the store; exit status 1 names what does not hold"),
        ("repair", commands.repair, "mend what verify finds"),
    ):
        check, homes = _add(known, name, task, text), "homes computed anew (default 1000)"
        check.add_argument("--homes", type=arguments.count, default=1000, metavar="N", help=homes)
        check.add_argument("--all-homes", action="store_true", help="compute every home anew")
        check.add_argument("--seed", type=int, default=1, metavar="N", help="chooses other homes (default 1)")
    check.add_argument("--yes", action="store_true", help="also remove files of pictures that belong to nothing")
    rebuild = _add(known, "rebuild-home", commands.rebuild_home, "compute a member's home anew")
    rebuild.add_argument("login", metavar="LOGIN")


def _add_members(known: Subcommands) -> None:
    appoint = _add(known, "set-role", commands.set_role, "give a member a role; this makes the first administrator")
    appoint.add_argument("login", metavar="LOGIN")
    roles = [role.value for role in Role]
    appoint.add_argument("role", type=str.upper, choices=roles, metavar="|".join(roles), help="any case")
    suspend = _add(known, "suspend", commands.suspend, "hide a member from all but moderators, and end their sessions")
    suspend.add_argument("login", metavar="LOGIN")
    suspend.add_argument("--end", action="store_true", help="end the suspension")
    factor = _add(known, "two-factor", commands.two_factor, "print whether a member has a second factor")
    factor.add_argument("login", metavar="LOGIN")
    factor.add_argument("--off", action="store_true", help="turn it off, for a member who has lost it")


def _add_move(known: Subcommands) -> None:
    moving = _add(known, "move", move.run, "copy a single server into an empty cluster; then it refuses writes")
    moving.add_argument("target", nargs="?", metavar="TARGET_URL", help="a REDIS_URL of the cluster")
    for option, text in move.OPTIONS.items():
        moving.add_argument(option, action="store_true", help=text)


def _add_backups(known: Subcommands) -> None:
    saving = _add(known, "backup", backup.run, "copy the store, as it is at one moment, into a new file")
    loading = _add(known, "restore", restore.run, "make an empty store of a backup")
    for command, text in ((saving, "encrypt the file by the content of this one"), (loading, "decrypts the file")):
        command.add_argument("file", type=Path, metavar="FILE")
        command.add_argument("--key-file", type=Path, metavar="KEY_FILE", help=text)
    saving.add_argument("--without-pictures", action="store_true", help="leave the files of pictures out")


def _add_jobs(known: Subcommands) -> None:
    work = _add(known, "jobs", commands.work, "print what is unfinished, and jobs set aside after too many failures")
    decision = work.add_mutually_exclusive_group()
    decision.add_argument("--retry", type=arguments.job_or_all, metavar="ID|all", help="make dead jobs fresh work")
    decision.add_argument("--discard", type=arguments.count, metavar="ID", help="remove a dead job for good")
