"""Invariants of moderation: reports and cases agree, and nobody has changed the moderation log.

A changed log cannot be repaired: it would no longer say what was done.
"""

from collections.abc import Sequence
from functools import partial

from resolvers.upkeep.invariants.findings import Finding, examine
from store import kinds
from store.client.database import Database
from store.keys.fields import ModerationActField
from store.moderation.log import chained, digest
from store.moderation.records import ReportState
from store.upkeep import moderation as stored
from store.upkeep.moderation import ActFacts, CaseFacts
from store.upkeep.scanning import KeyBatch

ACTS_READ = 250  # acts of the log read per step


async def reports(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each report is listed by its case. A report without a case is dropped."""
    found: list[Finding] = []
    for report in await stored.reports(db, ids):
        if report.case and report.listed != report.id:
            mend = stored.list_report(report) if report.has_case else stored.drop(kinds.REPORT, report.id)
            repair = [mend] if report.reporter and (report.listed is None or not report.has_case) else []
            found.append(Finding(report.key, f"is not listed by case {report.case}", repair))
    return found


async def messages(db: Database, ids: Sequence[int]) -> list[Finding]:
    """The pictures of reported messages are evidence as long as the report is open."""
    return [
        Finding(
            kinds.REPORT_MESSAGES.key(report),
            f"the pictures of {about} are not kept as evidence",
            [stored.keep_command(about, case)],
        )
        for report, about, case in await stored.unkept(db, ids)
    ]


async def evidence(db: Database, messages: Sequence[int]) -> list[Finding]:
    """Evidence is kept for open cases. A second look finds the pictures that are then shown nowhere."""
    return [
        Finding(one.key, f"is kept for {len(one.others)} cases that are not open", [stored.end_evidence(one)])
        for one in await stored.evidence(db, messages)
        if one.others or not one.open
    ]


async def cases(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each open case is the one of its subject and listed with its reports; a resolved one is not, and expires."""
    return [finding for case in await stored.cases(db, ids) for finding in _case(db, case)]


def _case(db: Database, case: CaseFacts) -> list[Finding]:
    if case.state is None:
        return []
    if case.state == ReportState.OPEN.value:
        is_right = case.open_as == case.id and case.listed == case.reports
        return [] if is_right else [Finding(case.key, "is open and not listed so", stored.open_case(case))]
    is_right = case.open_as != case.id and case.listed is None and case.expires
    return [] if is_right else [Finding(case.key, "is resolved and kept as if open", stored.close_case(db, case))]


async def acts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each act is in the log, as it was written, after the one that was written before it."""
    return [Finding(act.key, message) for act in await stored.acts(db, ids) if (message := _wrong(act))]


def _wrong(act: ActFacts) -> str:
    if not act.fields:
        return "is logged and gone" if act.name else ""
    if act.name is None:
        return "is not in the log"
    if act.fields.get(ModerationActField.PREVIOUS) != act.before:
        return "does not follow the act before it"
    try:
        is_whole = chained(act.id, act.name, act.fields) == act.fields[ModerationActField.DIGEST]
    except KeyError:
        is_whole = False
    return "" if is_whole else "was changed"


async def removed_texts(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each text that was removed is the one that its act names, and expires."""
    found: list[Finding] = []
    for act in await stored.acts(db, ids):
        key = kinds.REMOVED_TEXT.key(act.id)
        if act.removed is not None and act.fields.get(ModerationActField.TEXT_DIGEST) != digest(act.removed):
            found.append(Finding(key, "is not the text of its act"))
        elif act.removed is not None and not act.removed_expires:
            found.append(Finding(key, "never expires", [stored.expire_text(db, act.id)]))
    return found


async def lists(db: Database, found: KeyBatch) -> list[Finding]:
    """Each listed case exists in that state, each act in the log exists, and the log's head is its newest act."""
    findings: list[Finding] = []
    if stored.OPEN_CASES in found.moderation:
        findings += await _open_subjects(db)
    for cases_list in stored.LISTS:
        if cases_list in found.moderation:
            findings += await _listed(db, cases_list)
    if {stored.LOG, stored.HEAD} & found.moderation:
        findings += await _log(db)
    return findings


async def _open_subjects(db: Database) -> list[Finding]:
    subjects = await stored.open_subjects(db)
    facts = {case.id: case for case in await stored.cases(db, set(subjects.values()))}
    return [
        Finding(stored.OPEN_CASES, f"{subject} has no open case {case}", [stored.close_subject(subject)])
        for subject, case in subjects.items()
        if facts[case].state != ReportState.OPEN.value or facts[case].subject != subject
    ]


async def _listed(db: Database, cases_list: str) -> list[Finding]:
    is_open = cases_list.endswith(ReportState.OPEN.value)
    entries = [one for one in await stored.listed(db, cases_list) if is_open or one.place > stored.oldest_listed(db)]
    facts = {case.id: case for case in await stored.cases(db, {entry.entity for entry in entries})}
    return [
        Finding(cases_list, f"has {entry.entity}, which is gone", [stored.unlist(cases_list, entry.entity)])
        for entry in entries
        if not cases_list.endswith(f":{facts[entry.entity].state}")
    ]


async def _log(db: Database) -> list[Finding]:
    found: list[Finding] = []
    last = count = 0
    while some := await stored.logged_after(db, last, ACTS_READ):
        found += await examine(partial(_gone, db), some, kinds.MODERATION_ACT.key)
        last, count = some[-1], count + len(some)
    if (await stored.digest_of(db, last), count) != await stored.head(db):
        found.append(Finding(stored.HEAD, "is not the newest act of the log, or not its number of acts"))
    return found


async def _gone(db: Database, ids: Sequence[int]) -> list[Finding]:
    return [Finding(act.key, "is logged and gone") for act in await stored.acts(db, ids) if not act.fields]
