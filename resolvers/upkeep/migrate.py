"""The command `migrate`: makes the newest layout of an older one, step by step, while Perch serves.

A partition is finished once it was migrated while no older process ran: such a process may undo the migration of what
it writes. Beside older processes, partitions are migrated but not finished. The command has to run again after that.
It goes on where an interrupted one was.
"""

from dataclasses import dataclass

from resolvers.upkeep.commands import CommandAnswer, Show
from resolvers.upkeep.migrations import MIGRATIONS, Migration
from store.client.database import Database
from store.ids import PARTITIONS
from store.layout import processes, versions


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
