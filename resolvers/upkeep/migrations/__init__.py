"""Migrations: how each layout of the store is made from the one before.

A step can be repeated, and runs while members write. A process of the older layout can read what it writes.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from resolvers.upkeep.migrations import event_contents, hashtags, lifts, likes, mutes
from store.client.database import Database


class Migration(NamedTuple):
    """How one layout is made from the one before. Each step returns the number of values that it has rewritten."""

    layout: int  # that it makes
    does: str  # what it does, for operators
    partition: Callable[[Database, int], Awaitable[int]] | None = None  # migrates what can be found in a partition
    site: Callable[[Database], Awaitable[int]] | None = None  # migrates what only a scan of all keys finds, at first


MIGRATIONS = (  # in their order
    Migration(2, "homes follow the rule by which reposts lift posts", partition=lifts.migrate),
    Migration(3, "a # is before each hashtag of a post", site=hashtags.migrate),
    Migration(4, "the event log has no texts and places", site=event_contents.migrate),
    Migration(5, "likes of a post on a day have one notification", site=likes.migrate),
    Migration(6, "messages of muted members are not unread", site=mutes.migrate),
)
