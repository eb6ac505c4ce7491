"""A small site, and what may be damaged in its store by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from store import keys
from store.connection import Command
from store.ids import partition
from store.search import entry, state

EMAIL = keys.email("ann@example.org")
GHOST = 4_242 << 12  # an id that nothing has


@dataclass(frozen=True)
class Site:
    """Ann follows ben, who passes on what cat writes; dan quotes it and is followed by nobody."""

    ann: int
    ben: int
    cat: int
    dan: int
    post: int  # by cat, liked, favourited and commented by ann
    repost: int  # ben's, of it
    quote: int  # dan's, of it
    comment: int
    word: int  # by ben
    reply: int  # dan's, to the post
    answer: int  # ben's, to the reply


@dataclass(frozen=True)
class Damage:
    """What is done to the store by hand, and the key that a finding must name for it."""

    name: str
    key: Callable[[Site], str]
    commands: Callable[[Site], list[Command]]


MENDABLE = [
    Damage(
        "counter of a member",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.user(s.ben), "followers", 7)],
    ),
    Damage("counter of a post", lambda s: keys.status(s.post), lambda s: [("HSET", keys.status(s.post), "likes", 9)]),
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
        "post not in its author's profile",
        lambda s: keys.status(s.word),
        lambda s: [("ZREM", keys.profile(s.ben), s.word)],
    ),
    Damage(
        "plain repost not in its author's profile",
        lambda s: keys.status(s.repost),
        lambda s: [("ZREM", keys.profile(s.ben), f"{s.repost}:{s.post}:{s.cat}")],
    ),
    Damage(
        "entry of a profile without a post",
        lambda s: keys.profile(s.ben),
        lambda s: [("ZADD", keys.profile(s.ben), GHOST, GHOST)],
    ),
    Damage(
        "likes of a post that is gone", lambda _: keys.likes(GHOST), lambda s: [("ZADD", keys.likes(GHOST), 1, s.ann)]
    ),
    Damage(
        "comments of a post that is gone",
        lambda _: keys.comments(GHOST),
        lambda s: [("ZADD", keys.comments(GHOST), s.comment, s.comment)],
    ),
    Damage(
        "comment not listed",
        lambda s: keys.comment(s.comment),
        lambda s: [("ZREM", keys.comments(s.post), s.comment)],
    ),
    Damage("like of nobody", lambda s: keys.likes(s.post), lambda s: [("ZADD", keys.likes(s.post), 1, GHOST)]),
    Damage(
        "comment of nobody",
        lambda s: keys.comment(s.comment),
        lambda s: [("HSET", keys.comment(s.comment), "author", GHOST)],
    ),
    Damage(
        "comment not known to be its author's",
        lambda s: keys.comment(s.comment),
        lambda s: [("DEL", keys.commenters(s.post))],
    ),
    Damage(
        "author known of a comment that is gone",
        lambda s: keys.commenters(s.post),
        lambda s: [("ZADD", keys.commenters(s.post), s.ann, GHOST)],
    ),
    Damage("comment gone", lambda s: keys.comments(s.post), lambda s: [("DEL", keys.comment(s.comment))]),
    Damage("quote gone", lambda s: keys.quotes(s.post), lambda s: [("DEL", keys.status(s.quote))]),
    Damage(
        "replies to a post that is gone",
        lambda _: keys.replies(GHOST),
        lambda s: [("ZADD", keys.replies(GHOST), s.reply, s.reply)],
    ),
    Damage("reply gone", lambda s: keys.replies(s.reply), lambda s: [("DEL", keys.status(s.answer))]),
    Damage("post of a thread gone", lambda s: keys.thread(s.post), lambda s: [("DEL", keys.status(s.reply))]),
    Damage(
        "reply not listed where it answers",
        lambda s: keys.status(s.answer),
        lambda s: [
            ("ZREM", keys.replies(s.reply), s.answer),
            ("SET", keys.withdrawn(s.reply, s.answer), "1", "EX", keys.DAY),
        ],
    ),
    Damage(
        "reply not in its thread",
        lambda s: keys.status(s.answer),
        lambda s: [("ZREM", keys.thread(s.post), s.answer)],
    ),
    Damage("thread missing", lambda s: keys.status(s.reply), lambda s: [("DEL", keys.thread(s.post))]),
    Damage("root not in its thread", lambda s: keys.thread(s.post), lambda s: [("ZREM", keys.thread(s.post), s.post)]),
    Damage(
        "hidden reply still listed",
        lambda s: keys.status(s.reply),
        lambda s: [
            ("HSET", keys.status(s.reply), "hidden", 1),
            ("ZADD", keys.hidden(s.dan), s.reply, s.reply),
        ],
    ),
    Damage(
        "number of replies",
        lambda s: keys.status(s.post),
        lambda s: [("HSET", keys.status(s.post), "replies", 5)],
    ),
    Damage(
        "favourite of a post that is gone",
        lambda s: keys.favourites(s.ann),
        lambda s: [("ZADD", keys.favourites(s.ann), 1, GHOST)],
    ),
    Damage(
        "favourite not known at its post",
        lambda s: keys.favourites(s.ann),
        lambda s: [("DEL", keys.favouriters(s.post))],
    ),
    Damage(
        "favourite of nobody",
        lambda s: keys.favouriters(s.post),
        lambda s: [("ZADD", keys.favouriters(s.post), GHOST, GHOST)],
    ),
    Damage(
        "favourites known at a post that is gone",
        lambda _: keys.favouriters(GHOST),
        lambda s: [("ZADD", keys.favouriters(GHOST), s.ann, s.ann)],
    ),
    Damage(
        "favourites of a member who is gone",
        lambda _: keys.favourites(GHOST),
        lambda s: [("ZADD", keys.favourites(GHOST), s.word, s.word)],
    ),
    Damage("repost gone", lambda s: keys.reposts(s.post), lambda s: [("DEL", keys.status(s.repost))]),
    Damage("post gone from a home", lambda s: keys.home(s.ann), lambda s: [("ZREM", keys.home(s.ann), s.word)]),
    Damage(
        "post too many in a home",
        lambda s: keys.home(s.ann),
        lambda s: [("ZADD", keys.home(s.ann), s.quote, s.quote)],
    ),
    Damage(
        "post misplaced in a home",
        lambda s: keys.home(s.ann),
        lambda s: [("ZADD", keys.home(s.ann), s.word + 1, s.post)],
    ),
    Damage(
        "sources of another member",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.sources(s.ann), s.post, f"{s.repost}:{s.dan}")],
    ),
    Damage(
        "sources missing",
        lambda s: keys.home(s.ann),
        lambda s: [("DEL", keys.sources(s.ann))],
    ),
    Damage(
        "sources of what is not in the home",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.sources(s.ann), GHOST, f"{s.repost}:{s.ben}")],
    ),
    Damage(
        "home below its floor",
        lambda s: keys.home(s.ann),
        lambda s: [("HSET", keys.home_state(s.ann), "floor", s.word)],
    ),
    Damage(
        "home of nobody",
        lambda _: keys.home(GHOST),
        lambda _: [("HSET", keys.home_state(GHOST), "floor", 0), ("ZADD", keys.active(partition(GHOST)), 1, GHOST)],
    ),
    Damage(
        "home not known to be read",
        lambda s: keys.home_state(s.ann),
        lambda s: [("ZREM", keys.active(partition(s.ann)), s.ann)],
    ),
    Damage("login of nobody", lambda _: keys.login("eve"), lambda _: [("SET", keys.login("eve"), GHOST)]),
    Damage("e-mail of nobody", lambda _: keys.email("e@e.org"), lambda _: [("SET", keys.email("e@e.org"), GHOST)]),
    Damage("login that will expire", lambda s: keys.user(s.ann), lambda _: [("EXPIRE", keys.login("ann"), 60)]),
    Damage("e-mail that will expire", lambda s: keys.user(s.ann), lambda _: [("EXPIRE", EMAIL, 60)]),
    Damage("e-mail missing", lambda s: keys.user(s.ann), lambda _: [("DEL", EMAIL)]),
    Damage(
        "repost noted but gone",
        lambda s: keys.reposted(s.dan),
        lambda s: [("HSET", keys.reposted(s.dan), s.post, GHOST)],
    ),
    Damage(
        "lists of posts that are gone",
        lambda _: keys.quotes(GHOST),
        lambda s: [("ZADD", keys.quotes(GHOST), s.quote, s.quote), ("ZADD", keys.reposts(GHOST), 1, s.ann)],
    ),
    Damage(
        "told of what nobody did",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"LIKE:{GHOST}:{s.post}:0")],
    ),
    Damage(
        "told of a post that is gone",
        lambda s: keys.notifications(s.cat),
        lambda s: [("ZADD", keys.notifications(s.cat), s.word, f"LIKE:{s.ann}:{GHOST}:0")],
    ),
    Damage(
        "told of a comment that is gone",
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
        lambda _: [("HSET", keys.notification_state(GHOST), "read", 1)],
    ),
    Damage(
        "mentioned in a post that is gone",
        lambda s: keys.mentions(s.ann),
        lambda s: [("ZADD", keys.mentions(s.ann), GHOST, GHOST), ("ZADD", keys.mentions(s.ann), s.word, s.word)],
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
    Damage("login missing", lambda s: keys.user(s.ann), lambda _: [("DEL", keys.login("ann"))]),
    Damage("gone post in public", lambda _: keys.public(), lambda _: [("ZADD", keys.public(), GHOST, GHOST)]),
    Damage(
        "gone post under a tag", lambda _: keys.hashtag("tea"), lambda _: [("ZADD", keys.hashtag("tea"), GHOST, GHOST)]
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
        "name missing in the index",
        lambda s: keys.user(s.ann),
        lambda s: [("ZREM", keys.names(0), entry("ann", s.ann))],
    ),
    Damage(
        "member indexed by another name",
        lambda s: keys.user(s.ann),
        lambda s: [("HSET", keys.user(s.ann), "name", "Anna")],
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
        lambda s: [("HSET", keys.user(s.ben), "magnitude", 3)],
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
        "repost its author does not know",
        lambda s: keys.profile(s.ben),
        lambda s: [("HDEL", keys.reposted(s.ben), s.post)],
    ),
    Damage("login of another", lambda s: keys.user(s.ann), lambda s: [("SET", keys.login("ann"), s.ben)]),
    Damage("member without credentials", lambda s: keys.user(s.ann), lambda s: [("DEL", keys.credentials(s.ann))]),
]
