"""Paging while entries are added and removed, or name deleted posts."""

from resolvers.reading import global_ids
from store import keys
from store.client.database import Database
from tests.support import listings
from tests.support.listings import Listing, Page, timelines_only
from tests.support.stored import delete

listing = listings.listing


async def vanish(db: Database, *ids: str) -> None:
    """Delete records behind the lists' back, as if a job had not removed them from the lists yet."""
    key_of = {"user": keys.user, "status": keys.status, "repost": keys.status, "comment": keys.comment}
    found = [global_ids.read(entity_id) for entity_id in ids]
    await delete(db, *(key_of[name[0]](name[1]) for name in found if name))


# ---- while entries come and go


async def test_paging_goes_on_while_entries_come_and_go(listing: Listing) -> None:
    """Paging forward repeats nothing and skips nothing that stayed, even if the cursor's own entry is gone."""
    await listing.add(12)
    began = listing.newest_first
    page = await listing.read(first=4)
    ids = list(page.ids)
    await listing.remove(began[1], began[3], began[4], began[7])
    await listing.add(2)
    while page.has_next:
        page = await listing.read(first=2, after=page.end)
        ids += page.ids
        if len(ids) == 6:
            await listing.remove(began[11], page.ids[-1])
            await listing.add()
    assert ids == [*began[:4], *began[5:7], *began[8:11]]


@timelines_only
async def test_newer_entries_are_fetched_while_others_go(listing: Listing) -> None:
    """Paging backward from a client's cursor finds new entries, once each, and no deleted ones."""
    await listing.add(6)
    began = listing.newest_first
    page = await listing.read(last=2)
    assert page.ids == began[4:]
    await listing.remove(began[4], began[2])
    await listing.add(3)
    ids: list[str] = []
    while page.has_previous:
        page = await listing.read(last=2, before=page.start)
        ids = page.ids + ids
    assert ids == [*listing.newest_first[:3], began[0], began[1], began[3]]
    held = page.start
    assert await listing.read(last=2, before=held) == Page(
        [], [], has_next=True, has_previous=False, start=None, end=None
    )
    await listing.add(2)
    assert (await listing.read(last=10, before=held)).ids == listing.newest_first[:2]


async def test_what_lies_behind_a_cursor_is_read_anew(listing: Listing) -> None:
    """`hasPreviousPage` is false once all entries above, and the cursor's own, are gone."""
    await listing.add(4)
    page = await listing.read(first=2)
    assert (await listing.read(first=2, after=page.end)).has_previous
    await listing.remove(page.ids[0])
    assert (await listing.read(first=2, after=page.end)).has_previous
    await listing.remove(page.ids[1])
    assert not (await listing.read(first=2, after=page.end)).has_previous


# ---- while entries name what is gone


async def test_filtered_entries_never_end_a_list(db: Database, listing: Listing) -> None:
    """Paging in pages of any size crosses a gap of thirty deleted posts, and a page they would empty is refilled."""
    await listing.add(36)
    newest = listing.newest_first
    await vanish(db, *newest[3:33])
    remaining = newest[:3] + newest[33:]
    for size in (1, 4, 20):
        page = await listing.read(first=size)
        ids = page.ids
        while page.has_next:
            page = await listing.read(first=size, after=page.end)
            ids += page.ids
        assert ids == remaining
        if not listing.both_ways:
            continue
        page = await listing.read(last=size)
        ids = page.ids
        while page.has_previous:
            page = await listing.read(last=size, before=page.start)
            ids = page.ids + ids
        assert ids == remaining
    await vanish(db, *newest[:3])
    page = await listing.read(first=20)
    assert page.ids == newest[33:]
    assert (page.has_next, page.end) == (False, page.cursors[-1])


async def test_a_list_of_vanished_things_ends(db: Database, listing: Listing) -> None:
    """A list whose posts are all deleted has pages without entries, and ends."""
    await listing.add(8)
    await vanish(db, *listing.entries)
    page = await listing.read(first=2)
    pages = 1
    while page.has_next:
        assert page.ids == []
        page = await listing.read(first=2, after=page.end)
        pages += 1
    assert page.ids == []
    assert pages <= 4
