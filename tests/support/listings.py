"""Every list in the schema: how to read its pages, and how to add and remove entries."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.support.people import Member, sign_up

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
TIMELINES = ["User.timeline", "publicTimeline", "hashtag.timeline", "homeTimeline"]  # the lists that page both ways
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
    """A list under test: how to read it, add to it and remove from it. `entries` is what it must hold, oldest first."""

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
        """Return the whole response to a request for a page; arguments not given are left out."""
        taken = FORWARD | (BACKWARD if self.both_ways else {})
        declared = {**taken, "post": "ID!"} if self.post else taken
        query = LISTS[self.name].replace("ARGUMENTS", ", ".join(f"{name}: ${name}" for name in taken))
        variables = ", ".join(f"${name}: {kind}" for name, kind in declared.items())
        reader = self.alice if self.name == "homeTimeline" else self.anonymous
        post = {"post": self.post} if self.post else {}
        return await reader.send(f"query({variables}) {{ {query.replace('PAGE', PAGE)} }}", **arguments, **post)

    async def read(self, **arguments: Any) -> Page:
        """Return a page, after checking that its parts agree."""
        answer = await self.send(**arguments)
        assert "errors" not in answer, answer
        found = answer["data"]
        while "edges" not in found:
            (found,) = found.values()
        ids = [edge["node"]["id"] for edge in found["edges"]]
        assert found["nodes"] == [{"id": entity_id} for entity_id in ids]
        cursors, info = [edge["cursor"] for edge in found["edges"]], found["pageInfo"]
        page = Page(ids, cursors, info["hasNextPage"], info["hasPreviousPage"], info["startCursor"], info["endCursor"])
        assert (page.start is None) == (page.end is None)
        assert page.end is not None or not (page.has_next if "last" not in arguments else page.has_previous)
        return page

    async def add(self, count: int = 1) -> None:
        """Add entries, one after another."""
        for _ in range(count):
            entity_id, undo = await ADD[self.name](self)
            self.entries[entity_id] = undo

    async def remove(self, *ids: str) -> None:
        """Remove entries, as members do it."""
        for entity_id in ids:
            await self.entries.pop(entity_id)()

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
    """Add a post to the home in one of three ways: an own post, a followed member's, or a followed member's repost."""
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
