"""Promotions in timeline pages: chosen and read in parallel with the page, then placed among its entries."""

import asyncio
import contextlib
import time
import zlib
from collections.abc import Awaitable, Sequence

import structlog
from msgspec.structs import replace

from resolvers.loading.dataloader import ANY
from resolvers.operation.context import Context
from resolvers.process.errors import RequestError
from resolvers.reading import hydrate
from resolvers.reading.home_edges import TimelineEdge
from resolvers.reading.paging import Page, PageInfo, Window
from resolvers.rules import placement, visibility
from store import promotions
from store.promotions import Advertisement, Promotion
from store.records.lists import read_pairs
from store.records.members import User
from store.records.posts import Post, Status

TIMELINES = frozenset({"home", "public", "hashtag"})  # Profiles have no promotions.
SPARE = 3  # Promotions read beyond the page's room, because some may have nothing to show.
TURN_SECONDS = 3600  # Time for which a page shows the same promotions, as long as the same ones run.

log = structlog.get_logger(__name__)


async def promoted(context: Context, asked: Window, reading: Awaitable[Page[TimelineEdge]]) -> Page[TimelineEdge]:
    """Return a timeline page with promotions among its entries, read in the page's own round trips.

    If a promotion fails, the entry that it would have displaced stays on the page.
    """
    wanted = placement.room(asked.count) if asked.kind in TIMELINES else 0
    if not wanted:
        return await reading
    looking_up = _shown(context, asked, wanted + SPARE)
    last = _last_known(context)
    # A task for the usual case, in which no promotion runs, would take 3 % of a page's processor time.
    showing = asyncio.create_task(looking_up) if last is None or promotions.are_running(last) else looking_up
    try:
        page = await reading
    except BaseException:
        (showing.cancel if isinstance(showing, asyncio.Task) else showing.close)()
        raise
    shown = await showing
    if not shown:
        return page
    edges = placement.placed(page.edges, shown[:wanted], asked.count, forward=asked.forward, after=_edge)
    return Page(edges, _info(asked, page, edges))


def _last_known(context: Context) -> int | None:
    """Return when the last promotion ends, None where the process does not know; it may be out of date."""
    last: int | None = context.load.promoted_until.find_cached([ANY]).get(ANY)
    return last


async def _shown(context: Context, asked: Window, count: int) -> list[Promotion]:
    """Return running promotions that the viewer may see; never raises."""
    try:
        known = promotions.are_running(_last_known(context) or 0)
        if not known and not promotions.are_running(await context.load.promoted_until.load(ANY)):
            return []
        (chosen,) = await context.batcher.run([promotions.running(_seed(context, asked), count)])
    except RequestError:
        return []  # the page fails with the same error
    except Exception:
        log.exception("promotions_failed", request_id=context.request_id)
        return []
    return await _showable(context, chosen) if chosen else []


def _edge(before: TimelineEdge, promotion: Promotion) -> TimelineEdge:
    return TimelineEdge(before.cursor, promotion)


def _info(asked: Window, page: Page[TimelineEdge], edges: Sequence[TimelineEdge]) -> PageInfo:
    """Return the page's info, now that promotions may have moved some of its entries to the next page."""
    if asked.forward and edges and edges[-1].cursor != page.edges[-1].cursor:
        return replace(page.page_info, has_next_page=True, end_cursor=edges[-1].cursor)
    if not asked.forward and edges and edges[0].cursor != page.edges[0].cursor:
        return replace(page.page_info, has_previous_page=True, start_cursor=edges[0].cursor)
    return page.page_info


async def _showable(context: Context, found: Sequence[tuple[str, Sequence[str]]]) -> list[Promotion]:
    """Return the promotions that have something to show. Their subjects are read together, then each is judged."""
    read = [_read(context, promotion, fields) for promotion, fields in found]
    running = [promotion for promotion in read if promotion and promotion.runs]
    statuses = [promotion.status for promotion in running if promotion.status is not None]
    members = [promotion.member for promotion in running if promotion.member is not None]
    sponsors = [promotion.sponsor for promotion in running]
    with contextlib.suppress(Exception):  # `_has_subject` meets the error again, for the promotion that causes it
        await hydrate.sight_of(context, [*members, *sponsors], (), (context.load.post, statuses))
        await hydrate.timeline_posts(context, statuses)
    return [promotion for promotion in running if await _has_subject(context, promotion)]


def _read(context: Context, promotion: str, fields: Sequence[str]) -> Promotion | None:
    try:
        return Promotion.read(int(promotion), read_pairs(fields))
    except (KeyError, ValueError):
        log.exception("promotion_failed", promotion=promotion, request_id=context.request_id)
        return None


async def _has_subject(context: Context, promotion: Promotion) -> bool:
    """Return whether a promotion has something to show, of a sponsor whom the viewer allows; never raises."""
    try:
        await hydrate.user(context, promotion.sponsor)
        relationship = await context.load.relationship.load(promotion.sponsor)
        return visibility.allows_promotions(relationship) and await subject(context, promotion) is not None
    except RequestError:
        return False  # the page fails with the same error
    except Exception:
        log.exception("promotion_failed", promotion=promotion.id, request_id=context.request_id)
        return False


def _seed(context: Context, asked: Window) -> int:
    """Return the seed that chooses promotions: stable for a viewer's page within `TURN_SECONDS`.

    Seeds are evenly spread over viewers, pages and time.
    """
    turn = int(time.time()) // TURN_SECONDS
    page = (asked.kind, asked.after, asked.before, asked.forward)
    return zlib.crc32(repr((context.viewer or context.address, page, turn)).encode())


async def subject(context: Context, promotion: Promotion) -> Post | User | Advertisement | None:
    """Return the subject of a promotion; None if the viewer cannot see it."""
    if promotion.status is not None:
        (post,) = await hydrate.timeline_posts(context, [promotion.status])
        return post if type(post) is Status else None
    if promotion.member is not None:
        (member,) = await hydrate.wanted(context, [promotion.member])
        return member
    return promotion.advertisement
