"""Statuses, quotes and plain reposts: committed in the author's partition, listed in the original's partition.

Replies are statuses. Each is listed at the post it answers, and in the thread of the post that began the conversation.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from store import keys
from store.client.database import Command, Database, script
from store.client.metering import METER
from store.homes import fanout
from store.ids import of_tick, partition
from store.keys.fields import StatusField, UserField
from store.limits.writes import Limit, script_parameters
from store.moderation.records import Acting
from store.pictures.images import ImageRefusal, WantedImage, write_wanted
from store.records.job_bodies import PostDeletion, PostDelivery, PostHiding, PostUnhiding
from store.records.jobs import Created, Job, read_created, read_job
from store.records.lists import Source, read_pairs
from store.records.members import User
from store.records.posts import LOGGED, Post, PostContent, Status, new_status, read_post, write_content
from store.refusals import PartRefused, Refusal, refused
from store.scripts.mailboxes import mailboxes

_JOB_REPLY = 2  # Parts of the reply of `create_post` with a job.


class PostDraft(PostContent, frozen=True):
    """A post to be created."""

    idempotency_key: str | None = None
    digest: str = ""
    limit: Limit | None = None
    images: tuple[WantedImage, ...] = ()


async def create(
    db: Database, draft: PostDraft
) -> Created[PostDelivery] | PartRefused[ImageRefusal] | Literal[Refusal.CONFLICT, Refusal.HOUR, Refusal.TEXT]:
    """Commit a post. A second plain repost is a retry. Refuses a picture that cannot be attached, by its place."""
    (reply,) = await db.ask(create_command(db, draft))
    return refused(reply) or read_created(PostDelivery, reply)


class Delivered(NamedTuple):
    """A status that the script which committed it has delivered to everybody, and its author."""

    post: Status
    author: User


async def publish(
    db: Database, draft: PostDraft, decade: int
) -> (
    Delivered
    | Created[PostDelivery]
    | PartRefused[ImageRefusal]
    | Literal[Refusal.CONFLICT, Refusal.HOUR, Refusal.TEXT]
):
    """Commit a post as `create` does, and deliver it with the same script if nothing else is to be done for it.

    That needs one server, no more followers than are reached before a post is answered, and a status that names and
    answers nobody. Its score is its time in units of `decade`, s.
    """
    (reply,) = await db.ask(create_command(db, draft, at_once=_at_once(db, draft, decade)))
    if isinstance(reply, str) or len(reply) <= _JOB_REPLY:
        return refused(reply) or read_created(PostDelivery, reply)
    post, _, reached, count, fields = reply
    METER.followers += reached
    author = User.read(draft.author, {**read_pairs(fields), UserField.POSTS: count})
    assert author is not None
    return Delivered(new_status(int(post), draft), author)


def _at_once(db: Database, draft: PostDraft, decade: int) -> list[Any]:
    """Return what `create_post` takes to deliver a post at once; nothing where a job has to do that."""
    settings = db.settings
    others = draft.original, draft.reply_to, draft.group, draft.mentions, draft.images
    if db.is_cluster or any(others):
        return []
    return [
        keys.followers(draft.author),
        fanout.reached_inline(db),
        *(keys.public(), keys.important_public()),
        *(settings.public_size, settings.hashtag_size, settings.important_size),
        decade,
        *(keys.TAGS_KEPT, keys.TAG_USES_SECONDS),
        *(keys.events(), settings.events_kept, db.channel(keys.events_channel())),
    ]


def create_command(db: Database, draft: PostDraft, at_once: Sequence[Any] = ()) -> Command:
    """Return the command that commits a post."""
    a = draft.author
    kind, used = "repost" if draft.original else "post", draft.idempotency_key
    idempotency = {"idempotency": keys.idempotency(a, kind, used)} if used else {}
    return script(
        "create_post",
        a,
        **script_parameters(a, draft.limit),
        **idempotency,
        author=a,
        content=write_content(draft),
        digest=draft.digest,
        ttl=keys.DAY,
        **fanout.bounds(db),
        images=write_wanted(draft.images),
        at_once=at_once,
    )


async def delete(db: Database, post: int, author: int) -> Job[PostDeletion] | None:
    """Delete an author's post; returns the job for that everywhere, None when it is gone."""
    (reply,) = await db.ask(delete_command(db, post, author))
    return read_job(PostDeletion, *reply) if reply else None


async def remove(
    db: Database, post: int, author: int, acting: Acting
) -> Job[PostDeletion] | Literal[Refusal.OUTRANKED] | None:
    """Delete a post as a moderator; returns as `delete` does. The job logs the act."""
    (reply,) = await db.ask(delete_command(db, post, author, acting))
    return refused(reply) or (read_job(PostDeletion, *reply) if reply else None)


