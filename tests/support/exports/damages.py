"""Damages to links to exports, and to leases of exports that are being sent."""

from store import keys
from tests.support.damage.site import GHOST, Damage

LINK = f"{'0' * 64} 9999999999999"

EXPORTS = [
    Damage(
        "link that never expires",
        lambda s: keys.exports(s.ann),
        lambda s: [("HSET", keys.exports(s.ann), "session", LINK)],
    ),
    Damage(
        "link of nobody",
        lambda _: keys.exports(GHOST),
        lambda _: [("HSET", keys.exports(GHOST), "session", LINK), ("EXPIRE", keys.exports(GHOST), keys.DAY)],
    ),
    Damage(
        "lease that never ends",
        lambda s: keys.export_stream(s.ann),
        lambda s: [("SET", keys.export_stream(s.ann), "sender")],
    ),
]
