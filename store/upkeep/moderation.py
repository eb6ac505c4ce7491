"""Moderation: reports and cases agree, and nobody has changed the moderation log.

A changed log cannot be repaired: it would no longer say what was done.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.ids import first_of
from store.keys.fields import CaseField, EvidenceField, LogHeadField, ModerationActField, ReportField
from store.moderation.log import chained, digest, kept_seconds
from store.moderation.records import ReportState, read_messages
from store.records.lists import read_entries, read_pairs
from store.upkeep.findings import Finding, ask_each, examine

ACTS_READ = 250  # acts of the log read per step
_OPEN = ReportState.OPEN.value


async def cases(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each open case is the one of its subject and listed with its reports; a resolved one is not, and expires."""
    states = await _case_states(db, ids)
    looks: dict[int, list[Command]] = {
        case: [
            ("ZCARD", keys.case_reports(case)),
            ("ZSCORE", keys.cases(_OPEN), case),
            ("TTL", keys.case(case)),
            ("HGET", keys.open_cases(), subject),
        ]
        for case, (state, subject) in states.items()
        if state is not None
    }
    found = []
    for case, (reports, listed, life, current) in await ask_each(db, looks):
        state, subject = states[case]
        is_current, key = _number(current) == case, keys.case(case)
        if state == _OPEN and not (is_current and _number(listed) == int(reports)):
            mend = [("HSET", keys.open_cases(), subject, case), ("ZADD", keys.cases(_OPEN), int(reports), case)]
            found.append(Finding(key, "is open and not listed so", mend))
        if state != _OPEN and (is_current or listed is not None or int(life) < 0):
            mend = _close(db, case, subject if is_current else "")
            found.append(Finding(key, "is resolved and kept as if open", mend))
    return found


async def _case_states(db: Database, ids: Collection[int]) -> dict[int, tuple[str | None, str]]:
    """Return state and subject of some cases; the state is None without the case. One round trip."""
    looks = {case: [("HMGET", keys.case(case), CaseField.STATE, CaseField.SUBJECT)] for case in ids}
    return {case: (state, subject or "") for case, ((state, subject),) in await ask_each(db, looks)}


def _number(text: str | None) -> int | None:
    return None if text is None else int(float(text))


def _close(db: Database, case: int, subject: str) -> list[Command]:
    """Return the commands that remove a case from those that are open, with its subject, and let it expire."""
    ends = [("HDEL", keys.open_cases(), subject)] if subject else []
    expiring = [("EXPIRE", key(case), kept_seconds(db), "NX") for key in (keys.case, keys.case_reports)]
    return [*ends, ("ZREM", keys.cases(_OPEN), case), *expiring]


