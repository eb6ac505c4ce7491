"""Paging: whatever the list, pages neither repeat nor skip, and say truthfully what lies around them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from resolvers import identity
from store import keys
from store.connection import Database
from tests.conftest import Member, sign_up

PAGE = """{
edges { cursor node { ... on Node { id } } } nodes { ... on Node { id } }
pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
}"""
LISTS = {
    "followers": 'user(login: "alice") { followers(ARGUMENTS) PAGE }',
    "following": 'user(login: "alice") { following(ARGUMENTS) PAGE }',
    "likedBy": "node(id: $post) { ... on Post { likedBy(ARGUMENTS) PAGE } }",
    "reposts": "node(id: $post) { ... on Post { reposts(ARGUMENTS) PAGE } }",
    "quotes": "node(id: $post) { ... on Post { quotes(ARGUMENTS) PAGE } }",
    "comments": "node(id: $post) { ... on Post { comments(ARGUMENTS) PAGE } }",
    "User.timeline": 'user(login: "alice") { timeline(ARGUMENTS) PAGE }',
    "publicTimeline": "publicTimeline(ARGUMENTS) PAGE",
    "hashtag.timeline": 'hashtag(name: "tag") { timeline(ARGUMENTS) PAGE }',
    "homeTimeline": "homeTimeline(ARGUMENTS) PAGE",
}
TIMELINES = ["User.timeline", "publicTimeline", "hashtag.timeline", "homeTimeline"]  # these page both ways
FORWARD = {"first": "Int", "after": "String"}
BACKWARD = {"last": "Int", "before": "String"}

Undo = Callable[[], Awaitable[Any]]


@dataclass(frozen=True)
class Page:
    """A page as a client holds it."""

    ids: list[str]
    cursors: list[str]
    has_next: bool
    has_previous: bool
    start: str | None
    end: str | None


@dataclass
class Listing:
    """A list under test: how it is read, and how entries come and go. `entries` is what it must hold, oldest first."""

    name: str
    alice: Member
    bob: Member
    carol: Member
    anonymous: Member
    post: str = ""
    entries: dict[str, Undo] = field(default_factory=dict)
    members: int = 0

    @property
    def both_ways(self) -> bool:
        return self.name in TIMELINES

    @property
    def newest_first(self) -> list[str]:
        return list(self.entries)[::-1]

    async def send(self, **arguments: Any) -> dict[str, Any]:
        """Return the whole answer to a request for a page; an argument that is not given is left out."""
        taken = FORWARD | (BACKWARD if self.both_ways else {})
        declared = {**taken, "post": "ID!"} if self.post else taken
        query = LISTS[self.name].replace("ARGUMENTS", ", ".join(f"{name}: ${name}" for name in taken))
        variables = ", ".join(f"${name}: {kind}" for name, kind in declared.items())
        reader = self.alice if self.name == "homeTimeline" else self.anonymous
        post = {"post": self.post} if self.post else {}
        return await reader.send(f"query({variables}) {{ {query.replace('PAGE', PAGE)} }}", **arguments, **post)

    async def read(self, **arguments: Any) -> Page:
        """Return a page, having made sure that its parts agree."""
        answer = await self.send(**arguments)
        assert "errors" not in answer, answer
        found = answer["data"]
        while "edges" not in found:
            (found,) = found.values()
        ids = [edge["node"]["id"] for edge in found["edges"]]
        assert found["nodes"] == [{"id": thing} for thing in ids]
        cursors, info = [edge["cursor"] for edge in found["edges"]], found["pageInfo"]
        page = Page(ids, cursors, info["hasNextPage"], info["hasPreviousPage"], info["startCursor"], info["endCursor"])
        assert (page.start is None) == (page.end is None)
        assert page.end is not None or not (page.has_next if "last" not in arguments else page.has_previous)
        return page

    async def add(self, count: int = 1) -> None:
        """Let entries come, one after another."""
        for _ in range(count):
            thing, undo = await ADD[self.name](self)
            self.entries[thing] = undo

    async def remove(self, *things: str) -> None:
        """Let entries go, as members do it."""
        for thing in things:
            await self.entries.pop(thing)()

    async def one(self) -> Member:
        """Return one more member."""
        self.members += 1
        return await sign_up(self.anonymous, f"one{self.members}")


async def _followed(listing: Listing) -> tuple[str, Undo]:
    member = await listing.one()
    await member.follow(listing.alice)
    return member.id, lambda: member.unfollow(listing.alice)


async def _follows(listing: Listing) -> tuple[str, Undo]:
    member = await listing.one()
    await listing.alice.follow(member)
    return member.id, lambda: listing.alice.unfollow(member)


async def _liked(listing: Listing) -> tuple[str, Undo]:
    member = await listing.one()
    await member.do("like", postId=listing.post)
    return member.id, lambda: member.do("unlike", postId=listing.post)


async def _reposted(listing: Listing) -> tuple[str, Undo]:
    member = await listing.one()
    repost = await member.repost(listing.post)
    return repost, lambda: member.do("unrepost", postId=listing.post)


async def _quoted(listing: Listing) -> tuple[str, Undo]:
    quote = await listing.bob.repost(listing.post, "see")
    return quote, lambda: listing.bob.do("deletePost", postId=quote)


async def _commented(listing: Listing) -> tuple[str, Undo]:
    payload = await listing.bob.do("comment", "comment { id }", postId=listing.post, text="yes")
    comment = payload["comment"]["id"]
    return comment, lambda: listing.bob.do("deleteComment", commentId=comment)


async def _published(listing: Listing) -> tuple[str, Undo]:
    post = await listing.alice.post("hello #tag")
    return post, lambda: listing.alice.do("deletePost", postId=post)


async def _came_home(listing: Listing) -> tuple[str, Undo]:
    """Let a post come home in one of three ways: an own one, a followed member's, or one that they passed on."""
    match len(listing.entries) % 3:
        case 0:
            return await _published(listing)
        case 1:
            post = await listing.bob.post("hello")
            return post, lambda: listing.bob.do("deletePost", postId=post)
        case _:
            post = await listing.carol.post("hello")
            await listing.bob.repost(post)
            return post, lambda: listing.bob.do("unrepost", postId=post)


