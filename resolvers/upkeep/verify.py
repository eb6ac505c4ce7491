"""Checks the store's invariants and repairs findings. It is safe while Perch serves requests."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from resolvers.operation.inputs import batches
from resolvers.upkeep.invariants import names
from resolvers.upkeep.invariants import timelines as scored
from resolvers.upkeep.invariants.homes import homes_equal
from store import jobs, kinds
from store.client.database import Database
from store.kinds import KeyKind
from store.pictures.images import MESSAGE, STATUS, USER
from store.upkeep import (
    comments,
    conversations,
    counters,
    exports,
    groups,
    homes,
    lists,
    mail,
    members,
    moderation,
    notifications,
    objects,
    pictures,
    posts,
    promotions,
    references,
    relationships,
    search,
    timelines,
)
from store.upkeep.findings import Check, Finding, SiteCheck, examine
from store.upkeep.malformed import malformed, run_repairs
from store.upkeep.scanning import KeyBatch, scan, sort

CHECKED = 250  # entities checked per step
REPAIRED = 100  # findings repaired per round trip
SHOWN = 100  # findings printed

Progress = Callable[[int], object]  # called with the number of keys read since the last call

# What follows from no declaration.
OTHER_CHECKS: Mapping[KeyKind, tuple[Check, ...]] = {
    kinds.USER: (members.users, search.magnitudes, names.indexed, posts.pinned, pictures.copies(USER)),
    kinds.EXPORTS: (exports.expiring(kinds.EXPORTS),),
    kinds.EXPORT_STREAM: (exports.expiring(kinds.EXPORT_STREAM),),
    kinds.REQUESTS: (relationships.requests,),
    kinds.BLOCKED: (relationships.blocked,),
    kinds.STATUS: (
        scored.unlisted,
        posts.listed,
        references.existent(kinds.STATUS),
        pictures.copies(STATUS),
    ),
    kinds.PROFILE: (posts.profiles,),
    kinds.REPOSTED: (posts.reposted,),
    kinds.THREAD: (posts.threads,),
    kinds.COMMENT: (references.existent(kinds.COMMENT), comments.comments),
    kinds.CONVERSATION: (conversations.conversations, conversations.entries),
    kinds.MESSAGE: (conversations.messages, pictures.copies(MESSAGE)),
    **dict.fromkeys(
        (kinds.CONVERSATIONS, kinds.CONVERSATION_STATE, kinds.UNREAD_CONVERSATIONS), (conversations.listed,)
    ),
    kinds.HOME: (homes.stateless,),
    kinds.HOME_STATE: (homes.home_bounds,),
    kinds.NOTIFICATIONS: (notifications.notifications,),
    kinds.MENTIONS: (notifications.mentions,),
    kinds.GROUP: (groups.groups,),
    kinds.GROUP_REQUESTS: (groups.excluded(kinds.GROUP_REQUESTS),),
    kinds.GROUP_INVITATIONS: (groups.excluded(kinds.GROUP_INVITATIONS),),
    kinds.GROUP_BANNED: (groups.excluded(kinds.GROUP_BANNED),),
    kinds.GROUP_CHANGES: (groups.logs,),
    kinds.REPORT: (moderation.reports,),
    kinds.REPORT_MESSAGES: (moderation.messages,),
    kinds.EVIDENCE: (moderation.evidence,),
    kinds.CASE: (moderation.cases,),
    kinds.MODERATION_ACT: (moderation.acts,),
    kinds.REMOVED_TEXT: (moderation.removed_texts,),
    kinds.MAIL_TOKENS: (mail.tokens,),
    kinds.IMAGE: (pictures.records, objects.forms),
}
CHECKS = {kind: (*lists.declared(kind), *OTHER_CHECKS.get(kind, ())) for kind in kinds.KINDS}

# Checks of keys that no single id names, by the names of their kinds.
SITE_CHECKS: Mapping[tuple[str, ...], SiteCheck] = {
    ("public", "hashtag"): timelines.timelines,
    ("important_public", "important_hashtag"): scored.rankings,
    ("outbox", "mails"): mail.waiting,
    ("uploads",): pictures.waiting,
    ("sent",): conversations.hanging_lists,
    ("conversation_of",): conversations.hanging_holders,
    ("big",): members.big,
    ("promotion", "promotions"): promotions.promotions,
    ("group_directory",): groups.directory,
    ("indexed",): names.left_over,
    ("names",): search.strays,
    ("open_cases",): moderation.open_subjects,
    ("cases",): moderation.case_lists,
    ("moderation_log", "log_head"): moderation.log,
    ("login", "email"): members.names,
}


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of checking the whole store."""

    findings: list[Finding]
    keys: int
    homes: int
    unfinished_jobs: int
    dead_jobs: int
    objects: "objects.Totals" = field(default_factory=objects.Totals)

    @property
    def clean(self) -> bool:
        return not self.findings and not self.dead_jobs and not self.objects.orphans

    def lines(self) -> Iterator[str]:
        """Yield the report as text, a line for each finding."""
        for finding in self.findings[:SHOWN]:
            yield f"{finding.key}: {finding.message}"
        if len(self.findings) > SHOWN:
            yield f"and {len(self.findings) - SHOWN:,} more"
        yield f"{self.keys:,} keys and {self.homes:,} homes checked: {len(self.findings):,} findings"
        yield from self.objects.lines()
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
            "objects": self.objects.count,
            "objectBytes": self.objects.bytes,
            "orphanedObjects": self.objects.orphans,
            "orphanedBytes": self.objects.orphan_bytes,
        }


