"""Links to exports and leases of exports that are being sent: whether they expire."""

from collections.abc import Sequence

from store import keys, kinds
from store.client.database import Database
from store.exports.links import LEASE_SECONDS
from store.kinds import Owned
from store.upkeep.findings import Check, Finding, ask_each

LIVES = {kinds.EXPORTS: keys.DAY, kinds.EXPORT_STREAM: LEASE_SECONDS}  # s
_ABSENT = -2  # the reply to TTL for a key that is gone


def expiring(kind: Owned) -> Check:
    """Return a check that each key of a kind expires in time. Without it, the member can prepare another export."""

    async def check(db: Database, members: Sequence[int]) -> list[Finding]:
        looks = {key: [("TTL", key)] for key in map(kind.key, members)}
        return [
            Finding(key, "does not expire in time", [("DEL", key)])
            for key, (life,) in await ask_each(db, looks)
            if life != _ABSENT and not 0 <= int(life) <= LIVES[kind]
        ]

    return check
