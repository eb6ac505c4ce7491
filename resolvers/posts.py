"""Statuses, quotes and plain reposts: publishing, hiding and deleting them, and their reposts, quotes and replies."""

from collections.abc import Sequence
from itertools import islice

from msgspec.structs import replace

from resolvers.jobs import dispatch
from resolvers.operation import write_limits
from resolvers.operation.context import Context
from resolvers.operation.inputs import (
    Coordinates,
    checked_key,
    checked_location,
    checked_text,
    input_digest,
    key_conflict,
)
from resolvers.operation.payloads import DeletePostPayload, PostIdPayload, PostPayload, RepostPayload
from resolvers.process.errors import Refused, UserErrorCode, no_such, not_allowed, refuse
from resolvers.reading import global_ids, groups, hydrate, moderation, named_members, paging, pictures
from resolvers.reading.paging import NodeEdge, Page
from resolvers.reading.pictures import Picture
from resolvers.rules import text as rules
from resolvers.rules import visibility
from resolvers.rules.ranking import DECADE_SECONDS
from store import idempotency, kinds, posts
from store.limits.writes import WriteKind
from store.moderation.records import Act, Acting, ModerationActKind, Subject
from store.posts import Delivered, PostDraft
from store.records.jobs import Created, Job
from store.records.lists import Entry
from store.records.members import User
from store.records.posts import Post, Repost, Status, is_plain_repost
from store.refusals import PartRefused, Refusal
from store.timelines import Slice


async def post(
    context: Context,
    *,
    text: str,
    images: Sequence[Picture] | None = None,
    in_reply_to_id: str | None = None,
    group_id: str | None = None,
    location: Coordinates | None = None,
    idempotency_key: str | None = None,
) -> PostPayload:
    """Publish a status, to everybody or in a group. It may reply to a post, and to a plain repost's original."""
    author = await context.member()
    key = checked_key(idempotency_key)
    pictured = pictures.named(context, images)
    words = checked_text(text, context.settings.max_text, may_be_empty=bool(pictured))
    place = checked_location(location)
    also = [*filter(None, [group_id]), *pictures.digest_of(pictured)]
    digest = input_digest(words, in_reply_to_id, place and (place.latitude, place.longitude), *also)
    try:
        group = await groups.posted_in(context, group_id)
        answered = await _answered(context, in_reply_to_id, group)
    except Refused as refusal:
        return PostPayload(status=await _made_before(context, "post", key, digest, refusal))
    draft = PostDraft(
        author=author,
        text=words,
        mentions=await named_members.mentioned(context, words),
        hashtags=rules.hashtags(words),
        location=place,
        group=group,
        images=pictured,
        idempotency_key=key,
        digest=digest,
    )
    return PostPayload(status=await _publish(context, _answering(draft, answered), "status"))


def _answering(draft: PostDraft, post: Post | None) -> PostDraft:
    """Return a draft as a reply to a post, if one is given."""
    if post is None:
        return draft
    return replace(draft, reply_to=post.id, reply_to_author=post.author, root=post.root or post.id)


async def repost(
    context: Context, *, post_id: str, text: str | None = "", idempotency_key: str | None = None
) -> RepostPayload:
    """Repost a post plainly, or quote it with a text of one's own. For a plain repost, this applies to its original."""
    author = await context.member()
    key = checked_key(idempotency_key)
    words = checked_text(text or "", context.settings.max_text, may_be_empty=True)
    digest = input_digest(words, post_id)
    try:
        original = await _passable(context, post_id)
    except Refused as refusal:
        made = await _made_before(context, "repost", key, digest, refusal)
        assert isinstance(made, Repost)
        return RepostPayload(repost=made)
    draft = PostDraft(
        author=author,
        text=words,
        mentions=await named_members.mentioned(context, words),
        hashtags=rules.hashtags(words),
        original=original.id,
        original_author=original.author,
        original_group=original.group,
        of_quote=isinstance(original, Repost),
        idempotency_key=key,
        digest=digest,
    )
    made = await _publish(context, draft, "repost")
    assert isinstance(made, Repost)
    return RepostPayload(repost=made, original=await hydrate.post(context, original.id))