async def open_subjects(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each subject with an open case has one that is open, and about it."""
    (key,) = found
    subjects = {subject: int(case) for subject, case in read_pairs(await db.one("HGETALL", key)).items()}
    states = await _case_states(db, set(subjects.values()))
    return [
        Finding(key, f"{subject} has no open case {case}", [("HDEL", key, subject)])
        for subject, case in subjects.items()
        if states[case] != (_OPEN, subject)
    ]


async def case_lists(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each listed case exists in the state of its list. Resolved ones may have expired."""
    # The act that resolved the oldest case that still has to be there.
    oldest = first_of(datetime.now(UTC) - timedelta(seconds=kept_seconds(db)))
    findings = []
    for key in found:
        entries = read_entries(await db.one("ZRANGE", key, 0, -1, "WITHSCORES"))
        asked = {entry.entity for entry in entries if key.endswith(_OPEN) or entry.place > oldest}
        findings += [
            Finding(key, f"has {case}, which is gone", [("ZREM", key, case)])
            for case, (state, _) in (await _case_states(db, asked)).items()
            if not key.endswith(f":{state}")
        ]
    return findings


async def reports(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each report is listed by its case. A report without a case is dropped."""
    read = await ask_each(
        db, {one: [("HMGET", keys.report(one), ReportField.CASE, ReportField.REPORTER)] for one in ids}
    )
    looks = {
        (report, int(case), reporter or ""): [
            ("ZSCORE", keys.case_reports(int(case)), reporter or 0),
            ("EXISTS", keys.case(int(case))),
        ]
        for report, ((case, reporter),) in read
        if int(case or 0)
    }
    found = []
    for (report, case, reporter), (listed, has_case) in await ask_each(db, looks):
        if _number(listed) != report:
            mend: list[Command] = [("ZADD", keys.case_reports(case), "NX", report, reporter)]
            if not has_case:
                mend = [("DEL", keys.report(report))]
            can_mend = reporter and (listed is None or not has_case)
            found.append(Finding(keys.report(report), f"is not listed by case {case}", mend if can_mend else ()))
    return found


async def messages(db: Database, ids: Sequence[int]) -> list[Finding]:
    """The pictures of reported messages are evidence as long as the report is open."""
    read = await ask_each(
        db, {one: [("HGET", keys.report(one), ReportField.CASE), ("GET", keys.report_messages(one))] for one in ids}
    )
    states = await _case_states(db, {int(case or 0) for _, (case, _) in read})
    looks = {
        (report, message.id, int(case)): [("HEXISTS", keys.evidence(message.id), case)]
        for report, (case, text) in read
        if states[int(case or 0)][0] == _OPEN
        for message in read_messages(text, is_evidence=True)
        if message.images
    }
    return [
        Finding(
            keys.report_messages(report),
            f"the pictures of {message} are not kept as evidence",
            [("HSET", keys.evidence(message), case, "")],
        )
        for (report, message, case), (is_kept,) in await ask_each(db, looks)
        if not is_kept
    ]


async def evidence(db: Database, messages: Sequence[int]) -> list[Finding]:
    """Evidence is kept for open cases. A second look finds the pictures that are then shown nowhere."""
    replies = await ask_each(db, {message: [("HKEYS", keys.evidence(message))] for message in messages})
    kept = {message: [case for case in some if case != EvidenceField.PICTURES] for message, (some,) in replies}
    states = await _case_states(db, {int(case) for some in kept.values() for case in some})
    found = []
    for message, some in kept.items():
        key, others = keys.evidence(message), [case for case in some if states[int(case)][0] != _OPEN]
        if others or not some:
            mend = ("HDEL", key, *others) if len(others) < len(some) else ("DEL", key)
            found.append(Finding(key, f"is kept for {len(others)} cases that are not open", [mend]))
    return found


class LoggedAct(Struct, frozen=True):
    """An act, the name under which it is logged, and the digest of the act before it in the log."""

    id: int
    fields: dict[str, str]
    name: str | None
    before: str

    @property
    def wrong(self) -> str:
        """The difference between the act and what was written, "" without one."""
        if not self.fields:
            return "is logged and gone" if self.name else ""
        if self.name is None:
            return "is not in the log"
        if self.fields.get(ModerationActField.PREVIOUS) != self.before:
            return "does not follow the act before it"
        try:
            is_whole = chained(self.id, self.name, self.fields) == self.fields[ModerationActField.DIGEST]
        except KeyError:
            is_whole = False
        return "" if is_whole else "was changed"


async def _logged(db: Database, ids: Sequence[int]) -> list[LoggedAct]:
    """Return some acts, existing or not. Two round trips."""
    log = keys.moderation_log()
    looks: dict[int, list[Command]] = {
        act: [
            ("HGETALL", keys.moderation_act(act)),
            ("ZRANGE", log, act, act, "BYSCORE"),
            ("ZRANGE", log, f"({act}", "-inf", "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES"),
        ]
        for act in ids
    }
    read = await ask_each(db, looks)
    earlier = {act: int(last[1]) if last else 0 for act, (_, _, last) in read}
    digests = dict(await ask_each(db, {act: [_digest(before)] for act, before in earlier.items()}))
    return [
        LoggedAct(act, read_pairs(fields), next(iter(names), None), digests[act][0] or "")
        for act, (fields, names, _) in read
    ]


def _digest(act: int) -> Command:
    return ("HGET", keys.moderation_act(act), ModerationActField.DIGEST)


async def acts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each act is in the log, as it was written, after the one that was written before it."""
    return [Finding(keys.moderation_act(act.id), act.wrong) for act in await _logged(db, ids) if act.wrong]


async def removed_texts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each text that was removed is the one that its act names, and expires."""
    looks: dict[str, list[Any]] = {
        keys.removed_text(act): [
            ("GET", keys.removed_text(act)),
            ("TTL", keys.removed_text(act)),
            ("HGET", keys.moderation_act(act), ModerationActField.TEXT_DIGEST),
        ]
        for act in ids
    }
    found = []
    for key, (text, life, right) in await ask_each(db, looks):
        if text is not None and right != digest(text):
            found.append(Finding(key, "is not the text of its act"))
        elif text is not None and int(life) < 0:
            found.append(Finding(key, "never expires", [("EXPIRE", key, kept_seconds(db), "NX")]))
    return found


async def log(db: Database, _: Sequence[str]) -> list[Finding]:
    """Each act in the log exists, and the log's head is its newest act."""
    found: list[Finding] = []
    last = count = 0
    while some := await _acts_after(db, last):
        found += await examine(partial(_gone, db), some, keys.moderation_act)
        last, count = some[-1], count + len(some)
    newest = await db.one(*_digest(last))
    head, total = await db.one("HMGET", keys.log_head(), LogHeadField.DIGEST, LogHeadField.COUNT)
    if (newest or "", count) != (head or "", int(total or 0)):
        found.append(Finding(keys.log_head(), "is not the newest act of the log, or not its number of acts"))
    return found


async def _acts_after(db: Database, last: int) -> list[int]:
    """Return acts in the log after one, oldest first. One round trip."""
    bounds = (f"({last}", "+inf", "BYSCORE", "LIMIT", 0, ACTS_READ, "WITHSCORES")
    return [int(act) for act in (await db.one("ZRANGE", keys.moderation_log(), *bounds))[1::2]]


async def _gone(db: Database, ids: Sequence[int]) -> list[Finding]:
    looks = {key: [("HLEN", key)] for key in map(keys.moderation_act, ids)}
    return [Finding(key, "is logged and gone") for key, (fields,) in await ask_each(db, looks) if not fields]
