"""Proves that the store keeps its invariants, and mends it where it does not; safe on a live system."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from resolvers import home_invariants, importance_invariants, invariants, orphan_invariants
from resolvers.inputs import batches
from resolvers.invariants import Check, Finding
from resolvers.promotion_invariants import promotions
from store import jobs, keys
from store.connection import Command, Database

SCANNED = 2_000  # keys looked for per step
CHECKED = 250  # things checked per step
REPAIRED = 100  # findings mended per round trip
SHOWN = 100  # findings printed
_KEY = re.compile(r"([a-z-]+):\{\d+\}:(\d+)")

Progress = Callable[[int], object]  # how many keys more have been looked at

CHECKS: dict[str, tuple[Check, ...]] = {
    "user": (invariants.users,),
    "following": (invariants.following,),
    "followers": (invariants.followers,),
    "status": (invariants.statuses, orphan_invariants.posts),
    "profile": (invariants.profiles,),
    "reposted": (invariants.reposted,),
    "likes": (invariants.hanging(keys.likes), orphan_invariants.likes),
    "comments": (invariants.hanging(keys.comments), invariants.comment_lists),
    "quotes": (invariants.hanging(keys.quotes), invariants.quotes),
    "reposts": (invariants.hanging(keys.reposts), invariants.reposts),
    "commenters": (invariants.hanging(keys.commenters), orphan_invariants.commenters),
    "comment": (invariants.comments, orphan_invariants.comments),
    "homestate": (home_invariants.home_bounds,),
}


COUNTED: dict[str, tuple[Callable[[int], str], Mapping[str, Callable[[int], str]]]] = {
    "user": (keys.user, invariants.COUNTED_BY_USER),
    "status": (keys.status, invariants.COUNTED_BY_POST),
}


@dataclass(frozen=True, slots=True)
class Report:
    """What a look over the whole store has found."""

    findings: list[Finding]
    keys: int
    homes: int
    unfinished_jobs: int
    dead_jobs: int

    @property
    def clean(self) -> bool:
        return not self.findings and not self.dead_jobs

    def lines(self) -> Iterator[str]:
        """Yield what a person reads of it."""
        for finding in self.findings[:SHOWN]:
            yield f"{finding.key}: {finding.message}"
        if len(self.findings) > SHOWN:
            yield f"and {len(self.findings) - SHOWN:,} more"
        yield f"{self.keys:,} keys and {self.homes:,} homes checked: {len(self.findings):,} findings"
        if self.unfinished_jobs:
            yield f"{self.unfinished_jobs:,} jobs are unfinished: a worker does them, after which findings may be gone"
        if self.dead_jobs:
            yield f"{self.dead_jobs:,} jobs have failed too often and are set aside"


async def verify(db: Database, *, homes: int | None, seed: int, progress: Progress) -> Report:
    """Check every key, and as many homes as asked for (None is all) against what rule 3 makes of them.

    What is under way looks wrong for a moment, so a finding counts only if it is found again. Repeated findings while
    jobs are unfinished are what these jobs have still to do.
    """
    findings: list[Finding] = []
    members: list[int] = []
    seen = 0
    async for batch in _scan(db):
        findings += await _check(db, batch)
        members += [thing for kind, thing in _named(batch) if kind == "homestate"]
        seen += len(batch)
        progress(len(batch))
    chosen = members if homes is None else random.Random(seed).sample(members, min(homes, len(members)))  # noqa: S311
    for some in batches(chosen, CHECKED):
        findings += await home_invariants.homes_equal(db, some)
    again = await _confirm(db, findings)
    backlog, dead = await jobs.backlog(db)
    return Report(again, seen, len(chosen), backlog, dead)


async def repair(db: Database, findings: Sequence[Finding]) -> int:
    """Mend what findings name; returns how many have a repair. Each can be repeated, and none undoes live work."""
    mendable = [finding for finding in findings if finding.repair]
    for batch in batches(mendable, REPAIRED):
        await db.ask(*(command for finding in batch for command in finding.repair))
    return len(mendable)


async def recount(db: Database, progress: Progress) -> dict[str, int]:
    """Set every counter of members and posts to the size of its set; returns how many were looked at, and `wrong`.

    Each is one step, so that nothing that happens meanwhile is counted twice or not at all.
    """
    found = Counter(user=0, status=0, wrong=0)
    async for batch in _scan(db):
        steps: list[Command] = []
        for kind, thing in _named(batch):
            if kind in COUNTED:
                key, counters = COUNTED[kind]
                steps += [invariants.recount(key(thing), counted(thing), name) for name, counted in counters.items()]
                found[kind] += 1
        found["wrong"] += sum(await db.ask(*steps))
        progress(len(batch))
    return found


async def _confirm(db: Database, findings: Sequence[Finding]) -> list[Finding]:
    if not findings:
        return []
    touched = list(dict.fromkeys(finding.key for finding in findings))
    again = await _check(db, touched)
    again += await home_invariants.homes_equal(db, [thing for kind, thing in _named(touched) if kind == "home"])
    # A key may be checked for another one's sake (sources with their home): those are found again under that name.
    again += await home_invariants.home_bounds(
        db, [thing for kind, thing in _named(touched) if kind in {"home", "sources"}]
    )
    first = set(findings)
    return [finding for finding in dict.fromkeys(again) if finding in first]


async def _scan(db: Database) -> AsyncIterator[list[str]]:
    cursor = "0"
    while True:
        cursor, found = await db.one("SCAN", cursor, "COUNT", SCANNED)
        yield found
        if cursor == "0":
            return


async def _check(db: Database, found: Sequence[str]) -> list[Finding]:
    kinds: dict[str, list[int]] = defaultdict(list)
    findings: list[Finding] = []
    for kind, thing in _named(found):
        kinds[kind].append(thing)
    for kind, things in kinds.items():
        for check in CHECKS.get(kind, ()):
            for batch in batches(things, CHECKED):
                findings += await check(db, batch)
    for key in found:
        if key == keys.public():
            findings += await invariants.timeline_entries(db, key, db.settings.public_size)
        elif key.startswith("hashtag:"):
            findings += await invariants.timeline_entries(db, key, db.settings.hashtag_size)
        elif key.startswith("important:"):
            findings += await importance_invariants.ranked_entries(db, key)
    findings += await promotions(db, found)
    findings += await orphan_invariants.names(db, [key for key in found if key.startswith(("login:", "email:"))])
    return findings


def _named(found: Iterable[str]) -> Iterator[tuple[str, int]]:
    for key in found:
        match = _KEY.fullmatch(key)
        if match:
            yield match[1], int(match[2])
