"""What is still to be done, and what has failed too often: for a person to look at and to decide."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from store import jobs
from store.client.database import Database
from store.ids import PARTITIONS, instant
from store.records import Job

ALL = "all"  # dead jobs

Progress = Callable[[int], object]  # how many partitions more have been looked at


@dataclass(slots=True)
class Backlog:
    """The jobs that are unfinished, by kind, with when the oldest was committed; and the dead ones, with since when."""

    kinds: Counter[str] = field(default_factory=Counter)
    oldest: dict[str, datetime] = field(default_factory=dict)
    dead: list[tuple[Job, datetime]] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield what a person reads of it."""
        for kind, count in self.kinds.most_common():
            yield f"{kind:18} {count:>11,}  the oldest for {_age(self.oldest[kind])}"
        for job, since in self.dead:
            yield f"dead since {since:%Y-%m-%d %H:%M:%S} UTC: {job.id} {job.kind} {json.dumps(job.body)}"
        yield f"{self.kinds.total():,} jobs are unfinished, {len(self.dead):,} have failed too often and are set aside"

    async def retry(self, db: Database, wanted: int | str) -> int:
        """Make one dead job, or all, fresh work, done under its own id from where it died; returns how many."""
        return sum([await jobs.retry(db, job.id) for job, _ in self.dead if wanted in {job.id, ALL}])

    async def discard(self, db: Database, wanted: int) -> int:
        """Remove a dead job for good; returns how many were removed."""
        return sum([await jobs.discard(db, job.id) for job, _ in self.dead if wanted == job.id])


async def look(db: Database, progress: Progress) -> Backlog:
    """Return the backlog of every partition; safe while workers go on."""
    found = Backlog()
    for p in range(PARTITIONS):
        async for batch in jobs.waiting(db, p):
            for job in batch:
                found.kinds[job.kind] += 1
                found.oldest[job.kind] = min(found.oldest.get(job.kind, instant(job.id)), instant(job.id))
        found.dead += await jobs.dead(db, p)
        progress(1)
    found.dead.sort(key=lambda entry: (entry[1], entry[0].id))
    return found


def _age(since: datetime) -> str:
    return f"{datetime.now(UTC) - since}".partition(".")[0]
