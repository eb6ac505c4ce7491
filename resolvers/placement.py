"""Promotions on their way into timelines: chosen, looked up beside the page, and placed at its end."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections.abc import Awaitable, Sequence

import structlog
from msgspec.structs import replace

from resolvers import hydrate
from resolvers.context import Context
from resolvers.entries import TimelineEdge
from resolvers.errors import RequestError
from resolvers.paging import Page, PageInfo, Window
from resolvers.rules import placement
from store import promotions
from store.promotions import Advertisement, Promotion
from store.records import Post, Status, User, read_pairs

TIMELINES = frozenset({"home", "public", "hashtag"})  # profiles carry none
SPARE = 3  # promotions read beyond those there is room for: some of them may have nothing to show
TURN_SECONDS = 3600  # how long a page shows the same promotions while the same ones run

log = structlog.get_logger(__name__)


async def promoted(context: Context, asked: Window, reading: Awaitable[Page[TimelineEdge]]) -> Page[TimelineEdge]:
    """Return a page of a timeline with promotions among its entries, read in the page's own round trips.

    A promotion that fails leaves its place to the entry it would have displaced.
    """
    wanted = placement.room(asked.count) if asked.kind in TIMELINES else 0
    if not wanted:
        return await reading
    shown, page = await asyncio.gather(_showable(context, asked, wanted + SPARE), reading)
    edges = placement.placed(page.edges, shown[:wanted], asked.count, forward=asked.forward, after=_edge)
    return Page(edges, _info(asked, page, edges))


def _edge(before: TimelineEdge, promotion: Promotion) -> TimelineEdge:
    return TimelineEdge(before.cursor, promotion)


def _info(asked: Window, page: Page[TimelineEdge], edges: Sequence[TimelineEdge]) -> PageInfo:
    """Return where the page lies, now that some of its entries may have been left to the next one."""
    if asked.forward and edges and edges[-1].cursor != page.edges[-1].cursor:
        return replace(page.page_info, has_next_page=True, end_cursor=edges[-1].cursor)
    if not asked.forward and edges and edges[0].cursor != page.edges[0].cursor:
        return replace(page.page_info, has_previous_page=True, start_cursor=edges[0].cursor)
    return page.page_info


async def _showable(context: Context, asked: Window, count: int) -> list[Promotion]:
    """Return promotions that the viewer may see, at most so many; never raises."""
    try:
        (found,) = await context.reader.run([promotions.running(_seed(context, asked), count)])
    except RequestError:
        return []  # the page fails with it, too
    except Exception:
        log.exception("promotions_failed", request_id=context.request_id)
        return []
    presented = await asyncio.gather(*(_presented(context, promotion, fields) for promotion, fields in found))
    return [promotion for promotion in presented if promotion]


def _seed(context: Context, asked: Window) -> int:
    """Return what chooses among many: the same for a viewer's page for a while, even over viewers, pages and time."""
    turn = int(time.time()) // TURN_SECONDS
    page = (asked.kind, asked.after, asked.before, asked.forward)
    return zlib.crc32(repr((context.viewer or context.address, page, turn)).encode())


async def _presented(context: Context, promotion: str, fields: Sequence[str]) -> Promotion | None:
    """Return a promotion with all it shows looked up, None when there is nothing to show; never raises."""
    try:
        found = Promotion.read(int(promotion), read_pairs(fields))
        if found is None or not found.runs:
            return None
        shown, _ = await asyncio.gather(subject(context, found), hydrate.user(context, found.sponsor))
    except RequestError:
        return None  # the page fails with it, too
    except Exception:
        log.exception("promotion_failed", promotion=promotion, request_id=context.request_id)
        return None
    return found if shown else None


async def subject(context: Context, promotion: Promotion) -> Post | User | Advertisement | None:
    """Return what a promotion shows, None where the viewer cannot see it."""
    if promotion.status is not None:
        (post,) = await hydrate.timeline_posts(context, [promotion.status])
        return post if type(post) is Status else None
    if promotion.member is not None:
        (member,) = await hydrate.wanted(context, [promotion.member])
        return member
    return promotion.advertisement
