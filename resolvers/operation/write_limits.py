"""Limits against floods, in one operation: read before the write, counted with it, and explained to the client."""

import asyncio
from typing import Any

from msgspec.structs import replace

from resolvers.loading.batcher import sound
from resolvers.operation.context import Context, ReadAhead
from resolvers.process.errors import Refused, UserError, UserErrorCode
from resolvers.rules.text import fingerprint
from store.client.metering import METER
from store.limits import writes
from store.limits.writes import Limit, WriteKind
from store.refusals import Exceeded, Refusal

TEXT_MOST = 100_000  # characters that are read ahead: a longer text is refused anyway
UNITS = {
    WriteKind.POSTS: "posts",
    WriteKind.COMMENTS: "comments",
    WriteKind.FOLLOWS: "follows and requests to follow",
    WriteKind.LIKES: "likes",
    WriteKind.MESSAGES: "messages",
}


def read_ahead(context: Context, text: str | None) -> None:
    """Have the operation's first round trip read what the viewer has written, for a mutation with this text.

    Later mutations of the same document read nothing: they only count, and are taken back beyond a limit.
    """
    if context.read_ahead or context.viewer is None or not context.settings.rate_limit:
        return
    digest = fingerprint(text) if text and len(text) <= TEXT_MOST else ""
    replies = context.batcher.ask(writes.made_commands(context.viewer, digest))
    context.read_ahead = ReadAhead(text or "", digest, replies)


async def limit(context: Context, kind: WriteKind, text: str = "", target: object = "") -> Limit | None:
    """Return the limits of the viewer's write, and whether one is exceeded; None where nothing is limited.

    `target` is what the text goes to: a conversation, a post or a group. Without one, the text may be repeated.
    """
    if not context.settings.rate_limit:
        return None
    assert context.viewer is not None
    ahead = context.read_ahead
    digest = ""
    if text and target:
        digest = ahead.digest if ahead and ahead.text == text else fingerprint(text)
    found = writes.limit_of(context.settings, context.viewer, kind, digest, str(target))
    if ahead is None or kind not in writes.AHEAD:
        return found
    made = writes.read_made(ahead.digest, sound(await ahead.replies))
    return replace(found, exceeded=made.exceeds(found))


def uncount(context: Context, limit: Limit | None) -> asyncio.Future[list[Any]] | None:
    """Take the count of a write back that changed nothing, in the next round trip."""
    if limit is None or limit.exceeded:
        return None
    return context.batcher.ask(writes.uncount_commands(limit))


def refusal(limit: Limit | None, what: Exceeded) -> Refused:
    """Return the refusal of a write that exceeds a limit."""
    assert limit
    return Refused(exceeded(limit, what))


def exceeded(limit: Limit, what: Exceeded) -> UserError:
    """Return the user error that names the limit and says when it ends."""
    seconds = writes.seconds_left(what)
    METER.refusals["same_text_targets" if what is Refusal.TEXT else f"{limit.kind.value}_per_hour"] += 1
    if what is Refusal.TEXT:
        message = f"text: the same text goes to at most {limit.targets} conversations, posts and groups in a day"
        return UserError(UserErrorCode.LIMIT_REACHED, f"{message}: try again in {seconds:,} s", ["text"])
    message = f"at most {limit.most:,} {UNITS[limit.kind]} in an hour{' for a new member' if limit.is_new else ''}"
    return UserError(UserErrorCode.LIMIT_REACHED, f"{message}: try again in {seconds:,} s")
