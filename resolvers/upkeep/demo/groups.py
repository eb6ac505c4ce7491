"""The groups of the demo's community."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from resolvers.jobs import dispatch
from resolvers.rules.text import hashtags, mentions
from store import posts
from store.client.database import Database
from store.groups import changes, membership
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind, GroupRole
from store.posts import PostDraft
from store.refusals import accepted


@dataclass(frozen=True, slots=True)
class Club:
    """A group with everybody who has to do with it, by login, and login and text of each post."""

    name: str
    description: str
    kind: GroupKind
    owner: str
    posts: list[list[str]]
    members: list[str] = field(default_factory=list)
    moderators: list[str] = field(default_factory=list)  # among the members
    asking: list[str] = field(default_factory=list)
    invited: list[str] = field(default_factory=list)


async def gather(db: Database, ids: Mapping[str, int], club: Club) -> None:
    """Create a group, let everybody in, and publish its posts."""
    owner = ids[club.owner]
    draft = GroupDraft(owner, club.name, club.description, club.kind)
    _, group, job = accepted(await changes.create(db, draft))
    await dispatch.finish(db, job)
    invited = await membership.invite(db, group, owner, [ids[login] for login in club.members + club.invited])
    await dispatch.finish(db, accepted(invited).job)
    for login in club.members + club.asking:
        await dispatch.finish(db, accepted(await membership.join(db, group, ids[login])))
    for login in club.moderators:
        await membership.set_role(db, group, owner, ids[login], GroupRole.MODERATOR)
    for login, text in club.posts:
        named = tuple(ids[other] for other in mentions(text) if other in ids)
        _, _, delivery = accepted(
            await posts.create(db, PostDraft(ids[login], text, named, hashtags(text), group=group))
        )
        await dispatch.finish(db, delivery)
