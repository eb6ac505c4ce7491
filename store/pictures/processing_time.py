"""The processor time that a member's pictures may take in an hour of the clock, counted in the member's partition."""

from store import keys
from store.client.database import Database
from store.limits import windows
from store.limits.windows import HOUR_SECONDS
from store.limits.writes import share_of


async def is_left(db: Database, member: int) -> bool:
    """Return whether a member's pictures may take more processor time in this hour. One round trip."""
    settings = db.settings
    if not settings.rate_limit or not member:
        return True
    most, _ = share_of(settings, member, settings.image_seconds_per_hour)
    return int(await db.one("GET", _key(member)) or 0) < most * 1000


async def spend(db: Database, member: int, seconds: float) -> None:
    """Count processor time that a picture of a member has taken, s. One round trip."""
    key = _key(member)
    await db.ask(("INCRBY", key, round(seconds * 1000)), ("EXPIRE", key, HOUR_SECONDS, "NX"))


def _key(member: int) -> str:
    return keys.processing_time(member, windows.current(HOUR_SECONDS))
