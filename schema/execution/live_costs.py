"""Limits the total cost per event of all open subscriptions of one member."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from msgspec import Struct

from resolvers.process.errors import RateLimited

Owner: TypeAlias = int | str  # A member's id, or the address of an anonymous client.
K = TypeVar("K")

EVENT_COST = 50  # Overhead of one event of one subscription, in fields that take as long.
SENDING_COST = 5  # Time to send an event that is already rendered, likewise in fields.
RETRY_SECONDS = 1  # Room is made whenever an operation or a connection ends.


class EventCost(Struct, frozen=True, eq=False):
    """The cost of one event of a subscription, in fields; `selection` is set where one rendering serves all."""

    fields: int
    selection: object | None


class LiveCosts:
    """The costs of the open subscriptions of this process, by owner."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._costs: Counter[Owner] = Counter()
        self._sharing: Counter[tuple[Owner, int]] = Counter()  # Subscriptions of an owner to the same selection.

    @contextmanager
    def held(self, owner: Owner, cost: EventCost | None) -> Iterator[None]:
        """Count a subscription while it is open; raises RateLimited and counts nothing where it exceeds the limit."""
        if cost is None:
            yield
            return
        # `cost` keeps the selection alive, so no other object can have its id.
        sharing = (owner, id(cost.selection if cost.selection is not None else cost))
        price = self._price(cost, sharing)
        if self._costs[owner] + price > self._most:
            raise RateLimited(
                f"The subscriptions of one member may cost {self._most} per event together: "
                f"those that are open cost {self._costs[owner]}, and this one {price}",
                RETRY_SECONDS,
                "max_live_cost",
            )
        self._costs[owner] += price
        self._sharing[sharing] += 1
        try:
            yield
        finally:
            _subtract(self._sharing, sharing, 1)
            _subtract(self._costs, owner, self._price(cost, sharing))

    def _price(self, cost: EventCost, sharing: tuple[Owner, int]) -> int:
        return SENDING_COST if self._sharing[sharing] else EVENT_COST + cost.fields


def _subtract(counter: Counter[K], key: K, number: int) -> None:
    counter[key] -= number
    if not counter[key]:
        del counter[key]
