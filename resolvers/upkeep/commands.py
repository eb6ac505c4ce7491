"""Operators' commands on a store: verify, repair, trim, recount and others. Each is safe while Perch serves requests.

Every command returns the lines to print and the exit status.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from resolvers import accounts
from resolvers.homes import build
from resolvers.jobs.worker import Worker
from resolvers.upkeep import backlog, trimming, verify
from resolvers.upkeep.verify import Report
from store.client.database import Database
from store.ids import PARTITIONS
from store.records import Role

ROUNDS = 5  # of repair: one repair may reveal another finding, such as the comments of a list that is gone

Said = tuple[list[str], int]


class UpkeepRefused(Exception):
    """The command cannot be run. The message is one line that says why."""


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: float | None = 1) -> bool | None:
        """Advance by so many items."""


Show = Callable[[str, int], AbstractContextManager[Bar]]  # shows a bar with a name and a total


async def check(db: Database, show: Show, *, homes: int, all_homes: bool, seed: int) -> Said:
    """Check every invariant, and compare some homes, or all, with their computed values."""
    report = await _look_over(db, show, None if all_homes else homes, seed)
    return [*report.lines()], 0 if report.clean else 1


async def repair(db: Database, show: Show, *, homes: int, all_homes: bool, seed: int) -> Said:
    """Finish the jobs that a crash has left, then repair what is found; repeats up to `ROUNDS` times."""
    while await Worker(db).run_once():
        pass
    report = await _look_over(db, show, None if all_homes else homes, seed)
    lines = [*report.lines()]
    for _ in range(ROUNDS):
        mended = await verify.repair(db, report.findings)
        if not mended:
            break
        report = await _look_over(db, show, None if all_homes else homes, seed)
        lines += [f"{mended:,} of them mended", *report.lines()]
    return lines, 0 if report.clean else 1


async def _look_over(db: Database, show: Show, homes: int | None, seed: int) -> Report:
    with show("keys", await db.one("DBSIZE")) as bar:
        return await verify.verify(db, homes=homes, seed=seed, progress=bar.update)


async def recount(db: Database, show: Show) -> Said:
    """Set every counter of members and posts to its exact total."""
    with show("keys", await db.one("DBSIZE")) as bar:
        found = await verify.recount(db, bar.update)
    wrong = f"{found['wrong']:,} counters set right"
    return [f"{found['user']:,} members and {found['status']:,} posts recounted: {wrong}"], 0


async def trim(db: Database, show: Show) -> Said:
    """Apply every setting that bounds stored data, now."""
    with show("keys", await db.one("DBSIZE")) as bar:
        found = await trimming.trim(db, bar.update)
    return ["let go of " + ", ".join(f"{count:,} {what}" for what, count in found.items())], 0


async def rebuild_home(db: Database, show: Show, *, login: str) -> Said:
    """Drop a member's home and build it again."""
    member = await accounts.find(db, login)
    if member is None:
        raise UpkeepRefused(f"no member has the login {login!r}")
    with show("homes", 1) as bar:
        entries = await build.rebuild(db, member)
        bar.update(1)
    return [f"the home of {login} has {entries:,} entries"], 0


async def work(db: Database, show: Show, *, retry: int | str | None, discard: int | None) -> Said:
    """Report unfinished and dead jobs, or retry or discard dead jobs."""
    with show("jobs", PARTITIONS) as bar:
        found = await backlog.look(db, bar.update)
    if not retry and not discard:
        return [*found.lines()], 0
    done = await (found.retry(db, retry) if retry else found.discard(db, discard or 0))
    told = f"{done:,} dead jobs {'put back to work' if retry else 'removed'}"
    return [told], 0 if done or retry == backlog.ALL else 1


async def set_role(db: Database, _: Show, *, login: str, role: str) -> Said:
    """Give a member a role."""
    if not await accounts.set_role(db, login, Role(role)):
        raise UpkeepRefused(f"no member has the login {login!r}")
    return [f"{login} has the role {role}"], 0


async def suspend(db: Database, _: Show, *, login: str, end: bool) -> Said:
    """Suspend a member, or end a suspension."""
    if not await accounts.set_suspension(db, login, suspended=not end):
        raise UpkeepRefused(f"no member has the login {login!r}")
    return [f"{login} is {'no longer ' if end else ''}suspended"], 0
