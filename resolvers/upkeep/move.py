"""Moves the data of a running server into an empty cluster, while that server keeps serving.

Every key is copied once, while changes are collected. Then keys that have changed are copied again, until few are left.
Then the server refuses writes, and the last changed keys are copied. At the end, both have the same keys.
"""

import time
import zlib
from collections.abc import AsyncIterator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from resolvers.jobs.worker import Worker
from resolvers.operation.inputs import batches
from resolvers.upkeep.commands import CommandAnswer, Show, UpkeepRefused, check, require_newest_layout
from store import jobs
from store.client import requirements
from store.client.database import Database, Unavailable
from store.client.requirements import UnsupportedServer
from store.ids import PARTITIONS
from store.settings import urls
from store.upkeep import comparing, scanning
from store.upkeep.copying import moving
from store.upkeep.copying.moving import MovedServer

FEW = 200  # changed keys that are left until writes are refused
ROUNDS = 20  # of copying changed keys again; on a busy site, more rounds would leave no fewer
COMPARED = 1_000  # keys whose content is compared
BATCH = 500  # keys read per round trip
HOMES = 1_000  # homes that `verify` computes anew

OPTIONS = {  # of the command line
    "--resume": "go on with an interrupted move: the target is not empty",
    "--one-server": "allow a target that is no cluster",
    "--skip-verify": "do not verify the target before the move ends",
    "--all-homes": "compute every home anew, to verify it",
    "--abandon": "let the server that was left accept writes again",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a move."""

    target: str
    resume: bool
    one_server: bool
    skip_verify: bool
    all_homes: bool


@dataclass(slots=True)
class MovedKeys:
    """What has been copied; times in s."""

    keys: int = 0
    again: int = 0  # keys that changed meanwhile
    rounds: int = 0
    sample: set[str] = field(default_factory=set)
    compared: int = 0
    began: float = field(default_factory=time.monotonic)
    refused: float = 0  # when the server began to refuse writes
    ended: float = 0  # when both sides were found equal

    def lines(self) -> list[str]:
        """Return the figures in words."""
        return [
            f"{self.keys:,} keys copied in {self.refused - self.began:,.1f} s",
            f"{self.again:,} keys that changed meanwhile copied again, in {self.rounds} rounds",
            f"{self.compared:,} keys compared in {self.ended - self.refused:,.1f} s: all are equal",
            f"writes have been refused for {time.monotonic() - self.refused:,.1f} s",
        ]

    def data(self) -> dict[str, Any]:
        """Return the figures."""
        now = time.monotonic()
        figures = {"keys": self.keys, "again": self.again, "rounds": self.rounds, "compared": self.compared}
        return {**figures, "seconds": now - self.began, "refusing_seconds": now - self.refused}


async def run(db: Database, show: Show, *, target: str | None, abandon: bool, **asked: bool) -> CommandAnswer:
    """Move the data into a target, or make the server accept writes again after that."""
    if abandon:
        return await _abandon(db)
    if not target:
        raise UpkeepRefused("TARGET_URL is needed, unless with --abandon")
    options = Options(target, **asked)
    try:
        async with _opened(db, options) as (source, opened):
            return await _move(db, source, opened, show, options)
    except (moving.MoveFailed, Unavailable) as error:
        again = "Run the command again with --resume." if "emptied" not in str(error) else ""
        raise UpkeepRefused(f"the move did not succeed: {error}. The server accepts writes. {again}".strip()) from error


async def _abandon(db: Database) -> CommandAnswer:
    """Make the server accept writes again, after a move whose target is not used, or that was killed."""
    try:
        was_refusing = await moving.accept_writes(db)
    except moving.MoveFailed as error:
        raise UpkeepRefused(str(error)) from error
    line = "the server accepts writes again" if was_refusing else "the server has accepted writes already"
    return CommandAnswer([line], {"was_refusing": was_refusing})


@asynccontextmanager
async def _opened(db: Database, options: Options) -> AsyncIterator[tuple[MovedServer, Database]]:
    """Open both sides; raises UpkeepRefused where the target may not be used."""
    try:
        urls.check(options.target)
    except urls.UrlRefused as rule:
        raise UpkeepRefused(f"TARGET_URL {rule}") from None
    if db.is_cluster:
        raise UpkeepRefused("the store is a cluster already")
    target = Database(options.target, replace(db.settings, redis_url=options.target))
    source = await MovedServer.open(db.nodes[0])
    try:
        await _check_target(db, target, options)
        yield source, target
    finally:
        await source.close()
        await target.close()


async def _check_target(db: Database, target: Database, options: Options) -> None:
    shown = urls.shown(options.target)
    if not options.skip_verify:
        await require_newest_layout(db)
    try:
        await requirements.check_version(target)
        await requirements.warn(target)
        found = await moving.servers(target)
    except (Unavailable, UnsupportedServer) as error:
        raise UpkeepRefused(f"{shown}: {error}") from error
    if await moving.run_id(db) in {server.run_id for server in found}:
        raise UpkeepRefused(f"{shown} is the server that is to be moved")
    if not target.is_cluster and not options.one_server:
        raise UpkeepRefused(f"{shown} is no cluster; --one-server moves to a single server")
    if (count := sum(server.keys for server in found)) and not options.resume:
        raise UpkeepRefused(f"{shown} is not empty: it has {count:,} keys; --resume goes on with an interrupted move")


async def _move(db: Database, source: MovedServer, target: Database, show: Show, options: Options) -> CommandAnswer:
    copied, is_moved = MovedKeys(), False
    await _copy_all(db, source, target, show, copied)
    if options.resume:
        await _delete_extra(source, db, target)
    while copied.rounds < ROUNDS and await _catch_up(source, target, copied) > FEW:
        pass
    copied.refused = time.monotonic()
    try:
        await moving.refuse_writes(db)
        await _finish(db, source, target, copied)
        await _work_off(target)
        report = None if options.skip_verify else await check(target, show, **_extent(options))
        is_moved = not (report and report.status)
    finally:
        if not is_moved:
            await _accept_writes(db)
    return _answer(copied, report, options)


async def _accept_writes(db: Database) -> None:
    try:
        await moving.accept_writes(db)
    except moving.MoveFailed as error:
        raise UpkeepRefused(f"{error}. It may refuse writes until it is restarted, or told with --abandon") from error


def _extent(options: Options) -> dict[str, Any]:
    return {"homes": HOMES, "all_homes": options.all_homes, "seed": 1}


async def _copy_all(db: Database, source: MovedServer, target: Database, show: Show, copied: MovedKeys) -> None:
    """Copy every key that there is."""
    total = await scanning.count(db)
    every = max(1, total // COMPARED)
    with show("keys", total) as bar:
        async for names in source.all_keys():
            await _copy(source, target, names)
            copied.keys += len(names)
            copied.sample |= {name for name in names if zlib.crc32(name.encode()) % every == 0}
            bar.update(len(names))


async def _copy(source: MovedServer, target: Database, names: Collection[str]) -> None:
    for some in batches(list(names), BATCH):
        values, gone = await source.values(some)
        await moving.restore(target, values, gone)


async def _catch_up(source: MovedServer, target: Database, copied: MovedKeys) -> int:
    """Copy the keys that have changed; returns how many they were."""
    await source.synchronise()
    changed = source.take_changed()
    await _copy(source, target, changed)
    copied.rounds += 1
    copied.again += len(changed)
    return len(changed)


async def _finish(db: Database, source: MovedServer, target: Database, copied: MovedKeys) -> None:
    """Copy what has changed last, and compare both sides, while no write is accepted."""
    await _catch_up(source, target, copied)
    await _copy(source, target, source.streams)
    if await _sizes_differ(db, source, target):
        await _delete_extra(source, db, target)
        await _copy_missing(source, target, db)
        await _catch_up(source, target, copied)
        if await _sizes_differ(db, source, target):
            raise moving.MoveFailed("the numbers of keys differ")
    names = sorted(copied.sample | source.streams)
    for some in batches(names, BATCH // 10):
        if unequal := await comparing.differing(db, target, some):
            raise moving.MoveFailed(f"{len(unequal)} keys differ, {unequal[0]!r} among them")
    copied.compared, copied.ended = len(names), time.monotonic()


async def _work_off(target: Database) -> None:
    """Finish the jobs that the last writes have left. Nobody but this command works on the target."""
    target.unfinished.put_back([], set(range(PARTITIONS)))
    await jobs.hand_over_unfinished(target)
    while await Worker(target).run_once():
        pass


async def _sizes_differ(db: Database, source: MovedServer, target: Database) -> bool:
    """Return whether the numbers of keys that never expire differ. The others may expire on one side first."""
    return await comparing.lasting_keys(db, source.number) != await comparing.lasting_keys(target, source.number)


async def _copy_missing(source: MovedServer, target: Database, db: Database) -> None:
    """Copy the keys that the target does not have."""
    async with aclosing(moving.all_keys(db)) as found:
        async for names in found:
            await _copy(source, target, await moving.missing(target, names))


async def _delete_extra(source: MovedServer, db: Database, target: Database) -> None:
    """Delete the keys of the target that the server does not have. One that appears meanwhile is copied as a change."""
    async with aclosing(moving.all_keys(target)) as found:
        async for names in found:
            await _copy(source, target, await moving.missing(db, names))


def _answer(copied: MovedKeys, report: CommandAnswer | None, options: Options) -> CommandAnswer:
    lines = copied.lines() + (report.lines if report else [])
    if report and report.status:
        lines.append("The target is not used: the server that is left accepts writes again.")
        return CommandAnswer(lines, {**copied.data(), "verify": report.data, "moved": False}, 1)
    lines += [
        "The server that is left answers reads, and refuses writes. Now start Perch again with",
        f"  REDIS_URL={urls.shown(options.target)}",
        "and the SECRET_KEY that it has had; for the embedded store, that is the content of DATA_DIR/secret.key.",
        "To go back instead, run this command with --abandon: the server accepts writes again.",
    ]
    return CommandAnswer(lines, {**copied.data(), "verify": report and report.data, "moved": True})
