"""Pages of a home as a client reads them."""

from typing import Any

from tests.support.people import Member
from tests.support.work import number


def place(cursor: str) -> int:
    """Return the id in a cursor."""
    return int(cursor.rpartition(".")[2], 16)


HOME = """query($first: Int, $after: String, $last: Int, $before: String) {
  homeTimeline(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor repostedBy(first: 100) { user { login } } node { ... on Node { id } } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


def seen(edge: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Return an edge's post, place and reposters."""
    by = [source["user"]["login"] for source in edge["repostedBy"]]
    return number(edge["node"]["id"]), place(edge["cursor"]), by


async def read(member: Member, **span: Any) -> Any:
    return await member.ask(HOME, **span)


async def walk(member: Member, size: int, *, forward: bool) -> list[tuple[int, int, list[str]]]:
    """Return a home read in pages, newest first; checks that each page knows whether there is a page behind it."""
    pages: list[list[tuple[int, int, list[str]]]] = []
    cursor = None
    while True:
        page = await read(member, **({"first": size, "after": cursor} if forward else {"last": size, "before": cursor}))
        pages.append([seen(edge) for edge in page["edges"]])
        info = page["pageInfo"]
        more, behind = info["hasNextPage"], info["hasPreviousPage"]
        more, behind = (more, behind) if forward else (behind, more)
        assert behind == bool(cursor)
        if not more:
            return [line for page in (pages if forward else pages[::-1]) for line in page]
        cursor = info["endCursor" if forward else "startCursor"]
