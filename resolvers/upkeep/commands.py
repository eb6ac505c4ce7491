"""Operators' commands on a store: verify, repair, trim, recount and others. Each is safe while Perch serves requests.

Every command returns its answer: lines for people, data for programs, and the exit status.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from resolvers import accounts
from resolvers.homes import build
from resolvers.jobs.worker import Worker
from resolvers.upkeep import backlog, trimming, verify
from resolvers.upkeep.verify import VerifyReport
from store.accounts import credentials
from store.client.database import Database
from store.credentials import two_factor as second_factor
from store.credentials.records import Role
from store.ids import PARTITIONS
from store.layout import versions
from store.media.objects import MediaUnavailable
from store.upkeep import scanning
from store.upkeep.findings import UNREADABLE

OWNER_ONLY = 0o600  # permissions of a file with what members wrote
ROUNDS = 5  # of repair: one repair may reveal another finding, such as the comments of a list that is gone


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """The answer of a command: lines for people, the same as data, and the exit status."""

    lines: list[str]
    data: dict[str, Any]
    status: int = 0

    def as_json(self) -> str:
        """Return the data as one JSON document."""
        return json.dumps(self.data, indent=2, ensure_ascii=False)


class UpkeepRefused(Exception):
    """The command cannot be run. The message is one line that says why."""


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file, which is on disk at the end, and removed if that fails. Raises UpkeepRefused if it exists."""
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        raise UpkeepRefused(f"{path} exists already") from None
    try:
        with os.fdopen(opened, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise


class Bar(Protocol):
    """A progress bar."""

    def update(self, n: float | None = 1) -> bool | None:
        """Advance by so many items."""


Show = Callable[[str, int], AbstractContextManager[Bar]]  # shows a bar with a name and a total


async def check(db: Database, show: Show, *, homes: int, all_homes: bool, seed: int) -> CommandAnswer:
    """Check every invariant, and compare some homes, or all, with their computed values.

    Raises UpkeepRefused for a store of an older layout: what its migration rewrites would be found.
    """
    await require_newest_layout(db)
    report = await _look_over(db, show, None if all_homes else homes, seed)
    return CommandAnswer([*report.lines()], report.data(), 0 if report.clean else 1)


async def repair(
    db: Database, show: Show, *, homes: int, all_homes: bool, seed: int, yes: bool = False
) -> CommandAnswer:
    """Finish the jobs that a crash has left, then repair what is found; repeats up to `ROUNDS` times.

    With `yes`, objects that have belonged to nothing for two days are removed at last. Raises as `check` does.
    """
    await require_newest_layout(db)
    await _finish_jobs(db)
    report = await _look_over(db, show, None if all_homes else homes, seed)
    lines, total = [*report.lines()], 0
    for _ in range(ROUNDS):
        mended = await verify.repair(db, report.findings)
        if not mended:
            break
        await _finish_jobs(db)
        report = await _look_over(db, show, None if all_homes else homes, seed)
        lines += [f"{mended:,} of them mended", *report.lines()]
        total += mended
    if yes and (removed := await verify.remove_orphans(db, report)):
        report = await _look_over(db, show, None if all_homes else homes, seed)
        lines += [f"{removed:,} objects removed", *report.lines()]
    return CommandAnswer(lines, {"mended": total, **report.data()}, 0 if report.clean else 1)


async def require_newest_layout(db: Database) -> None:
    """Raise UpkeepRefused for a store of an older layout."""
    if (layout := await versions.current(db)) < versions.NEWEST:
        raise UpkeepRefused(
            f"the store has layout {layout}, and its keys are checked against layout {versions.NEWEST}: "
            "run `migrate` first"
        )


async def _finish_jobs(db: Database) -> None:
    """Finish the jobs that a crash has left, unless a malformed value stops them: `repair` may mend it first."""
    with contextlib.suppress(*UNREADABLE):
        while await Worker(db).run_once():
            pass


async def _look_over(db: Database, show: Show, homes: int | None, seed: int) -> VerifyReport:
    with show("keys", await scanning.count(db)) as bar:
        try:
            return await verify.verify(db, homes=homes, seed=seed, progress=bar.update)
        except MediaUnavailable as error:
            raise UpkeepRefused(f"the object store of pictures cannot be used: {error}") from error


async def recount(db: Database, show: Show) -> CommandAnswer:
    """Set every counter of members and posts to its exact total."""
    with show("keys", await scanning.count(db)) as bar:
        found = await verify.recount(db, bar.update)
    wrong = f"{found['wrong']:,} counters set right"
    return CommandAnswer([f"{found['members']:,} members and {found['posts']:,} posts recounted: {wrong}"], dict(found))


async def trim(db: Database, show: Show) -> CommandAnswer:
    """Apply every setting that bounds stored data, now."""
    with show("keys", await scanning.count(db)) as bar:
        found = await trimming.trim(db, bar.update)
    return CommandAnswer(["let go of " + ", ".join(f"{count:,} {what}" for what, count in found.items())], dict(found))


async def rebuild_home(db: Database, show: Show, *, login: str) -> CommandAnswer:
    """Drop a member's home and build it again."""
    member = await accounts.find(db, login)
    if member is None:
        raise UpkeepRefused(f"no member has the login {login!r}")
    with show("homes", 1) as bar:
        entries = await build.rebuild(db, member)
        bar.update(1)
    return CommandAnswer([f"the home of {login} has {entries:,} entries"], {"login": login, "entries": entries})


async def work(db: Database, show: Show, *, retry: int | str | None, discard: int | None) -> CommandAnswer:
    """Report unfinished and dead jobs, or retry or discard dead jobs."""
    with show("jobs", PARTITIONS) as bar:
        found = await backlog.look(db, bar.update)
    if not retry and not discard:
        return CommandAnswer([*found.lines()], found.data())
    done = await (found.retry(db, retry) if retry else found.discard(db, discard or 0))
    line = f"{done:,} dead jobs {'put back to work' if retry else 'removed'}"
    return CommandAnswer([line], {"retried" if retry else "discarded": done}, 0 if done or retry == backlog.ALL else 1)


async def set_role(db: Database, _: Show, *, login: str, role: str) -> CommandAnswer:
    """Give a member a role."""
    if not await accounts.set_role(db, login, Role(role)):
        raise UpkeepRefused(f"no member has the login {login!r}")
    return CommandAnswer([f"{login} has the role {role}"], {"login": login, "role": role})


async def suspend(db: Database, _: Show, *, login: str, end: bool) -> CommandAnswer:
    """Suspend a member, or end a suspension."""
    if not await accounts.set_suspension(db, login, suspended=not end):
        raise UpkeepRefused(f"no member has the login {login!r}")
    line = f"{login} is {'no longer ' if end else ''}suspended"
    return CommandAnswer([line], {"login": login, "suspended": not end})


async def two_factor(db: Database, _: Show, *, login: str, off: bool) -> CommandAnswer:
    """Turn a member's second factor off, for one who has lost it, or report whether it is on."""
    member = await accounts.find(db, login)
    found = await credentials(db, member) if member else None
    if member is None or found is None:
        raise UpkeepRefused(f"no member has the login {login!r}")
    if off:
        was_on = await second_factor.drop(db, member)
        line = f"the second factor of {login} is off" + ("" if was_on else " already")
        return CommandAnswer([line], {"login": login, "enabled": False, "recovery_codes_left": 0})
    left = len(found.recovery_codes)
    line = f"the second factor of {login} is " + (f"on, with {left} recovery codes left" if found.totp_salt else "off")
    return CommandAnswer([line], {"login": login, "enabled": bool(found.totp_salt), "recovery_codes_left": left})
