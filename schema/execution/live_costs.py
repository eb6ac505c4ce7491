"""What the open subscriptions of a member cost per event, all together, and the limit on that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from msgspec import Struct

from resolvers.operation.errors import RateLimited

Owner: TypeAlias = int | str  # a member's id, or the address of somebody anonymous
K = TypeVar("K")

EVENT_COST = 50  # fields that take as long as all else that is done for one event of one subscription
SENDING_COST = 5  # fields that take as long as sending what is rendered already
RETRY_SECONDS = 1  # an operation or a connection that ends makes room at any time


class EventCost(Struct, frozen=True, eq=False):
    """What one event of a subscription costs, in fields; `selection` is set where it is rendered once for all."""

    fields: int
    selection: object | None


class LiveCosts:
    """The costs of the open subscriptions of this process, by whom they belong to."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._costs: Counter[Owner] = Counter()
        self._sharing: Counter[tuple[Owner, int]] = Counter()  # subscriptions of an owner to the same selection

    @contextmanager
    def held(self, owner: Owner, cost: EventCost | None) -> Iterator[None]:
        """Count a subscription while it is open; raises RateLimited for one too many, and counts nothing then."""
        if cost is None:
            yield
            return
        # The id is of nothing else, as `cost` keeps the selection alive.
        sharing = (owner, id(cost.selection if cost.selection is not None else cost))
        price = self._price(cost, sharing)
        if self._costs[owner] + price > self._most:
            raise RateLimited(
                f"The subscriptions of one member may cost {self._most} per event together: "
                f"those that are open cost {self._costs[owner]}, and this one {price}",
                RETRY_SECONDS,
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
