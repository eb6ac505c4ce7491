"""The site's stream for a terminal: a line for each event, as a viewer without a token sees it."""

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from resolvers import accounts
from resolvers.live import site
from resolvers.live.cursors import StreamGap, event_cursor
from resolvers.live.site import PostCreated, PostDeleted, SiteEvent, UserFollowed
from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput, ServiceUnavailable
from resolvers.process.services import Services
from resolvers.process.site_stream import ALL_KINDS, SAMPLED, StreamEventKind, WantedEvents
from resolvers.reading import hydrate
from resolvers.rules import filters
from resolvers.rules.filters import FilterRefused
from resolvers.rules.places import Box
from resolvers.rules.sampling import SHARES
from resolvers.rules.text import on_one_line
from store.client.database import Database, Unavailable
from store.events import log as events
from store.records.posts import Repost

RETRY_SECONDS = 1  # pause after the store was unavailable

log = structlog.get_logger(__name__)


class TailRefused(ValueError):
    """The options of tail are invalid. The message says why."""


@dataclass(frozen=True, slots=True)
class TailOptions:
    """The options of tail as typed on the command line: logins, phrases, and a box as south, west, north, east."""

    follow: Sequence[str] | None = None
    track: Sequence[str] | None = None
    box: Sequence[Sequence[float]] | None = None
    kind: Collection[str] | None = None
    sample: int | None = None
    after: str | None = None


class Tail(NamedTuple):
    """The events that one tail prints: the wanted ones after a cursor."""

    wanted: WantedEvents
    after: str


async def begin(services: Services, asked: TailOptions) -> Tail:
    """Return the tail of some options. It prints every event after this call, or after the cursor they name.

    Raises TailRefused for invalid options.
    """
    try:
        wanted = await _wanted(services.db, asked)
    except (FilterRefused, BadUserInput) as refusal:
        raise TailRefused(str(refusal)) from None
    return Tail(wanted, event_cursor(await events.newest(services.db)) if asked.after is None else asked.after)


async def lines(services: Services, chosen: Tail) -> AsyncGenerator[str, None]:
    """Yield a line for each event. Events during an outage of the store follow later.

    Raises TailRefused for an invalid cursor.
    """
    context = Context(services, None, address="", user_agent="", request_id="tail")
    after = chosen.after
    while True:
        try:
            async with aclosing(site.live(context, chosen.wanted, after)) as changes:
                async for event in changes:
                    text = await line(context.fresh(counted=False), event)
                    after = event.cursor
                    yield text
        except (ServiceUnavailable, Unavailable) as error:
            log.warning("tail_interrupted", error=str(error), retry_seconds=RETRY_SECONDS)
            await asyncio.sleep(RETRY_SECONDS)
        except BadUserInput as refusal:
            raise TailRefused(str(refusal)) from None


async def _wanted(db: Database, asked: TailOptions) -> WantedEvents:
    parts = (asked.follow, asked.track, asked.box)
    if asked.sample is not None:
        if any(parts) or asked.kind:
            raise FilterRefused("a sample is of all posts: it takes no filter and no kinds")
        if not 1 <= asked.sample <= SHARES:
            raise FilterRefused(f"a sample is of 1 to {SHARES} percent")
        return WantedEvents(SAMPLED, percent=asked.sample)
    kinds = frozenset(map(StreamEventKind, asked.kind)) if asked.kind else ALL_KINDS
    if not any(parts):
        return WantedEvents(kinds)
    follow = None if asked.follow is None else [await _member(db, login) for login in asked.follow]
    boxes = None if asked.box is None else [Box(*edges) for edges in asked.box]
    return WantedEvents(kinds, filters.read(follow, asked.track, boxes))


async def _member(db: Database, login: str) -> int:
    found = await accounts.find(db, login.removeprefix("@"))
    if found is None:
        raise FilterRefused(f"no member has the login {login!r}")
    return found


async def line(context: Context, event: SiteEvent) -> str:
    """Return an event as one line: time, actor, action, and the cursor to resume from."""
    return f"{event.at:%H:%M:%S} {await _what(context, event)}  [{event.cursor}]"


async def _what(context: Context, event: SiteEvent) -> str:
    match event:
        case PostCreated():
            author = await hydrate.user(context, event.post.author)
            text = on_one_line(event.post.text)
            verb = "" if not isinstance(event.post, Repost) else "quotes: " if text else "passes a post on"
            return f"@{author.login if author else '?'} {verb}{text}"
        case PostDeleted():
            return f"- {event.post_id} by {event.author_id}"
        case UserFollowed():
            return f"@{event.follower.login} follows @{event.followed.login}"
        case site.UserUnfollowed():
            return f"@{event.follower.login} follows @{event.unfollowed.login} no longer"
        case StreamGap():
            return "... events were lost"
