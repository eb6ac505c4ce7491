"""The bounds of homes: how many entries they keep, and how old these may be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from store.client.database import Database
from store.ids import first_of


def limits(db: Database) -> dict[str, int]:
    """Return the script parameters that bound a home."""
    return {"home_size": db.settings.home_size, "home_slack": db.settings.home_slack, "oldest": oldest(db)}


def oldest(db: Database) -> int:
    """Return the id at and below which entries are too old for homes (`HOME_MAX_AGE`); 0 without such a limit."""
    days = db.settings.home_max_age
    return first_of(datetime.now(UTC) - timedelta(days=days)) if days else 0
