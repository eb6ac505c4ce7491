"""The backlog: unfinished jobs by kind, and dead jobs that an operator may retry or discard."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from store import jobs
from store.client.database import Database
from store.ids import PARTITIONS, instant
from store.records.jobs import DeadJob

ALL = "all"  # retry every dead job

Progress = Callable[[int], object]  # called with the number of partitions read since the last call


@dataclass(slots=True)
class Backlog:
    """Unfinished jobs by kind, with the commit time of the oldest; and dead jobs."""

    kinds: Counter[str] = field(default_factory=Counter)
    oldest: dict[str, datetime] = field(default_factory=dict)
    dead: list[DeadJob] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the backlog as text, a line for each kind and each dead job."""
        for kind, count in self.kinds.most_common():
            yield f"{kind:18} {count:>11,}  the oldest for {_age(self.oldest[kind])}"
        for job in self.dead:
            yield f"dead since {job.since:%Y-%m-%d %H:%M:%S} UTC: {job.id} {job.kind} {json.dumps(job.body)}"
        yield f"{self.kinds.total():,} jobs are unfinished, {len(self.dead):,} have failed too often and are set aside"

    def data(self) -> dict[str, Any]:
        """Return the same for programs; times are in ISO 8601."""
        return {
            "unfinished": [
                {"kind": kind, "count": count, "oldest": self.oldest[kind].isoformat()}
                for kind, count in self.kinds.most_common()
            ],
            "dead": [
                {"id": str(job.id), "kind": job.kind, "body": job.body, "since": job.since.isoformat()}
                for job in self.dead
            ],
        }

    async def retry(self, db: Database, wanted: int | str) -> int:
        """Put one dead job, or all, back to work, with its own id and from its last checkpoint; returns how many."""
        return sum([await jobs.retry(db, job.id) for job in self.dead if wanted in {job.id, ALL}])

    async def discard(self, db: Database, wanted: int) -> int:
        """Remove a dead job for good; returns how many were removed."""
        return sum([await jobs.discard(db, job.id) for job in self.dead if wanted == job.id])


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
    found.dead.sort(key=lambda job: (job.since, job.id))
    return found


def _age(since: datetime) -> str:
    return f"{datetime.now(UTC) - since}".partition(".")[0]
