"""Damages to members, homes, timelines, names, pins, promotions and notifications."""

from store import keys
from store.ids import partition
from store.keys.fields import CredentialsField, HomeField, NotificationsField, StatusField, UserField
from store.search import entry, state
from tests.support.damage.site import GHOST, Damage

EMAIL = keys.email("ann@example.org")


MENDABLE = [
    Damage(
        "recovery codes without a second factor",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.credentials(s.ben), CredentialsField.RECOVERY_CODES, "digest")],
    ),
    Damage(
        "post of a private member in public",
        lambda _: keys.public(),
        lambda s: [("ZADD", keys.public(), s.secret, s.secret), ("ZADD", keys.important_public(), 9, s.secret)],
    ),
    Damage(
        "post of a private member under a tag",
        lambda _: keys.hashtag("tea"),
        lambda s: [("ZADD", keys.hashtag("tea"), s.secret, s.secret)],
    ),
    Damage(
        "posts of a suspended member in public",
        lambda _: keys.public(),
        lambda s: [("HSET", keys.user(s.cat), UserField.SUSPENDED, 1)],
    ),
    Damage(
        "hidden post in public",
        lambda _: keys.public(),
        lambda s: [("HSET", keys.status(s.word), StatusField.HIDDEN, 1)],
    ),
    Damage(
        "post too many in a home",
        lambda s: keys.home(s.ann),
        lambda s: [("RPUSH", keys.home(s.ann), s.quote)],
    ),
    Damage(
        "post misplaced in a home",
        lambda s: keys.home(s.ann),
        lambda s: [
            ("LREM", keys.home(s.ann), 1, f"{s.post}:{s.repost}"),
            ("RPUSH", keys.home(s.ann), f"{s.post}:{s.answer + 1}"),
        ],
    ),
    Damage(
        "home out of order",
        lambda s: keys.home(s.ann),
        lambda s: [("LREM", keys.home(s.ann), 1, s.word), ("LPUSH", keys.home(s.ann), s.word)],
    ),
    Damage(
        "post twice in a home",
        lambda s: keys.home(s.ann),
        lambda s: [("LINSERT", keys.home(s.ann), "BEFORE", s.word, s.word)],
    ),
    Damage(
        "sources of another member",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.sources(s.ann), s.post, f"{s.repost}:{s.dan}")],
    ),
    Damage(
        "sources of what is not in the home",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.sources(s.ann), GHOST, f"{s.repost}:{s.ben}")],
    ),
    Damage(
        "post lifted too early",
        lambda s: keys.home(s.ann),
        lambda s: [("LREM", keys.home(s.ann), 0, s.post), ("RPUSH", keys.home(s.ann), f"{s.post}:{s.repost}")],
    ),
    Damage(
        "candidate that cannot be a place",
        lambda s: keys.home(s.ann),
        lambda s: [("ZADD", keys.candidates(s.ann), s.repost, f"{s.post}:{s.repost}")],
    ),
    Damage(
        "home below its floor",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.home_state(s.ann), HomeField.FLOOR, s.word)],
    ),
    Damage(
        "home of nobody",
        lambda _: keys.home(GHOST),
        lambda _: [
            ("HSET", keys.home_state(GHOST), HomeField.FLOOR, 0),
            ("ZADD", keys.active(partition(GHOST)), 1, GHOST),
        ],
    ),
    Damage("login of another", lambda s: keys.user(s.ann), lambda s: [("SET", keys.login("ann"), s.ben)]),
    Damage("e-mail of another", lambda s: keys.user(s.ann), lambda s: [("SET", EMAIL, s.ben)]),
    Damage(
        "post that public has lost with its rank",
        lambda s: keys.status(s.word),
        lambda s: [("ZREM", keys.public(), s.word), ("ZREM", keys.important_public(), s.word)],
    ),
    Damage(
        "post that a hashtag has lost with its rank",
        lambda s: keys.status(s.post),
        lambda _: [("DEL", keys.hashtag("tea")), ("DEL", keys.important_hashtag("tea"))],
    ),
    Damage(
        "hashtag with a post without it",
        lambda _: keys.hashtag("tea"),
        lambda s: [("ZADD", keys.hashtag("tea"), s.word, s.word)],
    ),
    Damage("post of a group in public", lambda _: keys.public(), lambda s: [("ZADD", keys.public(), s.note, s.note)]),
    Damage(
        "notified of a like as before layout 5",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"LIKE:{s.dan}:{s.post}:0")],
    ),
    Damage(
        "index of likes lost",
        lambda s: keys.likes(s.post),
        lambda s: [("DEL", keys.liked(s.ann))],
    ),
    Damage(
        "index of comments lost",
        lambda s: keys.comment(s.comment),
        lambda s: [("DEL", keys.discussed(s.ann))],
    ),
    Damage(
        "mention lost",
        lambda s: keys.notifications(s.cat),
        lambda s: [("DEL", keys.mentions(s.cat))],
    ),
    Damage("login of nobody", lambda _: keys.login("eve"), lambda _: [("SET", keys.login("eve"), GHOST)]),
    Damage("e-mail of nobody", lambda _: keys.email("e@e.org"), lambda _: [("SET", keys.email("e@e.org"), GHOST)]),
    Damage("login that will expire", lambda s: keys.user(s.ann), lambda _: [("EXPIRE", keys.login("ann"), 60)]),
    Damage("e-mail that will expire", lambda s: keys.user(s.ann), lambda _: [("EXPIRE", EMAIL, 60)]),
    Damage(
        "notified of what nobody did",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"REPOST:{GHOST}:{s.post}:0")],
    ),
    Damage(
        "notified of likes of a day without any",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"LIKE:0:{s.post}:1")],
    ),
    Damage(
        "notified of a post that is gone",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"LIKE:0:{GHOST}:1")],
    ),
    Damage(
        "notified of a comment that is gone",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"COMMENT:{s.ann}:{s.post}:{GHOST}")],
    ),
    Damage(
        "notifications of nobody",
        lambda _: keys.notifications(GHOST),
        lambda s: [("ZADD", keys.notifications(GHOST), s.word, f"FOLLOW:{s.ann}:0:0")],
    ),
    Damage(
        "withdrawn notifications of nobody",
        lambda _: keys.withdrawn_notifications(GHOST),
        lambda s: [("ZADD", keys.withdrawn_notifications(GHOST), s.word, 1)],
    ),
    Damage(
        "state of nobody's notifications",
        lambda _: keys.notification_state(GHOST),
        lambda _: [("HSET", keys.notification_state(GHOST), NotificationsField.READ, 1)],
    ),
    Damage(
        "mark of nobody's home",
        lambda _: keys.home_read(GHOST),
        lambda _: [("SET", keys.home_read(GHOST), 1)],
    ),
    Damage(
        "mentioned in a comment that is gone",
        lambda s: keys.mentions(s.ann),
        lambda s: [("ZADD", keys.mentions(s.ann), GHOST, f"{GHOST}:{s.post}")],
    ),
    Damage(
        "mentioned below a post that is gone",
        lambda s: keys.mentions(s.ann),
        lambda s: [("ZADD", keys.mentions(s.ann), s.comment, f"{s.comment}:{GHOST}")],
    ),
    Damage(
        "ranked post that is gone",
        lambda _: keys.important_public(),
        lambda _: [("ZADD", keys.public(), GHOST, GHOST), ("ZADD", keys.important_public(), 9, GHOST)],
    ),
    Damage(
        "ranked post that its timeline has not",
        lambda _: keys.important_hashtag("tea"),
        lambda s: [("ZADD", keys.important_hashtag("tea"), 9, s.word)],
    ),
    Damage(
        "ranked with a score that is not its own",
        lambda _: keys.important_public(),
        lambda s: [("ZADD", keys.important_public(), 9, s.word)],
    ),
    Damage(
        "member not indexed",
        lambda s: keys.user(s.ann),
        lambda s: [("ZREM", keys.names(0), entry("ann", s.ann)), ("HDEL", keys.indexed(), s.ann)],
    ),
    Damage(
        "member indexed by another name",
        lambda s: keys.user(s.ann),
        lambda s: [("HSET", keys.user(s.ann), UserField.NAME, "Anna")],
    ),
    Damage(
        "member indexed at another magnitude",
        lambda s: keys.user(s.ann),
        lambda s: [
            ("HSET", keys.indexed(), s.ann, state(2, ["ann"])),
            ("ZREM", keys.names(0), entry("ann", s.ann)),
            ("ZADD", keys.names(2), 0, entry("ann", s.ann)),
        ],
    ),
    Damage(
        "magnitude that is not the followers'",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.user(s.ben), UserField.MAGNITUDE, 3)],
    ),
    Damage(
        "stray name of a member",
        lambda _: keys.names(1),
        lambda s: [("ZADD", keys.names(1), 0, entry("ann", s.ann))],
    ),
    Damage(
        "former name of a member",
        lambda _: keys.names(0),
        lambda s: [("ZADD", keys.names(0), 0, entry("an", s.ann))],
    ),
    Damage("name of nobody", lambda _: keys.names(0), lambda _: [("ZADD", keys.names(0), 0, entry("eve", GHOST))]),
    Damage(
        "nobody indexed",
        lambda _: keys.indexed(),
        lambda _: [
            ("HSET", keys.indexed(), GHOST, state(0, ["eve"])),
            ("ZADD", keys.names(0), 0, entry("eve", GHOST)),
        ],
    ),
]

BEYOND_REPAIR = [
    Damage(
        "login that two have",
        lambda s: keys.user(s.ann),
        lambda s: [("SET", keys.login("ann"), s.ben), ("HSET", keys.user(s.ben), UserField.LOGIN, "ann")],
    ),
    Damage("member without credentials", lambda s: keys.user(s.ann), lambda s: [("DEL", keys.credentials(s.ann))]),
]
