"""Pages of lists: their arguments, and the types of a connection and its edges."""

from datetime import datetime
from typing import Any

import strawberry

from resolvers.reading.paging import NodeEdge, Page
from schema.types.descriptions import limit
from schema.types.fields import Arguments, argument, computed, field

AFTER = argument(
    str | None, "A cursor of this list. The page begins after it, or else where the list begins.", default=None
)
PAGE: Arguments = {
    "first": argument(int | None, f"How many entries, 1 to {limit('max_page')}. The default is 20.", default=20),
    "after": AFTER,
}
PAGE_EITHER_WAY: Arguments = {
    "first": argument(
        int | None,
        f"How many entries forward, 1 to {limit('max_page')}. Without `first` and `last` the page has 20. "
        "Both together are refused with BAD_USER_INPUT.",
        default=None,
    ),
    "after": AFTER,
    "last": argument(
        int | None,
        f"How many entries backward, 1 to {limit('max_page')}: those nearest to `before`, or else to the "
        "end of the list.",
        default=None,
    ),
    "before": argument(
        str | None, "A cursor of this list. The page ends before it, or else where the list ends.", default=None
    ),
}
CURSOR = "The place of this entry in the list, for `after` or `before`. It stays right while other entries come and go."


@strawberry.type(description="Where a page lies in its list, as the Relay cursor specification defines it.")
class PageInfo:
    has_next_page: bool = field("Whether entries follow after `endCursor`.", cached=True)
    has_previous_page: bool = field("Whether entries lie before `startCursor`.", cached=True)
    start_cursor: str | None = field(
        "The cursor of the first entry read for this page, shown or not. Null when none was read.", cached=True
    )
    end_cursor: str | None = field(
        "The cursor of the last entry read for this page, shown or not. Pass it as `after` to go on. "
        "Null when none was read.",
        cached=True,
    )


def connection(node: Any, entry: str, entries: str, *, name: str = "", node_is: str = "", **fields: Any) -> Any:
    """Declare the connection of a list, and its edges with these more fields; names both after the node or `name`.

    An entry is named with its article, as in "a post". Without `node_is`, the node is described by that name.
    """
    name = name or node.__name__
    edge = _type(
        f"{name}Edge",
        f"{entry[0].upper()}{entry[1:]} in a list, with its place there.",
        cursor=field(CURSOR, str, cached=True),
        node=field(node_is or f"The {entry.partition(' ')[2]}.", node, cached=True),
        **fields,
    )
    return page(f"{name}Connection", f"A page of {entries}, as the Relay cursor specification defines it.", edge, node)


def page(name: str, description: str, edge: Any, node: Any) -> Any:
    """Declare the type of a page that has such edges and nodes."""
    return _type(
        name,
        description,
        edges=field("The entries of this page, each with its cursor.", list[edge], cached=True),
        page_info=field("Where this page lies in the list, and whether the list goes on.", PageInfo, cached=True),
        nodes=computed(_nodes, list[node], "The entries of this page without their edges.", cached=True),
    )


def since(description: str) -> Any:
    """Declare the field of an edge that says when its entry was added to the list."""
    return computed(_at, datetime, description)


def _type(name: str, description: str, **fields: Any) -> Any:
    return strawberry.type(type(name, (), fields), description=description)


def _nodes(root: Page[Any]) -> list[Any]:
    return [edge.node for edge in root.edges]


def _at(root: NodeEdge[Any]) -> datetime:
    return root.at
