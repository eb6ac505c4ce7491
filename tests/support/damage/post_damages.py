"""Damages to posts' likes, comments, reposts, quotes, replies and favourites."""

from __future__ import annotations

from store import keys
from store.keys.fields import CommentField, StatusField, UserField
from tests.support.damage.site import GHOST, Damage

POSTS = [
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
        lambda s: [("HSET", keys.comment(s.comment), CommentField.AUTHOR, GHOST)],
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
            ("HSET", keys.status(s.reply), StatusField.HIDDEN, 1),
            ("ZADD", keys.hidden(s.dan), s.reply, s.reply),
        ],
    ),
    Damage(
        "number of replies",
        lambda s: keys.status(s.post),
        lambda s: [("HSET", keys.status(s.post), StatusField.REPLIES, 5)],
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
    Damage(
        "pinned post that is gone",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.user(s.ben), UserField.PINNED, GHOST)],
    ),
    Damage(
        "pinned post of another member",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.user(s.ben), UserField.PINNED, s.post)],
    ),
    Damage(
        "pinned plain repost",
        lambda s: keys.user(s.ben),
        lambda s: [("HSET", keys.user(s.ben), UserField.PINNED, s.repost)],
    ),
    Damage("repost gone", lambda s: keys.reposts(s.post), lambda s: [("DEL", keys.status(s.repost))]),
    Damage(
        "lists of posts that are gone",
        lambda _: keys.quotes(GHOST),
        lambda s: [("ZADD", keys.quotes(GHOST), s.quote, s.quote), ("ZADD", keys.reposts(GHOST), 1, s.ann)],
    ),
]
