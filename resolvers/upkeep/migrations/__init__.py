"""Migrations: how each layout of the store is made from the one before, a partition at a time.

A step can be repeated, and runs while members write. What it writes, a process of the older layout can read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from resolvers.upkeep.migrations import lifts
from store.client.database import Database


class Migration(NamedTuple):
    """How one layout is made from the one before."""

    layout: int  # that it makes
    does: str  # what it does, for operators
    migrate: Callable[[Database, int], Awaitable[int]]  # migrates a partition; returns the number of rewritten values


MIGRATIONS = (Migration(2, "homes follow the rule by which reposts lift posts", lifts.migrate),)  # in their order
