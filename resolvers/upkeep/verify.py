"""Checks the store's invariants and repairs findings. It is safe while Perch serves requests."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from resolvers.operation.inputs import batches
from resolvers.upkeep.invariants import (
    favourites,
    importance,
    lists,
    members,
    names,
    notifications,
    orphans,
    pins,
    posts,
    promotions,
    relationships,
    replies,
)
from resolvers.upkeep.invariants.findings import Check, Finding, recount_post, recount_user
from resolvers.upkeep.invariants.homes import home_bounds, homes_equal
from store import jobs, keys
from store.client.database import Command, Database
from store.client.scan import named, scan

CHECKED = 250  # entities checked per step
REPAIRED = 100  # findings repaired per round trip
SHOWN = 100  # findings printed

Progress = Callable[[int], object]  # called with the number of keys read since the last call

CHECKS: dict[str, tuple[Check, ...]] = {
    "user": (members.users, names.indexed, pins.pinned),
    "following": (relationships.following,),
    "followers": (relationships.followers,),
    "requested": (relationships.requested,),
    "requests": (relationships.requests,),
    "blocked": (relationships.blocked,),
    "blocked-by": (relationships.blocked_by,),
    "status": (posts.statuses, replies.listed, orphans.posts),
    "profile": (posts.profiles,),
    "reposted": (posts.reposted,),
    "likes": (lists.hanging(keys.likes), orphans.likes),
    "comments": (lists.hanging(keys.comments), lists.comment_lists),
    "quotes": (lists.hanging(keys.quotes), lists.quotes),
    "replies": (lists.hanging(keys.replies), lists.replies),
    "thread": (replies.threads,),
    "reposts": (lists.hanging(keys.reposts), lists.reposts),
    "favourites": (favourites.favourites,),
    "favouriters": (lists.hanging(keys.favouriters), favourites.favouriters),
    "commenters": (lists.hanging(keys.commenters), orphans.commenters),
    "comment": (lists.comments, orphans.comments),
    "homestate": (home_bounds,),
    "notifications": (notifications.owners, notifications.notifications),
    "withdrawn-notifications": (notifications.owners,),
    "notification-state": (notifications.owners,),
    "mentions": (notifications.owners, notifications.mentions),
}


COUNTED = {"user": recount_user, "status": recount_post}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of checking the whole store."""

    findings: list[Finding]
    keys: int
    homes: int
    unfinished_jobs: int
    dead_jobs: int

    @property
    def clean(self) -> bool:
        return not self.findings and not self.dead_jobs

    def lines(self) -> Iterator[str]:
        """Yield the report as text, a line for each finding."""
        for finding in self.findings[:SHOWN]:
            yield f"{finding.key}: {finding.message}"
        if len(self.findings) > SHOWN:
            yield f"and {len(self.findings) - SHOWN:,} more"
        yield f"{self.keys:,} keys and {self.homes:,} homes checked: {len(self.findings):,} findings"
        if self.unfinished_jobs:
            yield f"{self.unfinished_jobs:,} jobs are unfinished: a worker does them, after which findings may be gone"
        if self.dead_jobs:
            yield f"{self.dead_jobs:,} jobs have failed too often and are set aside"

    def data(self) -> dict[str, Any]:
        """Return the same for programs, with every finding."""
        return {
            "keys": self.keys,
            "homes": self.homes,
            "findings": [{"key": finding.key, "message": finding.message} for finding in self.findings],
            "unfinishedJobs": self.unfinished_jobs,
            "deadJobs": self.dead_jobs,
        }


async def verify(db: Database, *, homes: int | None, seed: int, progress: Progress) -> Report:
    """Check every key, and compare `homes` homes (None: all) with what rule 3 computes.

    A change under way looks wrong for a moment, so a finding counts only if a second check finds it too. Findings that
    persist while jobs are unfinished may be what these jobs have still to do.
    """
    findings: list[Finding] = []
    owners: list[int] = []
    seen = 0
    async for batch in scan(db):
        findings += await _check(db, batch)
        owners += [thing for kind, thing in named(batch) if kind == "homestate"]
        seen += len(batch)
        progress(len(batch))
    chosen = owners if homes is None else random.Random(seed).sample(owners, min(homes, len(owners)))  # noqa: S311
    for some in batches(chosen, CHECKED):
        findings += await homes_equal(db, some)
    again = await _confirm(db, findings)
    backlog, dead = await jobs.backlog(db)
    return Report(again, seen, len(chosen), backlog, dead)


async def repair(db: Database, findings: Sequence[Finding]) -> int:
    """Run the repairs of findings; returns how many have one. Each is idempotent, and none undoes live changes."""
    mendable = [finding for finding in findings if finding.repair]
    for batch in batches(mendable, REPAIRED):
        await db.ask(*(command for finding in batch for command in finding.repair))
    return len(mendable)


async def recount(db: Database, progress: Progress) -> dict[str, int]:
    """Set every counter of members and posts to the size of its set; returns how many were checked, and `wrong`.

    Each counter is set in one atomic step, so no concurrent change is counted twice or missed.
    """
    found = Counter(user=0, status=0, wrong=0)
    async for batch in scan(db):
        steps: list[Command] = []
        for kind, thing in named(batch):
            if kind in COUNTED:
                steps += COUNTED[kind](thing)
                found[kind] += 1
        found["wrong"] += sum(await db.ask(*steps))
        progress(len(batch))
    return found


async def _confirm(db: Database, findings: Sequence[Finding]) -> list[Finding]:
    if not findings:
        return []
    touched = list(dict.fromkeys(finding.key for finding in findings))
    again = await _check(db, touched)
    again += await homes_equal(db, [thing for kind, thing in named(touched) if kind == "home"])
    # A key may be checked together with another one (sources with their home), and the finding has that one's name.
    again += await home_bounds(db, [thing for kind, thing in named(touched) if kind in {"home", "sources"}])
    first = set(findings)
    return [finding for finding in dict.fromkeys(again) if finding in first]


async def _check(db: Database, found: Sequence[str]) -> list[Finding]:
    kinds: dict[str, list[int]] = defaultdict(list)
    findings: list[Finding] = []
    for kind, thing in named(found):
        kinds[kind].append(thing)
    for kind, things in kinds.items():
        for check in CHECKS.get(kind, ()):
            for batch in batches(things, CHECKED):
                findings += await check(db, batch)
    for key in found:
        if key == keys.public():
            findings += await lists.timeline_entries(db, key, db.settings.public_size)
        elif key.startswith("hashtag:"):
            findings += await lists.timeline_entries(db, key, db.settings.hashtag_size)
        elif key.startswith("important:"):
            findings += await importance.ranked_entries(db, key)
    findings += await promotions.promotions(db, found)
    findings += await names.left_over(db, found)
    findings += await orphans.names(db, [key for key in found if key.startswith(("login:", "email:"))])
    return findings
