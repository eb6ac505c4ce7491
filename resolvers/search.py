"""Search: members by a prefix of their login or name."""

from collections.abc import Sequence

from resolvers.operation.context import Context
from resolvers.process.errors import BadUserInput
from resolvers.reading import hydrate, snapshots
from resolvers.reading.paging import NodeEdge, Page
from resolvers.rules import names
from resolvers.rules.text import LOGIN_MAX, TextRefused, normalise
from store import search
from store.records.lists import Entry
from store.records.members import User

MOST = 100  # members that one search finds
NAMES_EACH = 2  # most entries of one member in the index
READ = 500  # most entries read of one magnitude


async def users(context: Context, prefix: str, first: int | None, after: str | None) -> Page[NodeEdge[User]]:
    """Return a page of the most followed members whose login or name begins with `prefix`; raises BadUserInput."""
    wanted = _checked(context, prefix)

    async def matching(members: Sequence[int]) -> list[User | None]:
        users_seen = await hydrate.users(context, members)
        return [user if user and names.begins(user.login, user.name, wanted) else None for user in users_seen]

    async def rank() -> list[int]:
        found = [user for user in await matching(await _candidates(context, wanted)) if user]
        found.sort(key=lambda user: (-user.follower_count, user.id))
        return [user.id for user in found[:MOST]]

    async def show(entries: Sequence[Entry]) -> list[NodeEdge[User] | None]:
        users_seen = await matching([entry.entity for entry in entries])
        return [None if user is None else NodeEdge("", user, user.id) for user in users_seen]

    return await snapshots.page(context, snapshots.Listing("users", wanted, rank, show), first, after)


def _checked(context: Context, prefix: str) -> str:
    try:
        folded = names.fold(normalise(prefix, limit=max(context.settings.max_name, LOGIN_MAX), multiline=False))
    except TextRefused as refusal:
        raise BadUserInput(f"prefix: {refusal}") from None
    if not folded:
        raise BadUserInput("prefix: must have more than the sign of a mention")
    return folded


async def _candidates(context: Context, prefix: str) -> list[int]:
    """Return members from the index that include the most followed ones with a prefix; two round trips.

    Whole magnitudes are read, the highest first, until there are enough entries, and then one more. The extra one is
    needed because a member keeps a magnitude down to three quarters of the followers needed to enter it. So members of
    the next lower magnitude may have more followers.
    """
    beginning = prefix[: names.INDEXED]
    counts = await context.batcher.run([search.count(magnitude, beginning) for magnitude in range(search.MAGNITUDES)])
    taken, entries = list[int](), 0
    for magnitude in reversed(range(search.MAGNITUDES)):
        if counts[magnitude]:
            taken.append(magnitude)
            if entries >= NAMES_EACH * MOST:
                break
            entries += counts[magnitude]
    replies = await context.batcher.run([search.read(magnitude, beginning, READ) for magnitude in taken])
    return list(dict.fromkeys(search.read_entry(text)[1] for reply in replies for text in reply))
