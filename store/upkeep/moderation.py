"""Reports, cases and the moderation log: what is stored of each, and the commands that repair it."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.ids import first_of
from store.keys.fields import CaseField, EvidenceField, LogHeadField, ModerationActField, ReportField
from store.kinds import KeyKind
from store.moderation.log import kept_seconds
from store.moderation.records import ReportState, read_messages
from store.records.lists import Entry, read_entries, read_pairs

LOG, HEAD = keys.moderation_log(), keys.log_head()
OPEN_CASES = keys.open_cases()
LISTS = tuple(keys.cases(state.value) for state in ReportState)


class CaseFacts(Struct, frozen=True):
    """A case, its number of reports, where it is listed, and whether it expires."""

    id: int
    state: str | None  # None without the case
    subject: str
    reports: int
    open_as: int | None  # the open case of its subject
    listed: int | None  # its number of reports in the list of open cases
    expires: bool

    @property
    def key(self) -> str:
        """Return the key of the case."""
        return keys.case(self.id)


async def cases(db: Database, ids: Collection[int]) -> list[CaseFacts]:
    """Return the facts about some cases, existing or not. Two round trips."""
    replies = iter(
        await db.ask(
            *(
                command
                for case in ids
                for command in (
                    ("HMGET", keys.case(case), CaseField.STATE, CaseField.SUBJECT),
                    ("ZCARD", keys.case_reports(case)),
                    ("ZSCORE", keys.cases(ReportState.OPEN.value), case),
                    ("TTL", keys.case(case)),
                )
            )
        )
    )
    read = list(zip(ids, *[replies] * 4, strict=True))
    subjects = await db.ask(*(("HGET", OPEN_CASES, record[1] or "") for _, record, *_ in read))
    return [
        CaseFacts(case, record[0], record[1] or "", int(count), _number(current), _number(listed), int(ttl) >= 0)
        for (case, record, count, listed, ttl), current in zip(read, subjects, strict=True)
    ]


def _number(text: str | None) -> int | None:
    return None if text is None else int(float(text))


def open_case(case: CaseFacts) -> list[Command]:
    """Return the commands that list an open case."""
    return [
        ("HSET", OPEN_CASES, case.subject, case.id),
        ("ZADD", keys.cases(ReportState.OPEN.value), case.reports, case.id),
    ]


def close_case(db: Database, case: CaseFacts) -> list[Command]:
    """Return the commands that remove a resolved case from those that are open, and let it expire."""
    ends = [("HDEL", OPEN_CASES, case.subject)] if case.open_as == case.id else []
    expiring = [("EXPIRE", key(case.id), kept_seconds(db), "NX") for key in (keys.case, keys.case_reports)]
    return [*ends, ("ZREM", keys.cases(ReportState.OPEN.value), case.id), *expiring]


async def open_subjects(db: Database) -> dict[str, int]:
    """Return all subjects with an open case. One round trip."""
    return {subject: int(case) for subject, case in read_pairs(await db.one("HGETALL", OPEN_CASES)).items()}


def close_subject(subject: str) -> Command:
    """Return the command that forgets the open case of a subject."""
    return ("HDEL", OPEN_CASES, subject)


async def listed(db: Database, cases_list: str) -> list[Entry]:
    """Return all cases in a list. One round trip."""
    return read_entries(await db.one("ZRANGE", cases_list, 0, -1, "WITHSCORES"))


def oldest_listed(db: Database) -> int:
    """Return the act that resolved the oldest case that still has to be there."""
    return first_of(datetime.now(UTC) - timedelta(seconds=kept_seconds(db)))


def unlist(cases_list: str, case: int) -> Command:
    """Return the command that removes a case from a list."""
    return ("ZREM", cases_list, case)


class ReportFacts(Struct, frozen=True):
    """A report, and whether its case exists and lists it, or another one by the same member."""

    id: int
    case: int  # 0 without the report
    reporter: str
    has_case: bool
    listed: int | None  # the member's report in the case

    @property
    def key(self) -> str:
        """Return the key of the report."""
        return keys.report(self.id)


async def reports(db: Database, ids: Sequence[int]) -> list[ReportFacts]:
    """Return the facts about some reports, existing or not. Two round trips."""
    found = await db.ask(*(("HMGET", keys.report(report), ReportField.CASE, ReportField.REPORTER) for report in ids))
    looks = [
        look
        for case, reporter in found
        for look in (
            ("ZSCORE", keys.case_reports(int(case or 0)), reporter or 0),
            ("EXISTS", keys.case(int(case or 0))),
        )
    ]
    replies = iter(await db.ask(*looks))
    return [
        ReportFacts(report, int(case or 0), reporter or "", bool(has_case), _number(score))
        for report, (case, reporter), score, has_case in zip(ids, found, replies, replies, strict=True)
    ]


def list_report(report: ReportFacts) -> Command:
    """Return the command that lists a report in its case."""
    return ("ZADD", keys.case_reports(report.case), "NX", report.id, report.reporter)


def drop(kind: KeyKind, owner: int) -> Command:
    """Return the command that removes a key."""
    return ("DEL", kind.key(owner))


class ActFacts(Struct, frozen=True):
    """An act, the name under which it is logged, and the digest of the act before it in the log."""

    id: int
    fields: dict[str, str]
    name: str | None
    before: str
    removed: str | None
    removed_expires: bool

    @property
    def key(self) -> str:
        """Return the key of the act."""
        return keys.moderation_act(self.id)


async def acts(db: Database, ids: Sequence[int]) -> list[ActFacts]:
    """Return the facts about some acts, existing or not. Two round trips."""
    replies = iter(
        await db.ask(
            *(
                command
                for act in ids
                for command in (
                    ("HGETALL", keys.moderation_act(act)),
                    ("ZRANGE", LOG, act, act, "BYSCORE"),
                    ("ZRANGE", LOG, f"({act}", "-inf", "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES"),
                    ("GET", keys.removed_text(act)),
                    ("TTL", keys.removed_text(act)),
                )
            )
        )
    )
    read = list(zip(ids, *[replies] * 5, strict=True))
    earlier = [read_entries_by_score(last) for _, _, _, last, _, _ in read]
    digests = await db.ask(*(("HGET", keys.moderation_act(act), LogHeadField.DIGEST) for act in earlier))
    return [
        ActFacts(act, read_pairs(fields), next(iter(names), None), digest or "", text, int(ttl) >= 0)
        for (act, fields, names, _, text, ttl), digest in zip(read, digests, strict=True)
    ]


def read_entries_by_score(reply: Sequence[str]) -> int:
    """Return the score of the one entry of a reply WITHSCORES, 0 without one."""
    return int(reply[1]) if reply else 0


async def digest_of(db: Database, act: int) -> str:
    """Return the digest of an act, "" without it. One round trip."""
    return await db.one("HGET", keys.moderation_act(act), ModerationActField.DIGEST) or ""


async def head(db: Database) -> tuple[str, int]:
    """Return the digest of the newest act and the number of acts, as the log's head has them. One round trip."""
    digest, count = await db.one("HMGET", HEAD, LogHeadField.DIGEST, LogHeadField.COUNT)
    return digest or "", int(count or 0)


