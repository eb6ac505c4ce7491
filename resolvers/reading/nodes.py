"""Objects by their global ids, of every type."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from resolvers.operation.context import Context
from resolvers.reading import global_ids, hydrate, messaging, moderation, notification_list, pictures


async def node(context: Context, global_id: str) -> object | None:
    """Return the object that a global id names; None if it does not exist or the viewer does not see it."""
    kind, number = global_ids.expect_argument(global_id, "id")
    (record,) = await LOADERS[kind](context, [number])
    return record if global_ids.is_of(global_id, record) else None


async def nodes(context: Context, ids: Sequence[str]) -> list[object | None]:
    """Return the objects that global ids name, in order; None for those that are missing or not seen."""
    global_ids.at_most(context.settings, ids, "ids")
    named = [global_ids.expect_argument(text, "ids") for text in ids]
    by_name: dict[tuple[str, int], Any] = {}
    for load in dict.fromkeys(LOADERS[kind] for kind, _ in named):
        wanted = [name for name in named if LOADERS[name[0]] is load]
        records = await load(context, [number for _, number in wanted])
        by_name |= {name: record for name, record in zip(wanted, records, strict=True) if record is not None}
    return [
        record if (record := by_name.get(name)) is not None and global_ids.is_of(text, record) else None
        for text, name in zip(ids, named, strict=True)
    ]


LOADERS: dict[str, Callable[[Context, Sequence[int]], Awaitable[Sequence[Any]]]] = {
    **moderation.SEEN,
    "promotion": hydrate.promotions,
    "notification": notification_list.notifications,
    "conversation": messaging.conversations,
    "image": pictures.images,
    "report": moderation.reports,
    "act": moderation.acts,
    "upload": pictures.uploads,
    "viewer": hydrate.viewers,
}
