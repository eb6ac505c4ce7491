"""Changes of a group's members that race: their calls run in any order, and all sides agree in the end."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts
from store.client.database import Database, MemberGone
from store.groups import changes, membership
from store.groups.changes import GroupDraft
from store.groups.records import GroupKind, GroupRole
from store.keys.fields import GroupField
from store.records.jobs import Job
from store.refusals import accepted
from store.settings import Settings
from tests.support.groups import act, create, give, join
from tests.support.people import Member, sign_up
from tests.support.racing import ORDERS
from tests.support.threads import assert_clean
from tests.support.work import Turns, number, photograph, put_back, work_off


@dataclass(frozen=True)
class Site:
    """A private group of ann's, with ben as a moderator. Cat is a member, dan asks to join, and eve is invited."""

    group: int
    ann: int
    ben: int
    cat: int
    dan: int
    eve: int


async def site(anonymous: Member) -> Site:
    """Return the site."""
    ann, ben, cat, dan, eve = [await sign_up(anonymous, name) for name in ("ann", "ben", "cat", "dan", "eve")]
    group = await create(ann)
    await join(group, ben, cat)
    await give(ann, group, ben, "MODERATOR")
    await act(ann, "updateGroup", group, kind="PRIVATE")
    await join(group, dan)
    await act(ann, "inviteToGroup", group, eve)
    return Site(number(group), *(number(member.id) for member in (ann, ben, cat, dan, eve)))


Act = Callable[[Database, Site], Coroutine[Any, Any, None]]


async def _finish(db: Database, job: object) -> None:
    if isinstance(job, Job):  # neither a refusal nor without a change
        await dispatch.finish(db, job)


def joins(who: str) -> Act:
    """Return the act of a member who joins the group."""

    async def act(db: Database, s: Site) -> None:
        try:
            job = await membership.join(db, s.group, getattr(s, who))
        except MemberGone:
            return
        await _finish(db, job)

    return act


def leaves(who: str) -> Act:
    """Return the act of a member who leaves the group."""

    async def act(db: Database, s: Site) -> None:
        await _finish(db, await membership.leave(db, s.group, getattr(s, who)))

    return act


def changes_members(change: str, actor: str, *members: str) -> Act:
    """Return the act by which a moderator invites, approves, rejects or removes members."""

    async def act(db: Database, s: Site) -> None:
        run = getattr(membership, change)
        changed = await run(db, s.group, getattr(s, actor), [getattr(s, member) for member in members])
        await _finish(db, changed.job if isinstance(changed, membership.Changed) else None)

    return act


def becomes(kind: GroupKind) -> Act:
    """Return the act by which the group's owner changes its kind."""

    async def act(db: Database, s: Site) -> None:
        await _finish(db, await changes.update(db, s.group, s.ann, {GroupField.KIND: kind.value}))

    return act


async def ann_deletes_the_group(db: Database, s: Site) -> None:
    await _finish(db, await changes.delete(db, s.group, s.ann))


async def ben_becomes_owner(db: Database, s: Site) -> None:
    await membership.set_role(db, s.group, s.ann, s.ben, GroupRole.OWNER)


async def cat_creates_a_group(db: Database, s: Site) -> None:
    try:
        _, _, job = accepted(
            await changes.create(db, GroupDraft(s.cat, "Fish", "", GroupKind.PUBLIC, "once", "digest"))
        )
    except MemberGone:
        return
    await _finish(db, job)


def deletes_their_account(who: str) -> Act:
    """Return the act of a member who deletes their account."""

    async def act(db: Database, s: Site) -> None:
        member = getattr(s, who)
        found = await accounts.credentials(db, member)
        assert found
        await _finish(db, accepted(await accounts.delete(db, member, found.password)))

    return act


RACES: dict[str, tuple[Act, ...]] = {
    "a removal and a return": (changes_members("remove", "ben", "cat"), joins("cat")),
    "a return and a removal, twice": (leaves("cat"), joins("cat"), changes_members("remove", "ben", "cat")),
    "an approval and a withdrawal": (changes_members("approve", "ben", "dan"), leaves("dan")),
    "an approval and a rejection": (changes_members("approve", "ben", "dan"), changes_members("reject", "ann", "dan")),
    "an invitation accepted and taken back": (joins("eve"), changes_members("remove", "ben", "eve")),
    "an invitation declined and repeated": (leaves("eve"), changes_members("invite", "ben", "eve")),
    "an invitation of who asks": (changes_members("invite", "ben", "dan"), leaves("dan"), joins("dan")),
    "a group that opens and a rejection": (becomes(GroupKind.PUBLIC), changes_members("reject", "ben", "dan")),
    "a group that opens and closes": (
        becomes(GroupKind.PUBLIC),
        becomes(GroupKind.PRIVATE),
        joins("dan"),
        leaves("cat"),
    ),
    "a group that opens and is deleted": (becomes(GroupKind.PUBLIC), ann_deletes_the_group),
    "a deletion and a joining": (ann_deletes_the_group, joins("eve"), joins("dan")),
    "a deletion and an invitation": (ann_deletes_the_group, changes_members("invite", "ben", "dan", "cat")),
    "an account deleted and an approval": (deletes_their_account("dan"), changes_members("approve", "ben", "dan")),
    "an account deleted and an invitation": (
        deletes_their_account("eve"),
        changes_members("remove", "ben", "eve"),
        changes_members("invite", "ann", "eve"),
    ),
    "an account deleted and a joining": (deletes_their_account("eve"), joins("eve")),
    "an account deleted and a new group": (deletes_their_account("cat"), cat_creates_a_group),
    "an account deleted and a new owner": (deletes_their_account("ann"), ben_becomes_owner, leaves("ben")),
    "two accounts deleted": (deletes_their_account("ann"), deletes_their_account("ben"), leaves("cat")),
    "a new group, twice": (cat_creates_a_group, cat_creates_a_group),
    "two owners who leave": (ben_becomes_owner, leaves("ann"), leaves("ben")),
}


@pytest.mark.parametrize("race", RACES)
async def test_races(services: Services, settings: Settings, worker: Worker, anonymous: Member, race: str) -> None:
    """Group, indexes, notifications and directory agree after calls in any order, and there is an owner."""
    where = await site(anonymous)
    await work_off(services.db, worker)
    photo = await photograph(services.db)
    for order in range(ORDERS):
        await put_back(services.db, photo)
        turns = Turns(settings, order)
        await turns.together(*(one(turns, where) for one in RACES[race]))
        await work_off(services.db, worker)
        await assert_clean(services.db)
