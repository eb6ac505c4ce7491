"""Damages to relationships, on one side or on both."""

from store import keys
from store.keys.fields import UserField
from tests.support.damage.site import GHOST, Damage

RELATIONSHIPS = [
    Damage(
        "follow missing at the followed",
        lambda s: keys.following(s.ann),
        lambda s: [("ZREM", keys.followers(s.ben), s.ann)],
    ),
    Damage(
        "follow missing at the follower",
        lambda s: keys.followers(s.ben),
        lambda s: [("ZREM", keys.following(s.ann), s.ben)],
    ),
    Damage(
        "ids of a follow differ",
        lambda s: keys.following(s.ann),
        lambda s: [("ZADD", keys.followers(s.ben), 1, s.ann)],
    ),
    Damage(
        "ids of a follow differ, and its end is remembered",
        lambda s: keys.following(s.ann),
        lambda s: [
            ("ZADD", keys.followers(s.ben), s.word, s.ann),
            ("SET", keys.unfollowed(s.ben, s.ann), s.word, "EX", keys.DAY),
        ],
    ),
    Damage(
        "follower who does not follow",
        lambda s: keys.followers(s.ben),
        lambda s: [("ZADD", keys.followers(s.ben), s.word, s.dan)],
    ),
    Damage(
        "follow of nobody",
        lambda s: keys.following(s.ann),
        lambda s: [("ZADD", keys.following(s.ann), s.word, GHOST)],
    ),
    Damage(
        "request missing at the asked",
        lambda s: keys.requested(s.ben),
        lambda s: [("DEL", keys.requests(s.fay))],
    ),
    Damage(
        "request missing at who asks",
        lambda s: keys.requests(s.fay),
        lambda s: [("DEL", keys.requested(s.ben))],
    ),
    Damage(
        "ids of a request differ, and its end is remembered",
        lambda s: keys.requested(s.ben),
        lambda s: [
            ("ZADD", keys.requests(s.fay), s.secret, s.ben),
            ("SET", keys.unfollowed(s.fay, s.ben), s.secret, "EX", keys.DAY),
        ],
    ),
    Damage(
        "request to nobody",
        lambda s: keys.requested(s.ann),
        lambda s: [("ZADD", keys.requested(s.ann), s.word, GHOST)],
    ),
    Damage(
        "request let in on one side alone",
        lambda s: keys.requested(s.ben),
        lambda s: [("DEL", keys.requests(s.fay)), ("ZADD", keys.followers(s.fay), s.word, s.ben)],
    ),
    Damage(
        "request to a member who is not private",
        lambda s: keys.requests(s.fay),
        lambda s: [("HDEL", keys.user(s.fay), UserField.PRIVATE)],
    ),
    Damage(
        "request to a member who is not private, missing there",
        lambda s: keys.requested(s.ben),
        lambda s: [("HDEL", keys.user(s.fay), UserField.PRIVATE), ("DEL", keys.requests(s.fay))],
    ),
    Damage(
        "block missing at the blocked",
        lambda s: keys.blocked(s.fay),
        lambda s: [("DEL", keys.blocked_by(s.dan))],
    ),
    Damage(
        "block missing at who blocks",
        lambda s: keys.blocked_by(s.dan),
        lambda s: [("DEL", keys.blocked(s.fay))],
    ),
    Damage(
        "ids of a block differ, and its end is remembered",
        lambda s: keys.blocked(s.fay),
        lambda s: [
            ("ZADD", keys.blocked_by(s.dan), 1, s.fay),
            ("SET", keys.unblocked(s.dan, s.fay), s.secret << 1, "EX", keys.DAY),
        ],
    ),
    Damage(
        "block of nobody",
        lambda s: keys.blocked(s.ann),
        lambda s: [("ZADD", keys.blocked(s.ann), s.word, GHOST)],
    ),
    Damage(
        "the blocked follows",
        lambda s: keys.blocked(s.fay),
        lambda s: [("ZADD", keys.following(s.dan), s.word, s.fay), ("ZADD", keys.followers(s.fay), s.word, s.dan)],
    ),
    Damage(
        "the blocked is followed",
        lambda s: keys.blocked(s.fay),
        lambda s: [("ZADD", keys.following(s.fay), s.word, s.dan)],
    ),
    Damage(
        "the blocked asks",
        lambda s: keys.blocked(s.fay),
        lambda s: [("ZADD", keys.requested(s.dan), s.word, s.fay), ("ZADD", keys.requests(s.fay), s.word, s.dan)],
    ),
    Damage(
        "the blocked is asked",
        lambda s: keys.blocked(s.fay),
        lambda s: [("ZADD", keys.requested(s.fay), s.word, s.dan)],
    ),
]
