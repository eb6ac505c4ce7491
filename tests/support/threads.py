"""Helpers of tests of replies and conversations, which read them page by page."""

from typing import Any

from resolvers.upkeep import verify
from store.client.database import Database
from tests.support.people import Member

PAGE = "edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
LISTS = {"replies": "Post", "conversation": "Status"}


async def page(member: Member, post_id: str, field: str, first: int = 100, after: str | None = None) -> Any:
    """Return a page of replies or of a conversation, after checking that its parts agree."""
    query = f"""query($id: ID!, $first: Int, $after: String) {{ node(id: $id) {{ ... on {LISTS[field]} {{
        list: {field}(first: $first, after: $after) {{ {PAGE} }} }} }} }}"""
    found = (await member.ask(query, id=post_id, first=first, after=after))["list"]
    assert found["nodes"] == [edge["node"] for edge in found["edges"]]
    return found


async def read(member: Member, post_id: str, field: str) -> list[str]:
    """Return the ids of replies or of a conversation in one page."""
    found = await page(member, post_id, field)
    assert not found["pageInfo"]["hasNextPage"]
    return [node["id"] for node in found["nodes"]]


async def walk(member: Member, post_id: str, field: str, first: int) -> list[list[str]]:
    """Return the ids of replies or of a conversation in pages."""
    pages: list[list[str]] = []
    after = None
    while True:
        found = await page(member, post_id, field, first, after)
        assert found["pageInfo"]["hasPreviousPage"] == (after is not None)
        pages.append([node["id"] for node in found["nodes"]])
        if not found["pageInfo"]["hasNextPage"]:
            return pages
        after = found["pageInfo"]["endCursor"]


async def answered(member: Member, post_id: str) -> str | None:
    """Return the id of the post that a status answers, as a member sees it."""
    found = await member.ask("query($id: ID!) { node(id: $id) { ... on Status { inReplyTo { id } } } }", id=post_id)
    parent: str | None = found["inReplyTo"] and found["inReplyTo"]["id"]
    return parent


async def reply_count(member: Member, post_id: str) -> int:
    """Return the reply count that a post shows."""
    found = await member.ask("query($id: ID!) { node(id: $id) { ... on Post { replyCount } } }", id=post_id)
    count: int = found["replyCount"]
    return count


async def assert_clean(db: Database) -> None:
    """Assert that every invariant of the store holds."""
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings
