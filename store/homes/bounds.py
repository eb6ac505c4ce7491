"""What bounds a home, and when a repost lifts a post in it."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from store.client.database import Database
from store.ids import first_of, span


def limits(db: Database) -> dict[str, int]:
    """Return the script parameters that bound a home."""
    return {"home_size": db.settings.home_size, "home_slack": db.settings.home_slack, "oldest": oldest(db)}


def lift(db: Database) -> int:
    """Return how much higher than the place of its post the id of a repost must be to lift it; 0 if none does."""
    return _ids_in(db.settings.repost_lift_hours)


@lru_cache(maxsize=1)
def _ids_in(hours: int) -> int:
    return span(timedelta(hours=hours))


def oldest(db: Database) -> int:
    """Return the id at and below which entries are too old for homes (`HOME_MAX_AGE`); 0 without such a limit."""
    days = db.settings.home_max_age
    return first_of(datetime.now(UTC) - timedelta(days=days)) if days else 0
