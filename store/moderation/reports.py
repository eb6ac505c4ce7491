"""Reports: filing, listing and resolving them. All reports of one subject make up a case until they are resolved."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from store import keys
from store.client.database import Command, Database, script
from store.ids import first_of, partition
from store.keys.moderation import PARTITION
from store.moderation.log import kept_seconds, log_parameters
from store.moderation.records import ACTS, Report, ReportAction, ReportReason, ReportState, Subject
from store.records.job_bodies import Resolution
from store.records.jobs import Job, read_job
from store.records.lists import Entry
from store.refusals import Refusal, refused
from store.scripts.mailboxes import mailboxes

LISTED = 1_000  # reports that one list shows
NOTIFIED_AT_ONCE = 500  # reporters notified per step


@dataclass(frozen=True, slots=True)
class ReportDraft:
    """A report to be filed.

    `messages` is the copy of the reported message and those before it, "" for others, and `pictured` are those of them
    that have pictures.
    """

    reporter: int
    subject: Subject
    author: int
    reason: ReportReason
    note: str
    messages: str = ""
    pictured: tuple[int, ...] = ()


async def file(db: Database, draft: ReportDraft) -> int | Literal[Refusal.REPORTED]:
    """File a report; returns its id."""
    reply = await db.call(
        "file_report",
        partition=PARTITION,
        open_cases=keys.open_cases(),
        cases=keys.cases(ReportState.OPEN.value),
        subject=str(draft.subject),
        author=draft.author,
        reporter=draft.reporter,
        reason=draft.reason.value,
        note=draft.note,
        messages=draft.messages,
        pictured=draft.pictured,
    )
    return refused(reply) or int(reply[0])


@dataclass(frozen=True, slots=True)
class Decision:
    """A moderator's decision on a report; `text` is what it deletes, as the log keeps it."""

    report: int
    action: ReportAction
    resolver: int
    rank: int
    note: str
    text: str


async def resolve(db: Database, decision: Decision) -> Job | Literal[Refusal.GONE, Refusal.RESOLVED]:
    """Resolve all reports of a case and log it; returns the job. Exactly one of several concurrent calls gets it."""
    oldest = datetime.now(UTC) - timedelta(seconds=kept_seconds(db))
    state = decision.action.state.value
    reply = await db.call(
        "resolve_case",
        **log_parameters(db),
        report=keys.report(decision.report),
        open_cases=keys.open_cases(),
        cases=keys.cases(ReportState.OPEN.value),
        resolved=keys.cases(state),
        id=decision.report,
        state=state,
        action=decision.action.value,
        rank=decision.rank,
        oldest=first_of(oldest),
        actor=decision.resolver,
        kind=ACTS[decision.action].value,
        note=decision.note,
        text=decision.text,
    )
    return refused(reply) or read_job(Resolution, *reply)


async def keep_evidence(db: Database, message: int, packed: str) -> bool:
    """Keep the pictures of a deleted message for the open cases that have a copy of it; False if there is none.

    Race: a report that is filed while the message is being deleted may have a copy whose pictures are gone.
    """
    return bool(await db.call("keep_evidence", message, pictures=packed))


def report_command(report: int) -> Command:
    """Return the command that reads a report with its case, for `Report.read`."""
    return script("read_report", report)


def messages_command(report: int) -> Command:
    """Return the command that reads the copy of messages in a report, None without one."""
    return ("GET", keys.report_messages(report))


def read_reports(reports: Sequence[int], replies: Sequence[Any]) -> list[Report | None]:
    """Return reports from the replies to `report_command`."""
    return [Report.read(report, reply) for report, reply in zip(reports, replies, strict=True)]


def list_command(state: ReportState) -> Command:
    """Return the command that lists the reports in a state: the most reported subject first, or the last resolved."""
    return script("list_reports", partition=PARTITION, cases=keys.cases(state.value), limit=LISTED)


async def notify_reporters(db: Database, reporters: Sequence[Entry]) -> None:
    """Notify reporters that their reports were resolved, each once, and let the reports expire."""
    seconds = kept_seconds(db)
    commands: list[Command] = []
    for reporter, report in ((entry.entity, entry.place) for entry in reporters):
        p = partition(reporter)
        commands += [
            script("notify_resolved", reporter, mailboxes=mailboxes(db, p), member=reporter, report=report),
            ("EXPIRE", keys.report(report), seconds, "NX"),
            ("EXPIRE", keys.report_messages(report), seconds, "NX"),
        ]
    await db.ask(*commands)


async def expire(db: Database, case: int) -> None:
    """Let a resolved case expire."""
    seconds = kept_seconds(db)
    await db.ask(*(("EXPIRE", key(case), seconds, "NX") for key in (keys.case, keys.case_reports)))
