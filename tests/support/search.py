"""Searches for members."""

from typing import Any

from tests.support.people import Member

SEARCH = """
query($prefix: String!, $first: Int, $after: String) { searchUsers(prefix: $prefix, first: $first, after: $after) {
  edges { cursor node { login } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }
"""


async def found(member: Member, prefix: str, **span: Any) -> list[str]:
    """Return the logins of a page of search results."""
    return [edge["node"]["login"] for edge in (await member.ask(SEARCH, prefix=prefix, **span))["edges"]]
