"""Links to exports and leases of exports that are being sent: whether they expire."""

from collections.abc import Sequence

from store import keys, kinds
from store.client.database import Database
from store.exports.links import LEASE_SECONDS
from store.kinds import Owned

LIVES = {kinds.EXPORTS: keys.DAY, kinds.EXPORT_STREAM: LEASE_SECONDS}  # s


async def lasting(db: Database, kind: Owned, members: Sequence[int]) -> list[str]:
    """Return the keys of some members that do not expire in time. One round trip."""
    owned = [kind.key(member) for member in members]
    lives = await db.ask(*(("TTL", key) for key in owned))
    absent = -2  # the reply for a key that is gone
    return [key for key, life in zip(owned, lives, strict=True) if life != absent and not 0 <= int(life) <= LIVES[kind]]
