"""The jobs of groups, each just committed in a small site."""

from collections.abc import Awaitable, Callable

from resolvers.jobs import dispatch
from store import accounts, posts
from store.client.database import Database
from store.groups import changes, membership
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind, GroupRole
from store.keys.fields import GroupField
from store.posts import PostDraft
from store.records.job_bodies import PostDelivery
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.scene import Scene


async def _finish(db: Database, job: Job | None) -> None:
    assert job
    await dispatch.finish(db, job)


async def _group(db: Database, s: Scene, kind: GroupKind = GroupKind.PUBLIC) -> int:
    """Make a group of cat's that ben is in, and ann too where it is not private."""
    for job in (s.news, s.echo):  # else notifications depend on which job a worker takes first
        await dispatch.finish(db, job)
    _, group, made = accepted(await changes.create(db, GroupDraft(s.cat, "Birds", "", kind)))
    await _finish(db, made)
    await _finish(db, accepted(await membership.invite(db, group, s.cat, [s.ben])).job)
    for member in (s.ben, s.ann):
        await _finish(db, accepted(await membership.join(db, group, member)))
    return group


async def _create(db: Database, s: Scene) -> Job | None:
    _, _, job = accepted(await changes.create(db, GroupDraft(s.cat, "Birds", "", GroupKind.PUBLIC)))
    return job


async def _join(db: Database, s: Scene) -> Job | None:
    return accepted(await membership.join(db, await _group(db, s), s.dan))


async def _ask(db: Database, s: Scene) -> Job | None:
    return accepted(await membership.join(db, await _group(db, s, GroupKind.PRIVATE), s.dan))


async def _leave(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    await _finish(db, accepted(await membership.invite(db, group, s.ben, [s.dan])).job)
    return accepted(await membership.leave(db, group, s.ben))


async def _invite(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s, GroupKind.PRIVATE)
    return accepted(await membership.invite(db, group, s.cat, [s.dan, s.ann])).job


async def _approve(db: Database, s: Scene) -> Job | None:
    return accepted(await membership.approve(db, await _group(db, s, GroupKind.PRIVATE), s.cat, [s.ann])).job


async def _reject(db: Database, s: Scene) -> Job | None:
    return accepted(await membership.reject(db, await _group(db, s, GroupKind.PRIVATE), s.cat, [s.ann])).job


async def _remove(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    await _finish(db, accepted(await membership.invite(db, group, s.cat, [s.dan])).job)
    return accepted(await membership.remove(db, group, s.cat, [s.dan, s.ben])).job


async def _ban(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    await _finish(db, accepted(await membership.invite(db, group, s.ben, [s.dan])).job)
    return accepted(await membership.ban(db, group, s.cat, [s.ben, s.ann])).job


async def _unban(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    await _finish(db, accepted(await membership.ban(db, group, s.cat, [s.ben, s.dan])).job)
    return accepted(await membership.unban(db, group, s.cat, [s.ben, s.dan])).job


async def _open(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s, GroupKind.PRIVATE)
    return accepted(await changes.update(db, group, s.cat, {GroupField.KIND: GroupKind.PUBLIC.value}))


async def _close(db: Database, s: Scene) -> Job | None:
    repost = await _repost(db, s)
    await _finish(db, repost)
    assert repost
    group = repost.body.original_group
    return accepted(await changes.update(db, group, s.cat, {GroupField.KIND: GroupKind.PRIVATE.value}))


async def _post(db: Database, s: Scene) -> Job | None:
    draft = PostDraft(s.ben, "to @ann and @dan #tea", mentions=(s.ann, s.dan), hashtags=("tea",))
    return await _posted(db, await _group(db, s, GroupKind.PRIVATE), draft)


async def _posted(db: Database, group: int, draft: PostDraft) -> Job | None:
    draft = PostDraft(draft.author, draft.text, draft.mentions, draft.hashtags, group=group)
    _, _, job = accepted(await posts.create(db, draft))
    return job


async def _answer(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    first = await _posted(db, group, PostDraft(s.cat, "a question"))
    await _finish(db, first)
    assert first
    draft = PostDraft(s.ben, "an answer", reply_to=first.id, reply_to_author=s.cat, root=first.id, group=group)
    _, _, job = accepted(await posts.create(db, draft))
    return job


async def _repost(db: Database, s: Scene) -> Job[PostDelivery] | None:
    group = await _group(db, s)
    first = await _posted(db, group, PostDraft(s.cat, "to be passed on"))
    await _finish(db, first)
    assert first
    draft = PostDraft(s.ben, "", original=first.id, original_author=s.cat, original_group=group)
    _, _, job = accepted(await posts.create(db, draft))
    return job


async def _delete(db: Database, s: Scene) -> Job | None:
    repost = await _repost(db, s)
    await _finish(db, repost)
    assert repost
    return await posts.delete(db, repost.body.original, s.cat)


async def _hide(db: Database, s: Scene) -> Job | None:
    repost = await _repost(db, s)
    await _finish(db, repost)
    assert repost
    return accepted(await posts.hide(db, repost.body.original, s.cat, hidden=True))


async def _late_post(db: Database, s: Scene) -> Job | None:
    # Its author leaves the group before the post is listed there.
    group = await _group(db, s)
    job = await _posted(db, group, PostDraft(s.ben, "too late"))
    await _finish(db, accepted(await membership.leave(db, group, s.ben)))
    return job


async def _overtaking_delete(db: Database, s: Scene) -> Job | None:
    job = await _posted(db, await _group(db, s), PostDraft(s.ben, "deleted before it is listed"))
    assert job
    return await posts.delete(db, job.id, s.ben)


async def _end(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    for member in (s.ben, s.cat):
        await _finish(db, await _posted(db, group, PostDraft(member, "in the group")))
    await _finish(db, accepted(await membership.invite(db, group, s.cat, [s.dan])).job)
    await _finish(db, accepted(await membership.ban(db, group, s.cat, [s.ann])).job)
    return accepted(await changes.delete(db, group, s.cat))


async def _owners_account(db: Database, s: Scene) -> Job | None:
    group = await _group(db, s)
    await membership.set_role(db, group, s.cat, s.ann, GroupRole.MODERATOR)
    _, _, alone = accepted(await changes.create(db, GroupDraft(s.cat, "Mine alone", "", GroupKind.PRIVATE)))
    await _finish(db, alone)
    found = await accounts.credentials(db, s.cat)
    assert found
    return accepted(await accounts.delete(db, s.cat, found.password))


GROUP_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "new group": _create,
    "joining": _join,
    "asking to join": _ask,
    "leaving": _leave,
    "invitation": _invite,
    "approval in a group": _approve,
    "rejection in a group": _reject,
    "removal from a group": _remove,
    "ban from a group": _ban,
    "end of a ban from a group": _unban,
    "opening of a group": _open,
    "closing of a group": _close,
    "post in a group": _post,
    "answer in a group": _answer,
    "repost of a post in a group": _repost,
    "delete in a group": _delete,
    "hiding in a group": _hide,
    "post of who has left": _late_post,
    "delete before the listing": _overtaking_delete,
    "deletion of a group": _end,
    "account of an owner": _owners_account,
}