async def verify(db: Database, *, homes: int | None, seed: int, progress: Progress) -> VerifyReport:
    """Check every key, and compare `homes` homes (None: all) with what rule 3 computes.

    A change under way looks wrong for a moment, so a finding counts only if a second check finds it too. Findings that
    persist while jobs are unfinished may be what these jobs have still to do.
    """
    findings: list[Finding] = []
    owners: list[int] = []
    seen = 0
    async for batch in scan(db):
        findings += await _check(db, batch)
        owners += batch.of(kinds.HOME_STATE)
        seen += batch.count
        progress(batch.count)
    chosen = owners if homes is None else random.Random(seed).sample(owners, min(homes, len(owners)))  # noqa: S311
    for some in batches(chosen, CHECKED):
        findings += await examine(partial(homes_equal, db), some, kinds.HOME.key)
    again = await _confirm(db, findings)
    backlog, dead = await jobs.backlog(db)
    return VerifyReport(again, seen, len(chosen), backlog, dead, await objects.listed(db))


async def repair(db: Database, findings: Sequence[Finding]) -> int:
    """Run the repairs of findings; returns how many were done. Each is idempotent, and none undoes live changes.

    A repair that a malformed value stops is not done. It may be in the next round, once that value is mended.
    """
    done = 0
    for batch in batches([finding for finding in findings if finding.repair], REPAIRED):
        commands = [command for finding in batch for command in finding.repair]
        stopped = iter(await run_repairs(db, commands))
        done += sum(True not in [next(stopped) for _ in finding.repair] for finding in batch)
    return done


async def remove_orphans(db: Database, report: VerifyReport) -> int:
    """Remove the objects that belong to nothing; returns how many there were. Raises MediaUnavailable."""
    for path in report.objects.orphans:
        await db.media.remove(path)
    return len(report.objects.orphans)


async def recount(db: Database, progress: Progress) -> dict[str, int]:
    """Set every counter of records to the size of its set; returns how many were checked, and `wrong`.

    Each counter is set in one atomic step, so no concurrent change is counted twice or missed.
    """
    found = Counter(dict.fromkeys((*(f"{record.noun}s" for record in counters.COUNTING), "wrong"), 0))
    async for batch in scan(db):
        for record in counters.COUNTING:
            owners = batch.of(record)
            steps = [command for owner in owners for command in counters.recount(record, owner)]
            found.update({f"{record.noun}s": len(owners), "wrong": sum(await db.ask(*steps))})
        progress(batch.count)
    return found


async def _confirm(db: Database, findings: Sequence[Finding]) -> list[Finding]:
    if not findings:
        return []
    touched = sort(list(dict.fromkeys(finding.key for finding in findings)))
    again = await _check(db, touched)
    # A key may be checked together with another one (sources with their home), and the finding has that one's name.
    bounded = touched.of(kinds.HOME, kinds.SOURCES)
    for check, owners in ((homes_equal, touched.of(kinds.HOME)), (homes.home_bounds, bounded)):
        again += await examine(partial(check, db), owners, kinds.HOME.key)
    first = set(findings)
    return [finding for finding in dict.fromkeys(again) if finding in first]


async def _check(db: Database, found: KeyBatch) -> list[Finding]:
    findings: list[Finding] = []
    for some in batches(found.keys, CHECKED):
        findings += await malformed(db, some)
    if unreadable := {finding.key for finding in findings if finding.is_unreadable}:
        found = sort([key for key in found.keys if key not in unreadable])
    for kind, owners in found.owners.items():
        for check in CHECKS[kind]:
            for batch in batches(owners, CHECKED):
                findings += await examine(partial(check, db), batch, kind.key)
    for names_of_kinds, of_site in SITE_CHECKS.items():
        findings += await examine(partial(of_site, db), found.others_of(*names_of_kinds), str)
    return findings
