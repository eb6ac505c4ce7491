"""Imports groups: their members are the followers of their owners. They are written in batches, each change at once."""

import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from resolvers.operation.inputs import batches
from store import jobs
from store.client.database import Database
from store.groups import changes, membership, timeline
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind
from store.keys.fields import GroupField
from store.posts import PostDraft, create_command
from store.refusals import accepted, refused

BATCH = 500  # members or posts per round trip
POSTS = 10  # of each group, by its owner and members in turn
KINDS = (GroupKind.PUBLIC, GroupKind.PUBLIC, GroupKind.PRIVATE, GroupKind.ANNOUNCEMENT)


class NewGroup(Struct, frozen=True):
    """A group to be imported, with the logins of its members and its posts."""

    owner: str
    kind: GroupKind
    members: Sequence[str]
    texts: Sequence[str]


def deal(following: Mapping[str, Sequence[str]], texts: Sequence[str], total: int, seed: int) -> Iterator[NewGroup]:
    """Yield groups, most of them by members with many followers."""
    followers: dict[str, list[str]] = defaultdict(list)
    for follower, others in following.items():
        for followed in others:
            followers[followed].append(follower)
    owners, words = sorted(followers), itertools.cycle(texts or ["hello"])
    chance = random.Random(f"{seed} groups")  # noqa: S311  deals out, keeps no secret
    for kind in itertools.islice(itertools.cycle(KINDS), total if owners else 0):
        (owner,) = chance.choices(owners, [len(followers[login]) for login in owners])
        yield NewGroup(owner, kind, followers[owner], list(itertools.islice(words, POSTS)))


async def create(
    db: Database, name: str, groups: Iterator[NewGroup], members: Mapping[str, int], progress: Callable[[int], object]
) -> None:
    """Create groups with members and posts. Those that a run within the last day has made stay as they are.

    `name` is that of the import. Members who have `MAX_GROUPS` are left out.
    """
    for number, group in enumerate(groups):
        key, owner = f"{name}:{number}", members[group.owner]
        text = f"Group {number + 1} of {group.owner}"
        _, made, created = accepted(await changes.create(db, GroupDraft(owner, text, "", GroupKind.PUBLIC, key, name)))
        if made:
            joined = await _join(db, made, [members[login] for login in group.members])
            speakers = [owner] if group.kind is GroupKind.ANNOUNCEMENT else [owner, *joined]
            await _post(db, made, key, list(zip(itertools.cycle(speakers), group.texts, strict=False)))
            changed = accepted(await changes.update(db, made, owner, {GroupField.KIND: group.kind.value}))
            await changes.list_in_directory(db, made)
            await db.ask(*(jobs.finish(job.id) for job in (created, changed) if job))
        progress(1)


async def _join(db: Database, group: int, members: Sequence[int]) -> list[int]:
    """Let members join an open group; returns those who are in it."""
    joined: list[int] = []
    for some in batches(members, BATCH):
        indexed = await db.ask(*(membership.index_command(db, group, member) for member in some))
        fitting = [member for member, reply in zip(some, indexed, strict=True) if not refused(reply)]
        replies = await db.ask(*(membership.join_command(group, member) for member in fitting))
        await db.ask(*(jobs.finish(job.id) for reply in replies if (job := membership.read_change(reply))))
        joined += fitting
    return joined


async def _post(db: Database, group: int, key: str, posts: Sequence[tuple[int, str]]) -> None:
    drafts = [
        PostDraft(author, text, group=group, idempotency_key=f"{key}:{number}", digest=key)
        for number, (author, text) in enumerate(posts)
    ]
    made = [int(reply[0]) for reply in await db.ask(*(create_command(db, draft) for draft in drafts))]
    pairs = zip(made, drafts, strict=True)
    await db.ask(*(timeline.add_command(db, group, post, draft.author) for post, draft in pairs))
    await db.ask(*map(jobs.finish, made))
