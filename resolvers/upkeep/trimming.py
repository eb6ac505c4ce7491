"""Trims timelines to their settings, after a limit was lowered or an age reached, and drops idle homes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from resolvers.homes import build
from resolvers.operation.inputs import batches
from store import keys, public_timelines, timelines
from store.client.database import Command, Database
from store.client.scan import named, scan

TRIMMED = 250  # homes trimmed per round trip

Progress = Callable[[int], object]  # called with the number of keys read since the last call


async def trim(db: Database, progress: Progress) -> Mapping[str, int]:
    """Trim homes, public and hashtags, and drop idle homes; returns how many entries or homes of each were removed."""
    from_homes = from_others = 0
    async for found in scan(db):
        for some in batches((thing for kind, thing in named(found) if kind == "homestate"), TRIMMED):
            from_homes += sum(await db.ask(*(timelines.trim_home(db, member) for member in some)))
        from_others += sum(await db.ask(*_bounds(db, found)))
        progress(len(found))
    return {
        "entries of homes": from_homes,
        "entries of public and hashtags": from_others,
        "idle homes": await build.let_go_idle(db),
    }


def _bounds(db: Database, found: Sequence[str]) -> list[Command]:
    tags = [key.removeprefix("hashtag:{").removesuffix("}") for key in found if key.startswith("hashtag:")]
    listed = [(keys.hashtag(tag), keys.important_hashtag(tag)) for tag in tags]
    if keys.public() in found:
        listed.append((keys.public(), keys.important_public()))
    return [public_timelines.list_command(db, one, ()) for one in listed]
