"""Paging: in every list, pages neither repeat nor skip, and say truthfully what lies around them."""

from typing import Any

import pytest

from resolvers.process.errors import BadUserInput
from resolvers.reading import paging
from store.ids import LARGEST
from tests.support import listings
from tests.support.listings import LISTS, PAGE, TIMELINES, Listing, Page, timelines_only

listing = listings.listing

lists_only = pytest.mark.parametrize("listing", [name for name in LISTS if name not in TIMELINES], indirect=True)


# ---- arguments


async def refused(listing: Listing, **arguments: Any) -> str:
    """Return the argument that the refusal of a request names first."""
    answer = await listing.send(**arguments)
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT", error
    name: str = error["message"].partition(":")[0]
    return name


async def test_a_page_has_1_to_100_entries(listing: Listing) -> None:
    """A number of entries that is zero, negative or above a hundred is bad input that names the argument."""
    await listing.add(2)
    for number in (0, -1, 101, -(2**31), 2**31 - 1):
        assert await refused(listing, first=number) == "first"
        if listing.both_ways:
            assert await refused(listing, last=number) == "last"
    assert (await listing.read(first=100)).ids == listing.newest_first
    if listing.both_ways:
        assert await refused(listing, first=1, last=1) == "first, last"
        assert await refused(listing, first=0, last=0) == "first, last"
        assert (await listing.read(last=100)).ids == listing.newest_first


async def test_a_cursor_must_be_one_of_this_list(listing: Listing) -> None:
    """A cursor that is malformed in any way, or of another list, is bad input that names the argument."""
    await listing.add()
    (cursor,) = (await listing.read()).cursors
    kind, dot, digits = cursor.partition(".")
    assert dot
    spoilt = ["", "garbage", "YXJyYXljb25uZWN0aW9uOjA=", "0", "-1", digits, kind, kind + dot]
    spoilt += [cursor[:-1], cursor + "0", cursor[1:], cursor.upper(), " " + cursor, cursor + " "]
    spoilt += [cursor[:-1] + "g", cursor[:-1] + "\u0661", kind + dot + cursor]
    numbers = (f"-{digits[1:]}", f"+{digits[1:]}", f"0x{digits[2:]}", "f" * len(digits))
    spoilt += [kind + dot + number for number in numbers]
    for text in spoilt + await cursors_elsewhere(listing):
        assert await refused(listing, after=text) == "after", text
        if listing.both_ways:
            assert await refused(listing, before=text) == "before", text
            assert await refused(listing, last=1, before=text) == "before", text


def test_cursors_hold_ids() -> None:
    """A cursor holds any id, up to the largest, and no number above that."""
    for place in (0, 9, 16, LARGEST - 1, LARGEST):
        assert paging.read_cursor("list", paging.cursor("list", place), "after") == place
    with pytest.raises(BadUserInput):
        paging.read_cursor("list", paging.cursor("list", LARGEST + 1), "after")


async def cursors_elsewhere(listing: Listing) -> list[str]:
    """Return cursors of some other lists."""
    post = await listing.alice.post("elsewhere")
    await listing.alice.do("like", postId=post)
    query = """query($id: ID!) {
      user(login: "alice") { timeline(first: 1) { edges { cursor } } }
      publicTimeline(first: 1) { edges { cursor } }
      node(id: $id) { ... on Post { likedBy(first: 1) { edges { cursor } } } } }
    """
    data = await listing.alice.ask(query, id=post)
    found = {
        "User.timeline": data["user"]["timeline"],
        "publicTimeline": data["publicTimeline"],
        "likedBy": data["node"]["likedBy"],
    }
    return [page["edges"][0]["cursor"] for name, page in found.items() if name != listing.name]


async def test_a_page_has_20_entries_unless_asked(listing: Listing) -> None:
    """Without a number, or with null for it, a page has twenty entries."""
    await listing.add(22)
    newest = listing.newest_first
    for arguments in ({}, {"first": None}, {"after": None}, {"first": None, "after": None}):
        page = await listing.read(**arguments)
        assert page.ids == newest[:20]
        assert page.has_next
    assert (await listing.read(after=page.end)).ids == newest[20:]
    if listing.both_ways:
        assert (await listing.read(first=None, last=None)).ids == newest[:20]
        assert (await listing.read(first=None, last=21)).ids == newest[1:]
        assert (await listing.read(first=21, last=None)).ids == newest[:21]


