"""The jobs of moderation, each just committed in a small site."""

from collections.abc import Awaitable, Callable

from resolvers.jobs import dispatch
from store import accounts, likes_and_comments, posts, promotions
from store.client.database import Database
from store.credentials.records import Role
from store.groups import changes
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind
from store.keys.fields import PromotionField
from store.likes_and_comments import CommentDraft
from store.moderation import log, reports
from store.moderation.records import Act, Acting, ModerationActKind, ReportAction, ReportReason, Subject
from store.moderation.reports import Decision, ReportDraft
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.scene import Scene

RANK = 2  # of dan's role, an administrator


async def _deliver(db: Database, s: Scene) -> None:
    for job in (s.news, s.echo):  # else notifications depend on which job a worker takes first
        await dispatch.finish(db, job)


async def _decided(db: Database, s: Scene, subject: Subject, author: int, action: ReportAction) -> Job | None:
    """Have ann, ben and cat report something, and dan decide."""
    await _deliver(db, s)
    reported = [
        accepted(await reports.file(db, ReportDraft(reporter, subject, author, ReportReason.SPAM, "", "")))
        for reporter in (s.ann, s.ben, s.cat)
    ]
    return accepted(await reports.resolve(db, Decision(reported[1], action, s.dan, RANK, "so", "text")))


async def _dismissal(db: Database, s: Scene) -> Job | None:
    return await _decided(db, s, Subject("status", s.post), s.cat, ReportAction.DISMISS)


async def _deleted_post(db: Database, s: Scene) -> Job | None:
    return await _decided(db, s, Subject("status", s.post), s.cat, ReportAction.DELETE_CONTENT)


async def _deleted_comment(db: Database, s: Scene) -> Job | None:
    _, comment, job = accepted(
        await likes_and_comments.create_comment(db, CommentDraft(s.post, s.ben, "@ann", mentions=(s.ann,)))
    )
    assert job
    await dispatch.finish(db, job)
    return await _decided(db, s, Subject("comment", comment), s.ben, ReportAction.DELETE_CONTENT)


async def _hidden_group(db: Database, s: Scene) -> Job | None:
    _, group, job = accepted(await changes.create(db, GroupDraft(s.cat, "Birds", "", GroupKind.PUBLIC)))
    assert job
    await dispatch.finish(db, job)
    return await _decided(db, s, Subject("group", group), s.cat, ReportAction.DELETE_CONTENT)


def _acting(s: Scene, kind: ModerationActKind, subject: Subject) -> Acting:
    return Acting(RANK, Act(s.dan, kind, subject, note="so"))


async def _removal(db: Database, s: Scene) -> Job | None:
    await _deliver(db, s)
    acting = _acting(s, ModerationActKind.CONTENT_DELETED, Subject("status", s.post))
    return accepted(await posts.remove(db, s.post, s.cat, acting))


async def _removed_comment(db: Database, s: Scene) -> Job | None:
    _, comment, _ = accepted(await likes_and_comments.create_comment(db, CommentDraft(s.post, s.ben, "so")))
    act = Act(s.dan, ModerationActKind.CONTENT_DELETED, Subject("comment", comment))
    return accepted(await likes_and_comments.delete_comment(db, comment, s.post, act.written()))


async def _judged(db: Database, s: Scene) -> Job | None:
    await _deliver(db, s)
    acting = _acting(s, ModerationActKind.USER_SUSPENDED, Subject("user", s.cat))
    return accepted(await accounts.suspend(db, s.cat, holds=True, acting=acting))


async def _appointment(db: Database, s: Scene) -> Job | None:
    acting = _acting(s, ModerationActKind.ROLE_CHANGED, Subject("user", s.cat))
    return accepted(await accounts.set_role(db, s.cat, Role.MODERATOR, acting))


async def _promotion(db: Database, s: Scene) -> Job | None:
    promotion = await db.mint()
    act = Act(s.dan, ModerationActKind.PROMOTION_CREATED, Subject("user", s.cat), name=f"{promotion}:created")
    job = await log.intend(db, act, promotion=promotion)
    await promotions.create(db, sponsor=s.cat, ends=1, subject={PromotionField.MEMBER: s.cat}, promotion=promotion)
    return job


# The suspension of a reported member is crashed by the random lives: it names an event by a job of its own, so that no
# two runs end alike.
MODERATION_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "dismissal": _dismissal,
    "deletion of a reported post": _deleted_post,
    "deletion of a reported comment": _deleted_comment,
    "hiding of a reported group": _hidden_group,
    "deletion by a moderator": _removal,
    "deletion of a comment by a moderator": _removed_comment,
    "suspension by a moderator": _judged,
    "new role": _appointment,
    "promotion": _promotion,
}
