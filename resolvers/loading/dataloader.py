"""Data loaders: each id is read once per operation, and several data loaders share one round trip."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from resolvers.loading.batcher import Batcher, sound
from store.client.caching.values import CachedValues, Changed, Mark
from store.client.database import Command
from store.records.lists import read_pairs

ANY = -1  # the key of a data loader's only value, or of a value that covers all its ids; 0 stands for no entity

Value = TypeVar("Value")
Ask = Callable[[list[Any]], list[Command]]  # ids → the commands that read them
Read = Callable[[list[Any], list[Any]], Iterable[Any]]  # ids and replies → a value, or an error, for each id


class DataLoader(Generic[Value]):
    """Reads values by id, each once per operation."""

    def __init__(self, batcher: Batcher, ask: Ask, read: Read, cached: CachedValues | None = None) -> None:
        self._batcher = batcher
        self._ask = ask
        self._read = read
        self.cached = cached
        self.found: dict[Any, Any] = {}  # all loaded values by id, errors included
        self._sought: dict[Any, asyncio.Future[None]] = {}
        self._has_failed = False

    async def load(self, entity_id: Any) -> Value:
        """Return the value of one id; raises the error of reading it."""
        (found,) = await self.load_many((entity_id,))
        return found

    async def load_many(self, ids: Sequence[Any]) -> list[Value]:
        """Return values in the order of their ids; raises the first error among them."""
        await fetch(self._batcher, (self, ids))
        return self.loaded(ids)

    def prime(self, values: Mapping[Any, Value]) -> None:
        """Add values that were read in another way."""
        self.found |= values

    def loaded(self, ids: Collection[Any]) -> list[Value]:
        """Return loaded values in the order of their ids, without I/O; raises the first error among them."""
        found = list(map(self.found.__getitem__, ids))
        if self._has_failed:
            for value in found:
                if isinstance(value, Exception):
                    raise value
        return found

    def missing(self, ids: Iterable[Any]) -> list[Any]:
        """Return the ids that are not loaded yet, each once. Current cached values are loaded by this call."""
        loaded = self.found
        missing = [entity_id for entity_id in ids if entity_id not in loaded] if loaded else list(ids)
        if missing and self.cached and self._batcher.is_current:
            found = self.cached.find(missing)
            loaded |= found
            missing = (
                [entity_id for entity_id in missing if entity_id not in found] if len(found) < len(missing) else []
            )
        return list(dict.fromkeys(missing)) if missing else missing

    def find_cached(self, missing: Sequence[Any]) -> Mapping[Any, Any]:
        """Return cached values of some ids; they may be out of date."""
        return self.cached.find(missing) if self.cached else {}

    def seek(self, missing: list[Any], waits: set[asyncio.Future[None]]) -> list[Any]:
        """Return the ids that no caller reads yet. For the others, add the futures to wait for to `waits`."""
        if not self._sought:
            return missing
        waits.update(self._sought[entity_id] for entity_id in missing if entity_id in self._sought)
        return [entity_id for entity_id in missing if entity_id not in self._sought]

    def ask(self, ids: list[Any], found: asyncio.Future[None]) -> list[Command]:
        """Return the commands that read some ids. Until their replies are received, other callers wait for `found`."""
        self._sought.update(dict.fromkeys(ids, found))
        return self._ask(ids)

    def receive(self, ids: list[Any], replies: list[Any], changed: Changed | None = None) -> None:
        """Parse the replies for some ids. Cache the values, except those in `changed`; None means cache nothing."""
        try:
            values = dict(zip(ids, self._read(ids, replies), strict=True))
        except Exception as error:  # noqa: BLE001  every caller of one of these ids gets it
            values = dict.fromkeys(ids, error)
        self.found |= values
        failed = [entity_id for entity_id, value in values.items() if isinstance(value, Exception)]
        if failed:
            self._has_failed = True
            values = {entity_id: value for entity_id, value in values.items() if entity_id not in failed}
        if changed is not None:
            self.keep(values, changed)
        self.leave(ids)

    def keep(self, values: dict[Any, Value], changed: Changed) -> None:
        """Cache values that were read, except those in `changed`."""
        if self.cached:
            self.cached.keep(values, changed)

    def marks(self) -> Sequence[Mark] | None:
        """Return marks that are all true until a loaded value has changed; None if one is not in the cache now.

        A data loader without a cache has none: its reads pass the batcher as plain commands.
        """
        return self.cached.marks(self.found) if self.cached and self.found else ()

    def leave(self, ids: Iterable[Any]) -> None:
        """Mark ids as no longer being read: they have arrived, or their caller was cancelled."""
        for entity_id in ids:
            self._sought.pop(entity_id, None)


Lookup = tuple[DataLoader[Any], Sequence[Any]]
Sought = tuple[DataLoader[Any], list[Any], list[Command]]


class _LoaderReading:
    """The reads of several data loaders, sent together."""

    def __init__(self, sought: list[Sought]) -> None:
        self._sought = sought
        self.commands = [command for _, _, commands in sought for command in commands]

    def take(self, replies: list[Any], changed: Changed | None = None) -> None:
        start = 0
        for loader, ids, commands in self._sought:
            end = start + len(commands)
            loader.receive(ids, replies[start:end], changed)
            start = end


async def fetch(batcher: Batcher, *wanted: Lookup) -> None:
    """Load ids of several data loaders in one round trip; loaded ids cost nothing.

    Cached ids are not sent. The same round trip delivers pending invalidations, and only ids that they drop are read
    in another one.
    """
    while True:
        waits: set[asyncio.Future[None]] = set()
        sought: list[tuple[DataLoader[Any], list[Any]]] = []
        is_cached = False
        for loader, ids in wanted:
            missing = loader.missing(ids)
            if missing and not batcher.is_current and (hits := loader.find_cached(missing)):
                missing, is_cached = [entity_id for entity_id in missing if entity_id not in hits], True
            if missing and (new := loader.seek(missing, waits)):
                sought.append((loader, new))
        if sought:
            await _look_up(batcher, sought)
        elif is_cached:
            await batcher.synchronise()
        if not (waits or is_cached):
            return
        # Cancelling this caller must not cancel the read of others. If the reading caller was cancelled, read again.
        for others in waits:
            await asyncio.shield(others)


def read_ahead(batcher: Batcher, loader: DataLoader[Any], entity_id: Any) -> None:
    """Have the next round trip read an id, without waiting. An id that is loaded or cached is not read."""
    if not loader.missing((entity_id,)) or entity_id in loader.find_cached((entity_id,)):
        return
    found: asyncio.Future[None] = batcher.loop.create_future()
    if ids := loader.seek([entity_id], set()):
        reading = _LoaderReading([(loader, ids, loader.ask(ids, found))])
        batcher.read(reading).add_done_callback(partial(_end, found))


def _end(found: asyncio.Future[None], answered: asyncio.Future[None]) -> None:
    if error := answered.exception():
        found.set_exception(error)
        found.exception()  # perhaps no caller waits: asyncio must not report it as never retrieved
    else:
        found.set_result(None)


async def _look_up(batcher: Batcher, sought: list[tuple[DataLoader[Any], list[Any]]]) -> None:
    found: asyncio.Future[None] = batcher.loop.create_future()
    try:
        await _ask(batcher, [(loader, ids, loader.ask(ids, found)) for loader, ids in sought])
    except (asyncio.CancelledError, GeneratorExit):  # the second when a coroutine is closed where it waits
        for loader, ids in sought:
            loader.leave(ids)
        found.set_result(None)
        raise
    except BaseException as error:
        found.set_exception(error)
        found.exception()  # often no other caller waits: asyncio must not report it as never retrieved
        raise
    found.set_result(None)


async def _ask(batcher: Batcher, asked: list[Sought]) -> None:
    cacheable: list[Sought] = []
    plain: list[Sought] = []
    for one in asked:
        (cacheable if one[0].cached and one[2] else plain).append(one)
    reading = batcher.read(_LoaderReading(cacheable)) if cacheable else None
    if plain:
        others = _LoaderReading(plain)
        replies = await batcher.attempt(others.commands) if others.commands else []
    if reading:
        await reading
    if plain:
        others.take(replies)


def records(
    batcher: Batcher,
    command: Callable[[int], Command],
    read: Callable[[int, dict[str, str]], Value | None],
    cached: CachedValues | None = None,
) -> DataLoader[Value | None]:
    """Return the data loader of records that are hashes, by their ids."""

    # The annotation is quoted: Python would evaluate it anew for every loader.
    def record(entity_id: int, reply: Any) -> "Value | Exception | None":
        # A broken record fails for the callers that ask for it, and not for the rest of the batch.
        try:
            if isinstance(reply, Exception):
                return reply
            return read(entity_id, reply if type(reply) is dict else read_pairs(reply))
        except Exception as error:  # noqa: BLE001  the data loader raises it
            return error

    return DataLoader(batcher, lambda ids: list(map(command, ids)), partial(map, record), cached)


def each(
    batcher: Batcher,
    command: Callable[[Any], Command],
    read: Callable[[Any], Value],
    cached: CachedValues | None = None,
) -> DataLoader[Value]:
    """Return the data loader of values that have a command each."""
    return DataLoader(
        batcher, lambda ids: list(map(command, ids)), lambda _, replies: map(read, sound(replies)), cached
    )


def together(
    batcher: Batcher,
    command: Callable[[list[Any]], Command],
    read: Callable[[Any], Value],
    cached: CachedValues | None = None,
) -> DataLoader[Value]:
    """Return the data loader of values that one command reads, such as those of one hash or sorted set."""
    return DataLoader(batcher, lambda ids: [command(ids)], lambda _, replies: map(read, sound(replies)[0]), cached)


def constant(batcher: Batcher, value: Value) -> DataLoader[Value]:
    """Return a data loader that gives every id the same value, and reads nothing."""
    return DataLoader(batcher, lambda _: [], lambda ids, _: [value] * len(ids))
