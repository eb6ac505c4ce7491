"""Posts and comments by their ids."""

from typing import Any

from tests.support.people import Member


async def seen(member: Member, entity_id: str, selection: str) -> Any:
    """Return a post or a comment as a member sees it, None if there is none."""
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ {selection} }} }} }}"
    if entity_id.startswith("comment"):
        query = f"query($id: ID!) {{ node(id: $id) {{ ... on Comment {{ {selection} }} }} }}"
    return await member.ask(query, id=entity_id)
