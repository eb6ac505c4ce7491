"""A group's timeline: its posts, and the log of its newest changes, from which live readers resume."""

from typing import Any

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.ids import LARGEST
from store.records.lists import Entry

FLOOR = "floor"  # the entry of the log that holds the highest id ever trimmed from it


async def add(db: Database, group: int, post: int, author: int) -> bool:
    """List a post; False when it has no place there, because the group is gone or its author has left it."""
    return bool(await db.one(*add_command(db, group, post, author)))


def add_command(db: Database, group: int, post: int, author: int) -> Command:
    """Return the command that lists a post in its group's timeline."""
    return script(
        "list_in_group",
        group,
        tombstone=keys.withdrawn(group, post),
        author=author,
        **_logged(db, group, post),
    )


def remove_command(db: Database, group: int, post: int) -> Command:
    """Return the command that removes a post from its group's timeline, and keeps late work from listing it again."""
    tombstone = keys.withdrawn(group, post)
    return script("unlist_in_group", group, tombstone=tombstone, ttl=keys.DAY, **_logged(db, group, post))


def change_command(db: Database, group: int, post: int) -> Command:
    """Return the command that logs that a post in a group's timeline is shown to others than before."""
    return script("note_change", group, **_logged(db, group, post))


def _logged(db: Database, group: int, post: int) -> dict[str, Any]:
    """Return the script parameters that name a post in a group and the log of changes there."""
    return {
        "post": post,
        "changes_kept": db.settings.group_changes_kept,
        "channel": db.channel(keys.group_channel(group)),
    }


class GroupChanges(Struct, frozen=True):
    """Changes to a group's timeline after an id, oldest first: posts, each with the id of its newest change.

    `newest` is the newest id of all changes. Changes at or below the floor may be missing.
    """

    newest: int
    floor: int
    changes: list[Entry]


async def changes_after(db: Database, group: int, last: int, count: int) -> GroupChanges:
    """Return the changes to a group's timeline after an id, at most `count`. One round trip.

    The floor is read after the changes, so it covers all that is trimmed meanwhile.
    """
    log = keys.group_changes(group)
    changed, floor, newest = await db.ask(
        ("ZRANGE", log, f"({last}", "+inf", "BYSCORE", "LIMIT", 0, count, "WITHSCORES"),
        ("ZSCORE", log, FLOOR),
        ("ZRANGE", log, 0, 0, "REV", "WITHSCORES"),
    )
    pairs = zip(changed[::2], changed[1::2], strict=True)
    entries = [Entry(int(post), int(place)) for post, place in pairs if post != FLOOR]
    return GroupChanges(int(newest[1]) if newest else 0, int(floor or 0), entries)


async def newest_change(db: Database, group: int) -> int:
    """Return the id of the newest change of a group's timeline, 0 without any."""
    return (await changes_after(db, group, LARGEST, 0)).newest


def channel(group: int) -> str:
    """Return the Pub/Sub channel on which changes to a group's timeline, or to who may read it, are published."""
    return keys.group_channel(group)
