"""The viewer's stored home, read together with the other facts that its pages depend on."""

import asyncio

from msgspec import Struct

from resolvers.loading.batcher import Batcher
from resolvers.loading.dataloader import ANY, Lookup
from resolvers.loading.loaders import DataLoaders
from resolvers.process.big_authors import BigAuthors
from store.homes import stored as homes
from store.homes.stored import StoredHome
from store.timelines import Slice


class ViewerHome(Struct, frozen=True):
    """Part of the viewer's stored home, the big authors they follow, and the day on which they last read it."""

    stored: StoredHome
    big: tuple[int, ...]
    read_on: int | None


async def read(
    batcher: Batcher, load: DataLoaders, big: BigAuthors, viewer: int, part: Slice
) -> tuple[ViewerHome, bool]:
    """Return part of the viewer's home, and whether the site's big authors are still those that `big` has.

    One round trip. If the big authors have changed, the result must not be used.
    """
    # Concurrent operations may update the big authors while this one waits for its replies.
    expected, members = big.version, big.members
    wanted: list[Lookup] = [(load.read_on, [viewer]), (load.big_version, [ANY])]
    if members:
        wanted.append((load.big_followed, [members]))
    stored = await _stored(batcher, load, viewer, part, *wanted)
    followed = load.big_followed.loaded([members])[0] if members else ()
    (day,), (version,) = load.read_on.loaded([viewer]), load.big_version.loaded([ANY])
    return ViewerHome(stored, tuple([member for member in followed if member != viewer]), day), version == expected


async def _stored(batcher: Batcher, load: DataLoaders, viewer: int, part: Slice, *wanted: Lookup) -> StoredHome:
    """Return part of the stored home; other lookups share the round trip."""
    if part.below is None and part.newest_first:
        await load.all((load.home, [part.count]), *wanted)
        return load.home.loaded([part.count])[0]
    reading = batcher.run(homes.read_home(viewer, part))
    replies, _ = await asyncio.gather(reading, load.all(*wanted))
    return homes.read_stored(part, *replies)