async def logged_after(db: Database, last: int, count: int) -> list[int]:
    """Return acts in the log after one, oldest first. One round trip."""
    bounds = (f"({last}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES")
    return [int(act) for act in (await db.one("ZRANGE", LOG, *bounds))[1::2]]


def expire_text(db: Database, act: int) -> Command:
    """Return the command that lets a removed text expire."""
    return ("EXPIRE", keys.removed_text(act), kept_seconds(db), "NX")


class EvidenceFacts(Struct, frozen=True):
    """Pictures of a message that are evidence, and the cases for which they are kept."""

    message: int
    open: frozenset[str]  # cases
    others: frozenset[str]  # cases that are resolved or gone

    @property
    def key(self) -> str:
        """Return the key of the evidence."""
        return keys.evidence(self.message)


async def evidence(db: Database, messages: Sequence[int]) -> list[EvidenceFacts]:
    """Return the evidence of some messages, existing or not. Two round trips."""
    fields = await db.ask(*(("HKEYS", keys.evidence(message)) for message in messages))
    cases = [[case for case in found if case != EvidenceField.PICTURES] for found in fields]
    states = iter(await db.ask(*(("HGET", keys.case(int(case)), CaseField.STATE) for some in cases for case in some)))
    facts = []
    for message, some in zip(messages, cases, strict=True):
        found = {case: next(states) == ReportState.OPEN.value for case in some}
        opened = frozenset(case for case, is_open in found.items() if is_open)
        facts.append(EvidenceFacts(message, opened, frozenset(found) - opened))
    return facts


def end_evidence(found: EvidenceFacts) -> Command:
    """Return the command that ends evidence for the cases that are not open."""
    return ("HDEL", found.key, *found.others) if found.open else ("DEL", found.key)


async def unkept(db: Database, reports: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return report, message and case where an open case has a message with pictures that are not kept as evidence.

    Three round trips.
    """
    about = await db.ask(*(("HGET", keys.report(report), ReportField.CASE) for report in reports))
    read = await db.ask(
        *(
            command
            for report, case in zip(reports, about, strict=True)
            for command in (
                ("GET", keys.report_messages(report)),
                ("HGET", keys.case(int(case or 0)), CaseField.STATE),
            )
        )
    )
    wanted = [
        (report, message.id, int(case))
        for report, case, text, state in zip(reports, about, read[::2], read[1::2], strict=True)
        if state == ReportState.OPEN.value
        for message in read_messages(text, is_evidence=True)
        if message.images
    ]
    kept = await db.ask(*(("HEXISTS", keys.evidence(message), case) for _, message, case in wanted))
    return [one for one, is_kept in zip(wanted, kept, strict=True) if not is_kept]


def keep_command(message: int, case: int) -> Command:
    """Return the command that keeps the pictures of a message as evidence for a case."""
    return ("HSET", keys.evidence(message), case, "")
