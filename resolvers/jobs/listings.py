"""Where a post is listed: public timelines, its original or the post that it answers, and its conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from resolvers.rules import ranking
from store import accounts, posts, public_timelines, replies
from store.client.database import Command, Database
from store.records.job_bodies import PostBody
from store.records.lists import read_pairs
from store.records.members import User
from store.records.posts import read_hashtags, read_post
from store.replies import Reply


@dataclass(frozen=True, slots=True)
class PublishedPost:
    """A status or quote, with the lists that it can be in."""

    id: int
    author: int
    hashtags: Sequence[str]
    quoted: tuple[int, int] | None = None  # Original and its author.
    reply: Reply | None = None
    is_in_group: bool = False  # Such a post is in no public list.


Seen = tuple[bool, float | None]  # Whether anybody but its author sees a post, and the score of a public post.


def listed(body: PostBody, post: int) -> PublishedPost:
    """Return the post of a job, with the lists that it can be in."""
    quoted = (body.original, body.original_author) if body.original else None
    hashtags = read_hashtags(body.hashtags)
    return PublishedPost(post, body.author, hashtags, quoted, reply_of(body, post), bool(body.group))


def reply_of(body: PostBody, post: int) -> Reply | None:
    """Return a post as a reply, with its parent and root; None when it answers no post."""
    return Reply(post, body.author, body.reply_to, body.reply_to_author, body.root) if body.reply_to else None


async def update(
    db: Database, post: PublishedPost, new: Seen | None = None, beside: Sequence[Command] = ()
) -> tuple[bool, list[Any]]:
    """List a post where it belongs now, or remove it from there.

    Returns whether the post is public, and the replies to the commands `beside`, which are sent once. `new` says how
    a post was seen when it was created. A hidden or deleted post is in no list. A post that only followers see is
    listed as a quote or reply, but in no public list.
    If the post changes between the look and the steps, the next look finds that. It is made by this job, or by the
    job of the change.
    """
    look = [posts.post_command(post.id), accounts.user_command(post.author)]
    seen = new or _seen(post, await db.ask(*look))
    first: list[Any] | None = None
    while True:
        steps = _listing(db, post, seen, is_new=new is not None)
        # The look is sent last and so runs after the steps, except once on a server that has just lost its scripts.
        answers = await db.ask(*steps, *(beside if first is None else ()), *look)
        first = answers[len(steps) : -len(look)] if first is None else first
        before, seen = seen, _seen(post, answers[-len(look) :])
        if (before[0], before[1] is None) == (seen[0], seen[1] is None):
            return seen[1] is not None, first


def _listing(db: Database, post: PublishedPost, seen: Seen, *, is_new: bool) -> list[Command]:
    """Return the commands that list a post where it belongs, or remove it from there."""
    shown, score = seen
    steps: list[Command]
    if post.is_in_group:
        steps = []
    elif score is None:
        steps = public_timelines.remove_commands(post.id, post.hashtags)
    else:
        steps = public_timelines.add_commands(db, post.id, post.hashtags, score)
    if post.quoted:
        original, whose = post.quoted
        if not shown:
            steps.append(posts.unlist_repost_command(db, original, post.id, post.author, plain=False, whose=whose))
        elif is_new:
            steps.append(posts.list_repost_command(db, original, post.id, post.author, plain=False))
        else:
            steps += posts.relist_quote_commands(db, original, post.id, post.author)
    if post.reply:
        change = replies.remove_commands if not shown else replies.add_commands if is_new else replies.relist_commands
        steps += change(db, post.reply)
    return steps


def _seen(post: PublishedPost, replies: Sequence[Any]) -> Seen:
    """Return who sees a post, from the replies about it and its author."""
    fields, user = map(read_pairs, replies)
    found, author = read_post(post.id, fields), User.read(post.author, user)
    if found is None or author is None or found.is_hidden:
        return False, None
    is_apart = author.is_private or author.is_suspended or post.is_in_group
    return True, None if is_apart else ranking.score_of(found)
