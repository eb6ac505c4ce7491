"""Damages to posts' likes, comments, reposts, quotes, replies and favourites."""

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
        "comment of nobody",
        lambda s: keys.comment(s.comment),
        lambda s: [("HSET", keys.comment(s.comment), CommentField.AUTHOR, GHOST)],
    ),
    Damage(
        "replies to a post that is gone",
        lambda _: keys.replies(GHOST),
        lambda s: [("ZADD", keys.replies(GHOST), s.reply, s.reply)],
    ),
    Damage("post of a thread gone", lambda s: keys.thread(s.post), lambda s: [("DEL", keys.status(s.reply))]),
    Damage(
        "reply not listed where it answers",
        lambda s: keys.status(s.answer),
        lambda s: [
            ("ZREM", keys.replies(s.reply), s.answer),
            ("SET", keys.withdrawn(s.reply, s.answer), "1", "EX", keys.DAY),
        ],
    ),
    Damage("thread missing", lambda s: keys.status(s.reply), lambda s: [("DEL", keys.thread(s.post))]),
    Damage(
        "hidden reply still listed",
        lambda s: keys.status(s.reply),
        lambda s: [
            ("HSET", keys.status(s.reply), StatusField.HIDDEN, 1),
            ("ZADD", keys.hidden(s.dan), s.reply, s.reply),
        ],
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
    Damage(
        "lists of posts that are gone",
        lambda _: keys.quotes(GHOST),
        lambda s: [("ZADD", keys.quotes(GHOST), s.quote, s.quote), ("ZADD", keys.reposts(GHOST), 1, s.ann)],
    ),
]