async def _passable(context: Context, post_id: str) -> Post:
    """Return the post to repost; raises Refused if it is unseen, hidden, private, or in a private group."""
    original = await hydrate.acted_on(context, post_id)
    if original.is_hidden:
        raise not_allowed("a hidden post cannot be passed on", "postId")
    author = await context.load.user.load(original.author)
    if author and author.is_private and author.id != context.viewer:
        raise not_allowed("a private member's post cannot be passed on by others", "postId")
    if original.group and await groups.is_private(context, original.group):
        raise not_allowed("a post in a private group cannot be passed on", "postId")
    return original


async def unrepost(context: Context, *, post_id: str) -> PostIdPayload:
    """Delete the viewer's plain repost of a post; idempotent."""
    viewer = await context.member()
    original = await hydrate.acted_on(context, post_id)
    repost = await posts.reposted_as(context.db, viewer, original.id)
    job = await posts.delete(context.db, repost, viewer) if repost else None
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return PostIdPayload(post=await hydrate.post(context, original.id))


async def delete_post(context: Context, *, post_id: str) -> DeletePostPayload:
    """Delete one of the viewer's posts, or as a moderator another's, everywhere and for good.

    A moderator of the post's group needs no role on the site. A moderator of the site has to see the post.
    """
    viewer = await context.member()
    found = removable = await groups.removable(context, post_id)
    if found is None:
        found = await hydrate.own(context, post_id, viewer, "delete", or_any=context.is_moderator)
    is_moderating = not removable and found.author != viewer
    job = await (_remove(context, found) if is_moderating else posts.delete(context.db, found.id, found.author))
    if job is None:
        raise no_such("post", "postId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return DeletePostPayload(deleted_post_id=post_id, author=await hydrate.user(context, found.author))


async def _remove(context: Context, found: Post) -> Job | None:
    """Delete another member's post as a moderator of the site; raises Refused for an equal or superior."""
    about = Subject(global_ids.kind_of(found), found.id)
    act = Act(context.viewer or 0, ModerationActKind.CONTENT_DELETED, about)
    job = await posts.remove(context.db, found.id, found.author, Acting(context.rank, act))
    if job is Refusal.OUTRANKED:
        raise moderation.outranked("postId")
    return job


async def hide_post(context: Context, *, post_id: str) -> PostIdPayload:
    """Hide one of the viewer's posts from everybody except moderators and the author; idempotent."""
    return await _hide(context, post_id, hidden=True)


async def unhide_post(context: Context, *, post_id: str) -> PostIdPayload:
    """Show a hidden post again; idempotent."""
    return await _hide(context, post_id, hidden=False)


async def _hide(context: Context, post_id: str, *, hidden: bool) -> PostIdPayload:
    viewer = await context.member()
    found = await hydrate.own(context, post_id, viewer, "hide")
    if isinstance(found, Repost) and found.is_plain:
        raise not_allowed("a plain repost cannot be hidden, only taken back", "postId")
    job = await posts.hide(context.db, found.id, viewer, hidden=hidden)
    if job is Refusal.GONE:
        raise no_such("post", "postId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    return PostIdPayload(post=await hydrate.post(context, found.id))


async def _answered(context: Context, post_id: str | None, group: int | None) -> Post | None:
    """Return the post that a new one replies to; raises Refused if it is hidden, unseen, or not in the same group."""
    if post_id is None:
        return None
    answered = await hydrate.acted_on(context, post_id, "inReplyToId")
    if answered.is_hidden:
        raise not_allowed("a hidden post cannot be answered", "inReplyToId")
    if answered.group != group:
        if group:
            raise refuse(UserErrorCode.INVALID, "inReplyToId: this post is not in the group", "inReplyToId")
        raise refuse(UserErrorCode.INVALID, "groupId: a post in a group is answered in that group", "groupId")
    return answered


async def _made_before(context: Context, mutation: str, key: str | None, digest: str, refusal: Refused) -> Post:
    """Return the post that the first attempt of a retried mutation made; raises the refusal if there was none.

    Quotes and replies outlive the posts that they refer to, so a retry must still get its first result.
    """
    viewer = await context.member()
    first = await idempotency.first_made(context.db, viewer, mutation, key, digest) if key else None
    made = await hydrate.post(context, first) if first else None
    if made is None:
        raise refusal
    return made


async def _publish(context: Context, draft: PostDraft, kind: str) -> Post:
    # A text on its own is for those who follow. Others get it where it answers, quotes, names them, or is in a group.
    target = draft.reply_to or draft.original or draft.group or ",".join(map(str, sorted(set(draft.mentions))))
    limit = await write_limits.limit(context, WriteKind.POSTS, draft.text, target)
    match await posts.publish(context.db, replace(draft, limit=limit), DECADE_SECONDS):
        case Refusal.CONFLICT:
            raise key_conflict()
        case Refusal.HOUR | Refusal.TEXT as exceeded:
            raise write_limits.refusal(limit, exceeded)
        case PartRefused(refusal, place):
            raise pictures.refusal(refusal, place)
        case Delivered(post, author):
            hydrate.show_new(context, post, author)
            return post
        case Created(_, post, job):
            await dispatch.finish(context.db, job, context.batcher)
            context.forget()
            made = await hydrate.post_by(context, post, draft.author)
            if made is None:
                raise refuse(UserErrorCode.NOT_FOUND, f"the {kind} has been deleted since")
            return made


async def originals(context: Context, reposts: Sequence[Repost]) -> list[Post | None]:
    """Return the originals of reposts and quotes, None for those that are deleted or not seen.

    No round trip if `hydrate.posts` has read the reposts.
    """
    ids = [repost.original_id for repost in reposts]
    in_groups = [repost.original_group for repost in reposts if repost.original_group]
    sight = await hydrate.sight_of(context, [repost.original_author for repost in reposts], ids, in_groups=in_groups)
    stored = [sight.posts[original] for original in ids]
    return [post if visibility.sees(sight, post) else None for post in stored]


async def targets(context: Context, posts: Sequence[Post]) -> list[Post]:
    """Return the posts whose counts and lists are shown for some posts: for a plain repost, its original."""
    found = await context.load.post.load_many([hydrate.acts_for(post) for post in posts if is_plain_repost(post)])
    originals = iter(found)
    return [(next(originals) or post) if is_plain_repost(post) else post for post in posts]


async def mentioned(context: Context, posts: Sequence[Post]) -> list[list[User]]:
    """Return the members that each post mentions."""
    users = iter(await hydrate.users(context, [member for post in posts for member in post.mentioned]))
    return [[user for user in islice(users, len(post.mentioned)) if user] for post in posts]


async def viewer_has_liked(context: Context, posts: Sequence[Post]) -> list[bool]:
    """Return whether the viewer likes each post."""
    return await context.load.has_liked.load_many(hydrate.acted_for(posts))


async def viewer_has_reposted(context: Context, posts: Sequence[Post]) -> list[bool]:
    """Return whether the viewer has a plain repost of each post."""
    return await context.load.has_reposted.load_many(hydrate.acted_for(posts))


async def reposts(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the plain reposts of a post."""
    key = kinds.REPOSTS.key(hydrate.acts_for(post))
    return await paging.read_list(context, "reposts", key, hydrate.posts, first, after, by_place=True)


async def quotes(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the quotes of a post."""
    key = kinds.QUOTES.key(hydrate.acts_for(post))
    return await paging.read_list(context, "quotes", key, hydrate.posts, first, after)


async def replies(context: Context, post: Post, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the direct replies to a post, oldest first."""
    key = kinds.REPLIES.key(hydrate.acts_for(post))
    return await paging.read_list(context, "replies", key, hydrate.posts, first, after, descending=False)


async def in_reply_to(context: Context, status: Status) -> Post | None:
    """Return the post that a status replies to; None if there is none, or it was deleted or is not seen."""
    return await hydrate.post(context, status.reply_to) if status.reply_to else None


async def conversation(context: Context, status: Status, first: int | None, after: str | None) -> Page[NodeEdge[Post]]:
    """Return the whole conversation of a status, oldest first. The status itself is always included.

    The stored conversation lacks the status in two cases: it neither is a reply nor has replies, or it is hidden.
    """
    asked = paging.window(context.settings, "conversation", first=first, after=after, descending=False)
    key, own = kinds.THREAD.key(status.root or status.id), Entry(status.id, status.id)
    listed, goes_on_listed = paging.fetch_from(context, key), paging.beyond(context, key, asked)

    async def fetch(part: Slice) -> list[Entry]:
        entries = list(await listed(part))
        if own not in entries and own.place > (part.above or 0):
            entries.append(own)
        return sorted(entries, key=lambda entry: entry.place)[: part.count]

    async def goes_on() -> bool:
        return await goes_on_listed() or own.place <= (asked.after or 0)

    return await paging.page(asked, fetch, paging.presenting(context, asked, hydrate.posts), goes_on=goes_on)
