"""Trims timelines to their settings, after a limit was lowered or an age reached, and drops idle homes."""

from collections.abc import Callable, Mapping

from resolvers.homes import build
from resolvers.operation.inputs import batches
from store import kinds
from store.client.database import Database
from store.homes import stored
from store.upkeep.scanning import scan
from store.upkeep.timelines import StoredTimeline
from store.upkeep.timelines import trim as trim_timeline

TRIMMED = 250  # homes trimmed per round trip

Progress = Callable[[int], object]  # called with the number of keys read since the last call


async def trim(db: Database, progress: Progress) -> Mapping[str, int]:
    """Trim homes, public and hashtags, and drop idle homes; returns how many entries or homes of each were removed."""
    from_homes = from_others = 0
    async for found in scan(db):
        for some in batches(found.of(kinds.HOME_STATE), TRIMMED):
            from_homes += sum(await db.ask(*(stored.trim_home(db, member) for member in some)))
        timelines = [StoredTimeline.of(key) for key in found.others_of("public", "hashtag")]
        from_others += sum(await db.ask(*(trim_timeline(db, timeline) for timeline in timelines)))
        progress(found.count)
    return {
        "entries of homes": from_homes,
        "entries of public and hashtags": from_others,
        "idle homes": await build.let_go_idle(db),
    }