ADD: dict[str, Callable[[Listing], Awaitable[tuple[str, Undo]]]] = {
    "followers": _followed,
    "following": _follows,
    "likedBy": _liked,
    "reposts": _reposted,
    "quotes": _quoted,
    "comments": _commented,
    "User.timeline": _published,
    "publicTimeline": _published,
    "hashtag.timeline": _published,
    "homeTimeline": _came_home,
}


@pytest.fixture(params=LISTS)
async def listing(
    request: pytest.FixtureRequest, alice: Member, bob: Member, carol: Member, anonymous: Member
) -> Listing:
    """Each of the lists, empty."""
    made = Listing(request.param, alice, bob, carol, anonymous)
    if "$post" in LISTS[made.name]:
        made.post = await alice.post("hello")
    if made.name == "homeTimeline":
        await alice.follow(bob)
    return made


timelines_only = pytest.mark.parametrize("listing", TIMELINES, indirect=True)
lists_only = pytest.mark.parametrize("listing", [name for name in LISTS if name not in TIMELINES], indirect=True)


async def vanish(db: Database, *things: str) -> None:
    """Delete records behind the lists' back, as if a job had not come so far as to take them off."""
    key_of = {"user": keys.user, "status": keys.status, "repost": keys.status, "comment": keys.comment}
    found = [identity.read(thing) for thing in things]
    await db.one("DEL", *(key_of[name[0]](name[1]) for name in found if name))


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
    """A cursor that is spoilt in any way, or comes from another list, is bad input that names the argument."""
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
    if listing.name == "hashtag.timeline":  # a tag that nothing carries is no tag
        assert (await listing.send())["data"] == {"hashtag": None}
        return
    assert await listing.read() == Page([], [], has_next=False, has_previous=False, start=None, end=None)
    if listing.both_ways:
        assert await listing.read(last=1) == Page([], [], has_next=False, has_previous=False, start=None, end=None)


async def test_pages_forward_add_up_to_the_list(listing: Listing) -> None:
    """Whatever the size of the pages, one after another they are the list, and each tells what lies around it."""
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
    """What is no timeline has neither `last` nor `before`."""
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


# ---- while entries come and go


async def test_paging_goes_on_while_entries_come_and_go(listing: Listing) -> None:
    """Paging forward repeats nothing and skips nothing that stayed, even if the very entry it stands at is gone."""
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
    """Paging backward from what a client holds finds what came meanwhile, once each, with nothing that is gone."""
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


async def test_what_lies_behind_a_cursor_is_told_anew(listing: Listing) -> None:
    """`hasPreviousPage` is false once everything above, the cursor's own entry with it, has gone."""
    await listing.add(4)
    page = await listing.read(first=2)
    assert (await listing.read(first=2, after=page.end)).has_previous
    await listing.remove(page.ids[0])
    assert (await listing.read(first=2, after=page.end)).has_previous
    await listing.remove(page.ids[1])
    assert not (await listing.read(first=2, after=page.end)).has_previous


# ---- while entries name what is gone


async def test_filtered_entries_never_end_a_list(db: Database, listing: Listing) -> None:
    """Paging in pages of any size crosses a gap of thirty vanished things, and a page they would empty is refilled."""
    await listing.add(36)
    newest = listing.newest_first
    await vanish(db, *newest[3:33])
    standing = newest[:3] + newest[33:]
    for size in (1, 4, 20):
        page = await listing.read(first=size)
        ids = page.ids
        while page.has_next:
            page = await listing.read(first=size, after=page.end)
            ids += page.ids
        assert ids == standing
        if not listing.both_ways:
            continue
        page = await listing.read(last=size)
        ids = page.ids
        while page.has_previous:
            page = await listing.read(last=size, before=page.start)
            ids = page.ids + ids
        assert ids == standing
    await vanish(db, *newest[:3])
    page = await listing.read(first=20)
    assert page.ids == newest[33:]
    assert (page.has_next, page.end) == (False, page.cursors[-1])


async def test_a_list_of_vanished_things_ends(db: Database, listing: Listing) -> None:
    """A list whose every thing is gone has pages without entries, and comes to an end."""
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
