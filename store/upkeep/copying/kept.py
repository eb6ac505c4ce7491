"""Which keys a backup has, and whether a store has none of them."""

from collections.abc import Iterable
from contextlib import aclosing

from store import keys
from store.client.database import Database
from store.upkeep.copying import moving

_OF_PROCESSES = keys.processes(), *(key("").partition("{")[0] for key in (keys.slot, keys.acknowledged, keys.absent))


def kept(names: Iterable[str]) -> list[str]:
    """Return the keys that a backup has: all but those by which running processes know of each other."""
    return [name for name in names if not name.startswith(_OF_PROCESSES)]


async def first(db: Database) -> str | None:
    """Return a key of a store that has more than the label of its layout, None for an empty store."""
    async with aclosing(moving.all_keys(db)) as found:
        async for names in found:
            for name in kept(names):
                if name != keys.layout():
                    return name
    return None
