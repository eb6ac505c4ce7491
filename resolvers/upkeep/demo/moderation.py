"""A moderator of the demo's community, reports of members' newest posts, and one decision."""

from collections.abc import Mapping
from dataclasses import dataclass

from resolvers.jobs import dispatch
from resolvers.reading import moderation
from store import accounts, posts, timelines
from store.client.database import Database
from store.credentials.records import Role
from store.moderation import reports
from store.moderation.records import RANKS, ModerationActKind, ReportAction, ReportReason, Subject
from store.moderation.reports import Decision, ReportDraft
from store.records.posts import Status
from store.refusals import accepted

LOOKED_AT = 10  # newest posts of a member among which the reported status is


@dataclass(frozen=True, slots=True)
class Complaint:
    """A report: logins of reporter and author, reason and note. With a decision, the moderator dismisses it so."""

    by: str
    about: str
    reason: ReportReason
    note: str
    decision: str = ""


async def moderate(db: Database, ids: Mapping[str, int], moderator: str, complaints: tuple[Complaint, ...]) -> None:
    """Appoint the moderator, file all reports, and dismiss those with a decision."""
    acting = moderation.by_operator(ModerationActKind.ROLE_CHANGED, ids[moderator], Role.MODERATOR)
    await dispatch.finish(db, accepted(await accounts.set_role(db, ids[moderator], Role.MODERATOR, acting)))
    for one in complaints:
        subject = await _newest_status(db, ids[one.about])
        draft = ReportDraft(ids[one.by], subject, ids[one.about], one.reason, one.note)
        report = accepted(await reports.file(db, draft))
        if one.decision:
            await _dismiss(db, report, ids[moderator], one.decision)


async def _newest_status(db: Database, member: int) -> Subject:
    """Return a member's newest status, or the member if their newest posts are all reposts."""
    for entry in await timelines.published(db, member, below=None, above=0, count=LOOKED_AT):
        if type(await posts.post(db, entry.id)) is Status:
            return Subject("status", entry.id)
    return Subject("user", member)


async def _dismiss(db: Database, report: int, moderator: int, note: str) -> None:
    decision = Decision(report, ReportAction.DISMISS, moderator, RANKS[Role.MODERATOR], note, "")
    await dispatch.finish(db, accepted(await reports.resolve(db, decision)))