def delete_command(db: Database, post: int, author: int, acting: Acting | None = None) -> Command:
    """Return the command that deletes a post."""
    moderating = {"credentials": keys.credentials(author), **acting.arguments()} if acting else {}
    return script(
        "delete_post",
        author,
        status=keys.status(post),
        post=post,
        author=author,
        channel=db.channel(keys.activity(post)),
        logged=" ".join(LOGGED),
        **moderating,
    )


async def list_repost(db: Database, original: int, repost: int, author: int, *, plain: bool) -> bool:
    """List a repost or quote at its original; False when the original is gone."""
    return bool(await db.one(*list_repost_command(db, original, repost, author, plain=plain)))


def list_repost_command(db: Database, original: int, repost: int, author: int, *, plain: bool) -> Command:
    """Return the command that lists a repost or quote at its original."""
    return script("list_repost", original, **_listing(db, original, repost, author, plain=plain))


async def unlist_repost(db: Database, original: int, repost: int, author: int, *, plain: bool, whose: int) -> None:
    """Remove a repost or quote from its original's list, and withdraw its notification from `whose`.

    `whose` is the original's author.
    """
    await db.one(*unlist_repost_command(db, original, repost, author, plain=plain, whose=whose))


def unlist_repost_command(db: Database, original: int, repost: int, author: int, *, plain: bool, whose: int) -> Command:
    """Return the command that removes a repost or quote from its original's list."""
    listing = _listing(db, original, repost, author, plain=plain)
    return script("unlist_repost", original, **listing, original_author=whose, ttl=keys.DAY)


def _listing(db: Database, original: int, repost: int, author: int, *, plain: bool) -> dict[str, Any]:
    """Return the script parameters that name a repost or quote and its original's list."""
    listed = (keys.reposts(original), StatusField.REPOSTS) if plain else (keys.quotes(original), StatusField.QUOTES)
    return _listed(db, original, repost, author, listed, author if plain else repost)


def _listed(
    db: Database, original: int, repost: int, author: int, listed: tuple[str, str], entry: int
) -> dict[str, Any]:
    """Return the script parameters that name a post and where it is listed: a list of another post, and its counter."""
    listing, counter = listed
    return {
        "listing": listing,
        "tombstone": keys.withdrawn(original, repost),
        "entry": entry,
        "repost": repost,
        "author": author,
        "counter": counter,
        "original": original,
        "channel": db.channel(keys.activity(original)),
        "mailboxes": mailboxes(db, partition(original)),
    }


@dataclass(frozen=True, slots=True)
class Reply:
    """A status that answers a post; `root` is the post that began the conversation."""

    id: int
    author: int
    parent: int
    parent_author: int
    root: int


def list_reply_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that list a reply in both lists, unless it was removed before."""
    in_thread = script(
        "list_thread",  # with the root, while that exists
        reply.root,
        tombstone=keys.withdrawn(reply.root, reply.id),
        root=reply.root,
        reply=reply.id,
    )
    return [script("list_repost", reply.parent, **_answering(db, reply)), in_thread]


def relist_reply_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that list a reply in both lists, even one that was removed before."""
    ends = [("DEL", keys.withdrawn(post, reply.id)) for post in (reply.parent, reply.root)]
    return [*ends, *list_reply_commands(db, reply)]


def unlist_reply_commands(db: Database, reply: Reply) -> list[Command]:
    """Return the commands that remove a reply from both lists, and keep late jobs from listing it again."""
    return [
        script(
            "unlist_repost", reply.parent, **_answering(db, reply), original_author=reply.parent_author, ttl=keys.DAY
        ),
        ("SET", keys.withdrawn(reply.root, reply.id), "1", "EX", keys.DAY),
        ("ZREM", keys.thread(reply.root), reply.id),
    ]


def _answering(db: Database, reply: Reply) -> dict[str, Any]:
    listed = keys.replies(reply.parent), StatusField.REPLIES
    return _listed(db, reply.parent, reply.id, reply.author, listed, reply.id)


async def answered_authors(db: Database, posts: Sequence[int]) -> list[int | None]:
    """Return who wrote the post that each of some posts answers, None where it answers none. One round trip."""
    replies = await db.ask(*(("HGET", keys.status(post), StatusField.REPLY_TO_AUTHOR) for post in posts))
    return [int(author) if author else None for author in replies]


async def post(db: Database, post_id: int) -> Post | None:
    """Return one post."""
    return read_post(post_id, read_pairs(await db.one("HGETALL", keys.status(post_id))))


