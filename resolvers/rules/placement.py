"""Placement of promotions on a page: every tenth entry, within the number of entries that the client asked for."""

from collections.abc import Callable, Sequence
from typing import TypeVar

EVERY = 10  # the tenth, twentieth, … entry of a page is a promotion, so that the first entry never is

Edge = TypeVar("Edge")
Promoted = TypeVar("Promoted")


def room(entries: int) -> int:
    """Return the number of promotions on a page of so many entries: none for fewer than ten."""
    return entries // EVERY


def placed(
    edges: Sequence[Edge],
    promotions: Sequence[Promoted],
    most: int,
    *,
    forward: bool,
    after: Callable[[Edge, Promoted], Edge],
) -> list[Edge]:
    """Return the entries of a page with promotions among them, at most `most` in all.

    Entries that no longer fit are dropped where the next page continues. That is the end of a page read forward, and
    the beginning of a page read backward. `after` makes a promotion's edge from the edge before it.
    """
    shown = promotions[: room(len(edges))]
    kept = min(len(edges), most - len(shown))
    page = list(edges[:kept] if forward else edges[len(edges) - kept :])
    for number, promotion in enumerate(shown, 1):
        page.insert(number * EVERY - 1, after(page[number * EVERY - 2], promotion))
    return page
