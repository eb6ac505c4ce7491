"""Data loaders of the usual forms: records by id, the viewer's flags, single values."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from resolvers.loading.batcher import Batcher
from resolvers.loading.dataloader import DataLoader, sound
from store.client.caching.values import CachedRelations, CachedValues
from store.client.database import Command
from store.records.lists import read_pairs

Value = TypeVar("Value")


def records(
    batcher: Batcher,
    command: Callable[[int], Command],
    read: Callable[[int, dict[str, str]], Value | None],
    cached: CachedValues | None = None,
) -> DataLoader[Value | None]:
    """Return the data loader of records that are hashes, by their ids."""

    def record(entity_id: int, reply: Any) -> Value | Exception | None:
        # A broken record fails for the callers that ask for it, and not for the rest of the batch.
        try:
            if isinstance(reply, Exception):
                return reply
            return read(entity_id, reply if type(reply) is dict else read_pairs(reply))
        except Exception as error:  # noqa: BLE001  the data loader raises it
            return error

    def read_all(ids: list[int], replies: list[Any]) -> Iterable[Value | Exception | None]:
        return map(record, ids, replies)

    return DataLoader(batcher, lambda ids: list(map(command, ids)), read_all, cached)


def the_one(
    batcher: Batcher, command: Command, read: Callable[[Any], Value], cached: CachedValues
) -> DataLoader[Value]:
    """Return the data loader of a single value, whose id is ANY."""
    return DataLoader(batcher, lambda _: [command], lambda _, replies: [read(sound(replies)[0])], cached)


def flags(
    batcher: Batcher,
    command: Callable[[int, list[int]], Command],
    viewer: int,
    cached: CachedRelations | None = None,
) -> DataLoader[bool]:
    """Return the data loader of what a viewer has set on things, all of it stored in one key of the viewer."""

    def read(_: list[int], replies: list[Any]) -> list[bool]:
        return [reply is not None for reply in sound(replies)[0]]

    return DataLoader(batcher, lambda ids: [command(viewer, ids)], read, cached.of(viewer) if cached else None)


def each_is_there(_: list[int], replies: list[Any]) -> list[bool]:
    """Return for each reply whether there is a value."""
    return [reply is not None for reply in sound(replies)]
