"""Damages to mails that wait, and to tokens sent by mail."""

from store import keys
from store.ids import partition
from tests.support.damage.site import GHOST, Damage

MAILS = [
    Damage(
        "mail without a record",
        lambda s: keys.outbox(partition(s.ann)),
        lambda s: [("ZADD", keys.outbox(partition(s.ann)), 1, GHOST)],
    ),
    Damage(
        "mail without a place in the outbox",
        lambda s: keys.outbox(partition(s.ann)),
        lambda s: [("DEL", keys.outbox(partition(s.ann)))],
    ),
    Damage(
        "mail that cannot be read",
        lambda s: keys.outbox(partition(s.ann)),
        lambda s: [
            ("ZADD", keys.outbox(partition(s.ann)), 1, GHOST),
            ("HSET", keys.mails(partition(s.ann)), GHOST, "{"),
        ],
    ),
    Damage(
        "token of a member who does not exist",
        lambda _: keys.mail_tokens(GHOST),
        lambda _: [("HSET", keys.mail_tokens(GHOST), "reset", '{"digest":"x","address":"a@b.example","expires":1}')],
    ),
    Damage(
        "token that cannot be read",
        lambda s: keys.mail_tokens(s.ben),
        lambda s: [("HSET", keys.mail_tokens(s.ben), "reset", "{}")],
    ),
]