# ---- pages


async def test_an_empty_list_is_one_empty_page(listing: Listing) -> None:
    """A list without entries has a page without entries, cursors and neighbours."""
    await listing.add()
    await listing.remove(*listing.newest_first)
    if listing.name == "hashtag.timeline":  # an unused tag is no tag
        assert (await listing.send())["data"] == {"hashtag": None}
        return
    assert await listing.read() == Page([], [], has_next=False, has_previous=False, start=None, end=None)
    if listing.both_ways:
        assert await listing.read(last=1) == Page([], [], has_next=False, has_previous=False, start=None, end=None)


async def test_pages_forward_add_up_to_the_list(listing: Listing) -> None:
    """Pages of any size, joined, are the whole list, and each says whether there are pages around it."""
    await listing.add(9)
    for size in (1, 2, 3, 7, 8, 9, 10):
        ids: list[str] = []
        end, more = None, True
        while more:
            page = await listing.read(first=size, after=end)
            assert (page.start, page.end) == (page.cursors[0], page.cursors[-1])
            assert page.has_previous == bool(ids)
            ids += page.ids
            assert len(page.ids) == size or not page.has_next
            assert page.has_next == (len(ids) < 9)
            end, more = page.end, page.has_next
        assert ids == listing.newest_first


@lists_only
@pytest.mark.parametrize("argument", ["last", "before"])
async def test_lists_page_forward_only(listing: Listing, argument: str) -> None:
    """A list that is no timeline has neither `last` nor `before`."""
    asked = LISTS[listing.name].replace("ARGUMENTS", f"{argument}: null").replace("PAGE", PAGE)
    answer = await listing.anonymous.send(f"{{ {asked} }}".replace("$post", f'"{listing.post}"'))
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    assert f"Unknown argument '{argument}'" in error["message"]


@timelines_only
async def test_pages_backward_add_up_to_the_timeline(listing: Listing) -> None:
    """Read with `last` and `before` from the oldest entry up, pages are the list too, each newest first in itself."""
    await listing.add(9)
    for size in (1, 2, 3, 7, 8, 9, 10):
        ids: list[str] = []
        start, more = None, True
        while more:
            page = await listing.read(last=size, before=start)
            assert (page.start, page.end) == (page.cursors[0], page.cursors[-1])
            assert page.has_next == bool(ids)
            ids = page.ids + ids
            assert len(page.ids) == size or not page.has_previous
            assert page.has_previous == (len(ids) < 9)
            start, more = page.start, page.has_previous
        assert ids == listing.newest_first


async def test_every_cursor_can_be_gone_on_from(listing: Listing) -> None:
    """After any entry come those below it, before it those above, and between two those in between."""
    await listing.add(5)
    newest = listing.newest_first
    cursors = (await listing.read()).cursors
    assert len(set(cursors)) == 5
    for i, cursor in enumerate(cursors):
        below = await listing.read(after=cursor)
        assert below.ids == newest[i + 1 :]
        assert (below.has_previous, below.has_next) == (True, False)
        if listing.both_ways:
            above = await listing.read(last=100, before=cursor)
            assert above.ids == newest[:i]
            assert (above.has_previous, above.has_next) == (False, True)
            assert (await listing.read(before=cursor)).ids == newest[:i]
            assert (await listing.read(last=2, after=cursor)).ids == newest[i + 1 :][-2:]
    if listing.both_ways:
        between = {"after": cursors[0], "before": cursors[4]}
        assert (await listing.read(**between)).ids == newest[1:4]
        assert (await listing.read(first=2, **between)).ids == newest[1:3]
        assert (await listing.read(last=2, **between)).ids == newest[2:4]
        assert (await listing.read(after=cursors[4], before=cursors[0])).ids == []


async def test_beyond_the_ends_there_is_nothing(listing: Listing) -> None:
    """Past the oldest entry, and above the newest, a page is empty and says that the list lies behind it."""
    await listing.add(3)
    page = await listing.read()
    assert await listing.read(after=page.end) == Page([], [], has_next=False, has_previous=True, start=None, end=None)
    if listing.both_ways:
        above = await listing.read(last=1, before=page.start)
        assert above == Page([], [], has_next=True, has_previous=False, start=None, end=None)