async def existing(db: Database, ids: Sequence[int]) -> list[Post]:
    """Return those of some posts that exist."""
    replies = zip(ids, await db.ask(*map(post_command, ids)), strict=True)
    return [post for post_id, reply in replies if (post := read_post(post_id, read_pairs(reply)))]


def post_command(post: int) -> Command:
    """Return the command that reads a post's hash."""
    return ("HGETALL", keys.status(post))


async def gone(db: Database, ids: Sequence[int]) -> set[int]:
    """Return those of some posts that no longer exist."""
    replies = await db.ask(*(("EXISTS", keys.status(post_id)) for post_id in ids))
    return {post_id for post_id, exists in zip(ids, replies, strict=True) if not exists}


async def reposts_between(db: Database, original: int, above: int, below: int, count: int) -> tuple[Source, ...]:
    """Return the oldest plain reposts of a post between two ids, oldest first."""
    bounds = (f"({above}", f"({below}", "BYSCORE", "LIMIT", 0, count, "WITHSCORES")
    return read_reposts(await db.one("ZRANGE", keys.reposts(original), *bounds))


def relist_quote_commands(db: Database, original: int, quote: int, author: int) -> list[Command]:
    """Return the commands that list a quote at its original, even one that was removed from the list before."""
    return [("DEL", keys.withdrawn(original, quote)), list_repost_command(db, original, quote, author, plain=False)]


def first_reposts(original: int, count: int, below: int | None = None) -> Command:
    """Return the command that reads the oldest plain reposts of a post, of those before an id."""
    last = "+inf" if below is None else f"({below}"
    return ("ZRANGE", keys.reposts(original), "-inf", last, "BYSCORE", "LIMIT", 0, count, "WITHSCORES")


def read_reposts(reply: Sequence[Any]) -> tuple[Source, ...]:
    """Return plain reposts from a reply WITHSCORES, in its order. RESP3 has pairs, RESP2 a flat list."""
    pairs = reply if reply and isinstance(reply[0], list) else zip(reply[::2], reply[1::2], strict=True)
    return tuple(Source(int(repost), int(author)) for author, repost in pairs)


async def hide(db: Database, post: int, author: int, *, hidden: bool) -> Job[PostHiding] | Literal[Refusal.GONE] | None:
    """Hide a status or quote, or show it again; returns the job, None without a change."""
    kind = PostHiding if hidden else PostUnhiding
    reply = await db.call(
        "hide_post",
        author,
        status=keys.status(post),
        post=post,
        author=author,
        kind=kind.kind,
        channel=db.channel(keys.activity(post)),
    )
    return refused(reply) or (read_job(kind, *reply) if reply else None)


def reposted_command(member: int, originals: Sequence[int]) -> Command:
    """Return the command that reads a member's plain repost of each original, None without one."""
    return ("HMGET", keys.reposted(member), *originals)


def reposts_by_command(post: int, members: Sequence[int]) -> Command:
    """Return the command that reads each member's plain repost of a post, None without one."""
    return ("ZMSCORE", keys.reposts(post), *members)


async def reposted_as(db: Database, member: int, original: int) -> int | None:
    """Return a member's plain repost of a post, None without one."""
    repost = await db.one("HGET", keys.reposted(member), original)
    return int(repost) if repost else None


def activity_channel(post: int) -> str:
    """Return the Pub/Sub channel on which changes to a post's counters are published."""
    return keys.activity(post)


async def newest_ids(db: Database, members: Collection[int]) -> dict[int, int]:
    """Return the newest id minted in each member's partition. None of the member's posts is newer."""
    parts = list(map(partition, members))
    ticks = await db.ask(*(("GET", keys.minted(part)) for part in parts))
    return {member: of_tick(int(tick), part) for member, part, tick in zip(members, parts, ticks, strict=True)}


async def reposted_until(db: Database, member: int, posts: Sequence[int], last: int) -> set[int]:
    """Return those of some posts that a member has plainly reposted, with repost ids up to `last`."""
    reposts = await db.one("HMGET", keys.reposted(member), *posts) if posts else []
    return {post for post, repost in zip(posts, reposts, strict=True) if repost and int(repost) <= last}


async def clear(db: Database, post: int) -> None:
    """Remove the lists of a deleted post, and the post's entry from its own thread.

    Its quotes and replies stay, as they are posts of their own. So does the thread, which lists the replies.
    """
    lists = (keys.quotes, keys.reposts, keys.likes, keys.comments, keys.commenters, keys.replies)
    await db.ask(("DEL", *(key(post) for key in lists)), ("ZREM", keys.thread(post), post))
