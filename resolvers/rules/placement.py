"""Where promotions stand on a page: every tenth entry, counted within what the client asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

EVERY = 10  # the tenth, twentieth, … entry of a page is a promotion, so that none stands first

Edge = TypeVar("Edge")
Promoted = TypeVar("Promoted")


def room(entries: int) -> int:
    """Return how many promotions a page of so many entries has room for: none in fewer than ten."""
    return entries // EVERY


def placed(
    edges: Sequence[Edge],
    promotions: Sequence[Promoted],
    most: int,
    *,
    forward: bool,
    after: Callable[[Edge, Promoted], Edge],
) -> list[Edge]:
    """Return the entries of a page with promotions among them, at most `most` together.

    Entries for which no place is left are dropped where the next page goes on: at the end of one read forward, at the
    beginning of one read backward. `after` makes the edge of a promotion from the one before it.
    """
    shown = promotions[: room(len(edges))]
    kept = min(len(edges), most - len(shown))
    page = list(edges[:kept] if forward else edges[len(edges) - kept :])
    for number, promotion in enumerate(shown, 1):
        page.insert(number * EVERY - 1, after(page[number * EVERY - 2], promotion))
    return page
