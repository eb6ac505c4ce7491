"""Promotions: administrators create and end them."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from resolvers.jobs import dispatch
from resolvers.operation.context import Context
from resolvers.operation.inputs import gathered
from resolvers.operation.payloads import PromotionPayload
from resolvers.process.errors import Refused, UserError, UserErrorCode, no_such, over_limit, refuse, refuse_all
from resolvers.reading import global_ids, hydrate
from resolvers.rules.text import TextRefused, normalise
from store import promotions
from store.keys.fields import PromotionField
from store.moderation import log
from store.moderation.records import Act, ModerationActKind
from store.moderation.records import Subject as LoggedSubject
from store.records.posts import Status
from store.refusals import Refusal

TITLE_MOST = 100  # characters of an advertisement's title; its text is bounded like a post's
URL_MOST = 2000  # characters of an advertisement's URL

Result = TypeVar("Result")


class AdvertisementInput(Protocol):
    """An advertisement as a client sends it."""

    title: str
    text: str
    url: str


class PromotedSubject(Protocol):
    """The subject of a promotion. Exactly one of the fields is given."""

    status_id: Any
    user_id: Any
    advertisement: Any


async def create_promotion(
    context: Context, *, sponsor_id: str, subject: PromotedSubject, ends_at: datetime
) -> PromotionPayload:
    """Start to show a promotion in timelines. All errors in the input are reported together."""
    administrator = await context.administrator()
    errors: list[UserError] = []
    sponsor = await _collected(errors, _member(context, sponsor_id, "sponsorId"))
    shown = await _collected(errors, _subject(context, subject))
    if ends_at <= datetime.now(UTC):
        errors.append(UserError(UserErrorCode.INVALID, "endsAt: must lie in the future", ["endsAt"]))
    refuse_all(errors)
    assert sponsor is not None
    assert shown is not None
    ends = round(ends_at.timestamp() * 1000)
    promotion = await context.db.mint()
    act = Act(administrator, ModerationActKind.PROMOTION_CREATED, _about(sponsor, shown), name=f"{promotion}:created")
    job = await log.intend(context.db, act, promotion)
    made = await promotions.create(context.db, sponsor=sponsor, ends=ends, subject=shown, promotion=promotion)
    await dispatch.finish(context.db, job, context.batcher)
    if made is Refusal.FULL:
        most = context.settings.max_promotions
        raise over_limit("max_promotions", f"at most {most} promotions can run at one time")
    return PromotionPayload(promotion=made)


async def end_promotion(context: Context, *, promotion_id: str) -> PromotionPayload:
    """End a promotion at once and for good; idempotent."""
    administrator = await context.administrator()
    promotion = global_ids.expect(promotion_id, ("promotion",), "promotionId")
    stored = await promotions.promotion(context.db, promotion)
    ended = await _end(context, administrator, stored) if stored else Refusal.GONE
    if ended is Refusal.GONE:
        raise no_such("promotion", "promotionId")
    context.forget()
    return PromotionPayload(promotion=ended)


async def _end(
    context: Context, administrator: int, found: promotions.Promotion
) -> promotions.Promotion | Literal[Refusal.GONE]:
    who = LoggedSubject("user", found.member or found.sponsor)
    if not found.ends:
        return found  # ended before, which was logged
    about = LoggedSubject("status", found.status) if found.status else who
    act = Act(administrator, ModerationActKind.PROMOTION_ENDED, about, name=f"{found.id}:ended")
    job = await log.intend(context.db, act, found.id, is_end=True)
    ended = await promotions.end(context.db, found.id)
    await dispatch.finish(context.db, job, context.batcher)
    return ended


def _about(sponsor: int, shown: dict[str, str | int]) -> LoggedSubject:
    """Return what the log names: the promoted status or member, for an advertisement its sponsor."""
    if status := shown.get(PromotionField.STATUS):
        return LoggedSubject("status", int(status))
    return LoggedSubject("user", int(shown.get(PromotionField.MEMBER, sponsor)))


async def _collected(errors: list[UserError], checking: Coroutine[Any, Any, Result]) -> Result | None:
    """Return the result of a check. If it is refused, append its user errors and return None."""
    try:
        return await checking
    except Refused as refused:
        errors += refused.errors
        return None


async def _subject(context: Context, subject: PromotedSubject) -> dict[str, str | int]:
    # A field that was left out is not None but a placeholder, hence the test for a string.
    if isinstance(subject.status_id, str):
        return {PromotionField.STATUS: await _status(context, subject.status_id)}
    if isinstance(subject.user_id, str):
        return {PromotionField.MEMBER: await _member(context, subject.user_id, "subject", "userId")}
    return _advertisement(context, subject.advertisement)


async def _member(context: Context, user_id: str, *path: str) -> int:
    member = await hydrate.user(context, global_ids.expect(user_id, ("user",), *path))
    if member is None:
        raise no_such("user", *path)
    return member.id


async def _status(context: Context, status_id: str) -> int:
    path = ("subject", "statusId")
    status = await hydrate.post(context, global_ids.expect(status_id, ("status",), *path))
    if status is None or type(status) is not Status:
        raise refuse(UserErrorCode.NOT_FOUND, "statusId: there is no such status", *path)
    return status.id


def _advertisement(context: Context, words: AdvertisementInput) -> dict[str, str | int]:
    errors: list[UserError] = []

    def checked(name: str, check: Callable[[], str]) -> str:
        return gathered(errors, check, "subject", "advertisement", name)

    fields: dict[str, str | int] = {
        PromotionField.TITLE: checked("title", lambda: normalise(words.title, limit=TITLE_MOST, multiline=False)),
        PromotionField.TEXT: checked("text", lambda: normalise(words.text, limit=context.settings.max_text)),
        PromotionField.URL: checked("url", lambda: checked_url(words.url)),
    }
    refuse_all(errors)
    return fields


def checked_url(text: str) -> str:
    """Return a URL without white space around it; raises TextRefused, which names the broken rule."""
    url = normalise(text, limit=URL_MOST, multiline=False)
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        whole = False
    # Browsers read a backslash as a slash, so they might open another host than the one parsed here.
    if not whole or "\\" in url or any(character.isspace() for character in url):
        raise TextRefused("INVALID", "must be a whole http or https address, such as https://example.org/offer")
    return url
