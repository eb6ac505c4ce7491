"""The command `migrate`: makes the newest layout of an older one, step by step, while Perch serves.

A partition is finished once it was migrated while no older process ran: such a process may undo the migration of what
it writes. Beside older processes, partitions are migrated but not finished. The command has to run again after that.
It goes on where an interrupted one was.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from resolvers.homes import build
from resolvers.upkeep.commands import CommandAnswer, Show
from resolvers.upkeep.invariants.homes import homes_equal
from store import kinds
from store.client.database import Database
from store.ids import PARTITIONS
from store.kinds import KeyKind
from store.layout import event_contents, hashtags, likes, processes, versions
from store.upkeep import conversations, homes
from store.upkeep.scanning import scan


class Migration(NamedTuple):
    """How one layout is made from the one before. Each step returns the number of values that it has rewritten.

    A step can be repeated, and runs while members write. A process of the older layout can read what it writes.
    """

    layout: int  # that it makes
    does: str  # what it does, for operators
    partition: Callable[[Database, int], Awaitable[int]] | None = None  # migrates what can be found in a partition
    site: Callable[[Database], Awaitable[int]] | None = None  # migrates what only a scan of all keys finds, at first


async def rebuild_homes(db: Database, p: int) -> int:
    """Build each home of a partition again that differs from what it should be; returns their number."""
    rewritten = 0
    for member in await homes.owners(db, p):
        if await homes_equal(db, [member]):
            await build.rebuild(db, member)
            rewritten += 1
    return rewritten


def _each(
    kind: KeyKind, rewrite: Callable[[Database, Sequence[int]], Awaitable[int]]
) -> Callable[[Database], Awaitable[int]]:
    """Return the step that rewrites all keys of a kind, whose owners are given in batches."""

    async def step(db: Database) -> int:
        return sum([await rewrite(db, batch.of(kind)) async for batch in scan(db)])

    return step


MIGRATIONS = (  # in their order
    Migration(2, "homes follow the rule by which reposts lift posts", partition=rebuild_homes),
    Migration(3, "a # is before each hashtag of a post", site=_each(kinds.STATUS, hashtags.rewrite)),
    Migration(4, "the event log has no texts and places", site=event_contents.trim),
    Migration(5, "likes of a post on a day have one notification", site=_each(kinds.NOTIFICATIONS, likes.group)),
    Migration(
        6, "messages of muted members are not unread", site=_each(kinds.CONVERSATION, conversations.reapply_muting)
    ),
)


@dataclass(slots=True)
class Migrated:
    """What one migration has done."""

    rewritten: int = 0
    unfinished: int = 0  # partitions that were migrated beside older processes
    older: int = 0  # the most of these processes at one time


async def run(db: Database, show: Show) -> CommandAnswer:
    """Run every migration that the store's layout has not had; the exit status is 1 if older processes ran."""
    layout, lines = await versions.current(db), list[str]()
    data: dict[str, object] = {"layout": layout, "newest": versions.NEWEST}
    for migration in MIGRATIONS:
        if migration.layout <= layout:
            continue
        done = await _migrate(db, show, migration)
        lines.append(f"layout {migration.layout}: {migration.does}: {done.rewritten:,} rewritten")
        if done.unfinished:
            lines.append(_waiting(migration, done))
            return CommandAnswer(lines, {**data, "unfinished": done.unfinished, "older_processes": done.older}, 1)
        await versions.finish(db, migration.layout)
        data["layout"] = migration.layout
    if not lines:
        lines.append(f"the store has layout {layout} already, the newest that this Perch knows")
    return CommandAnswer(lines, {**data, "unfinished": 0, "older_processes": 0})


async def _migrate(db: Database, show: Show, migration: Migration) -> Migrated:
    result, finished = Migrated(), await versions.migrated(db, migration.layout)
    left = sorted({*range(PARTITIONS)} - finished)
    with show("partitions", PARTITIONS) as bar:
        bar.update(len(finished))
        older = await processes.older(db, migration.layout)
        if migration.site:
            result.rewritten += await migration.site(db)
        for p in left:
            if migration.partition:
                older = await processes.older(db, migration.layout)
                result.rewritten += await migration.partition(db, p)
            if found := older or await versions.finish_partition(db, p, migration.layout):
                result.older = max(result.older, found)
                result.unfinished += 1
            bar.update(1)
    return result


def _waiting(migration: Migration, done: Migrated) -> str:
    return (
        f"{done.unfinished:,} partitions are not finished, because {done.older} processes that do not know layout "
        f"{migration.layout} run: stop these, then run the command again"
    )
