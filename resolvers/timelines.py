"""Home, profile, public and hashtag timelines: they differ in where the ids come from, and in nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from resolvers import home_pages, hydrate, paging
from resolvers.context import Context
from resolvers.entries import TimelineEdge
from resolvers.errors import Unauthenticated
from resolvers.paging import Page
from resolvers.placement import promoted
from resolvers.rules.text import hashtag_name
from store import keys
from store.records import Entry, User


@dataclass(frozen=True, slots=True)
class Hashtag:
    """A tag that posts still carry."""

    name: str
    post_count: int


@dataclass(frozen=True, slots=True)
class Span:
    """The arguments of every timeline."""

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None


async def home(context: Context, span: Span) -> Page[TimelineEdge]:
    """Return a page of the viewer's home timeline; raises Unauthenticated for an anonymous request."""
    if context.viewer is None:
        raise Unauthenticated("sign in first: a home timeline belongs to a member")
    asked = _window(context, "home", span)
    return await promoted(context, asked, home_pages.page(context, context.viewer, asked))


async def profile(context: Context, user: User, span: Span) -> Page[TimelineEdge]:
    """Return a page of a member's own posts."""
    return await _posts(context, "profile", keys.profile(user.id), span)


async def public(context: Context, span: Span) -> Page[TimelineEdge]:
    """Return a page of all public posts that are kept."""
    return await _posts(context, "public", keys.public(), span)


async def tagged(context: Context, hashtag: Hashtag, span: Span) -> Page[TimelineEdge]:
    """Return a page of the posts that carry a tag."""
    return await _posts(context, "hashtag", keys.hashtag(hashtag.name), span)


async def hashtag(context: Context, name: str) -> Hashtag | None:
    """Return a tag, with or without its sign; None when no post that is kept carries it."""
    tag = hashtag_name(name)
    if tag is None:
        return None
    (count,) = await context.reader.run([("ZCARD", keys.hashtag(tag))])
    return Hashtag(tag, int(count)) if count else None


async def _posts(context: Context, kind: str, key: str, span: Span) -> Page[TimelineEdge]:
    asked = _window(context, kind, span)

    async def present(entries: Sequence[Entry]) -> list[TimelineEdge | None]:
        posts = await hydrate.posts(context, [entry.thing for entry in entries])
        return [
            None if post is None else TimelineEdge(paging.cursor(kind, entry.place), post)
            for entry, post in zip(entries, posts, strict=True)
        ]

    reading = paging.page(asked, paging.fetch_from(context, key), present, goes_on=paging.beyond(context, asked, key))
    return await promoted(context, asked, reading)


def _window(context: Context, kind: str, span: Span) -> paging.Window:
    return paging.window(context.settings, kind, first=span.first, after=span.after, last=span.last, before=span.before)


@dataclass(frozen=True, slots=True)
class RepostSource:
    """Who brought a post to a home, and when."""

    user: User
    reposted_at: datetime


async def reposted_by(context: Context, edge: TimelineEdge, first: int | None) -> list[RepostSource]:
    """Return the first members whose plain reposts brought a post home; raises BadUserInput for a wrong count."""
    asked = paging.window(context.settings, "sources", first=first, after=None)
    sources = edge.sources[: asked.count]
    users = await hydrate.users(context, [source.author for source in sources])
    return [RepostSource(user, source.reposted_at) for source, user in zip(sources, users, strict=True) if user]
