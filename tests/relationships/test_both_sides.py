"""Requests and blocks on both sides: their changes arrive in any order, and both sides end equal."""

from collections.abc import Awaitable, Callable
from itertools import permutations
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts, blocks, follows, keys
from store.client.database import Database
from store.homes import stored
from store.keys.fields import UserField
from store.records.jobs import Job
from tests.support.people import Member, make_private
from tests.support.work import number, photograph, put_back, waiting, work_off

Act = Callable[[Database, int, int], Awaitable[Any]]


async def _unfollow(db: Database, follower: int, member: int) -> Job | None:
    return await follows.unfollow(db, follower, [member])


async def _follow(db: Database, follower: int, member: int) -> Job | None:
    return (await follows.follow(db, follower, [member]))[0]


async def _ask(db: Database, follower: int, member: int) -> Job | None:
    return (await follows.follow(db, follower, [member], asks=[member]))[0]


async def _approve(db: Database, follower: int, member: int) -> Job | None:
    return await follows.approve(db, member, [follower])


async def _reject(db: Database, follower: int, member: int) -> Job | None:
    return await follows.reject(db, member, [follower])


async def _remove(db: Database, follower: int, member: int) -> Job | None:
    return await follows.remove_followers(db, member, [follower])


async def _public(db: Database, _: int, member: int) -> Job | None:
    return await accounts.set_account_state(db, member, UserField.PRIVATE, holds=False)


async def _private(db: Database, _: int, member: int) -> Job | None:
    return await accounts.set_account_state(db, member, UserField.PRIVATE, holds=True)


async def _block(db: Database, follower: int, member: int) -> Job | None:
    return (await blocks.block(db, member, [follower]))[0]


async def _unblock(db: Database, follower: int, member: int) -> Job | None:
    return (await blocks.unblock(db, member, [follower]))[0]


async def _block_back(db: Database, follower: int, member: int) -> Job | None:
    return (await blocks.block(db, follower, [member]))[0]


STEPS: dict[str, Act] = {
    "follow": _follow,
    "ask": _ask,
    "unfollow": _unfollow,
    "approve": _approve,
    "reject": _reject,
    "remove": _remove,
    "public": _public,
    "private": _private,
    "block": _block,
    "unblock": _unblock,
    "block-back": _block_back,
}

# Acts, where `done` finishes all jobs begun, and the relationship at the end: a follow, request, block or nothing.
HISTORIES = {
    "ask unfollow": "",
    "ask unfollow ask": "request",
    "ask done unfollow ask": "request",
    "ask done approve": "follow",
    "ask done approve unfollow": "",
    "ask done approve unfollow ask": "request",
    "ask done approve remove": "",
    "ask done unfollow approve": "",
    "ask done reject": "",
    "ask done reject unfollow ask": "request",
    "ask done public": "follow",
    "ask public": "follow",
    "ask done public unfollow": "",
    "ask done public private": "request",  # nobody was approved before it ended
    "ask done block": "block",
    "ask block": "block",
    "ask done approve block": "block",
    "ask done block-back": "block",
    "ask done approve block-back": "block",
    "ask done block unblock": "",
    "ask done block unblock block": "block",
    "ask done approve block unblock": "",
    "ask block block-back": "block",
    "public done follow private": "follow",
    "public done follow done private block": "block",
}


async def _sides(db: Database, follower: int, member: int) -> str:
    """Return the relationship of the two, on which both sides must agree."""
    mirrors = (
        ("follow", keys.following(follower), member, keys.followers(member), follower),
        ("request", keys.requested(follower), member, keys.requests(member), follower),
        ("block", keys.blocked(follower), member, keys.blocked_by(member), follower),
        ("block", keys.blocked(member), follower, keys.blocked_by(follower), member),
    )
    found: set[str] = set()
    for name, here, other, there, one in mirrors:
        mine, theirs = await db.ask(("ZSCORE", here, other), ("ZSCORE", there, one))
        assert mine == theirs, name
        if mine is not None:
            found.add(name)
    assert len(found) < 2
    counts = await db.ask(
        ("HGET", keys.user(follower), UserField.FOLLOWING), ("HGET", keys.user(member), UserField.FOLLOWERS)
    )
    assert counts == [str(int("follow" in found))] * 2
    return next(iter(found), "")


async def _run(db: Database, worker: Worker, order: tuple[Job, ...]) -> None:
    for job in order:
        await dispatch.finish(db, job)
    await work_off(db, worker)


@pytest.mark.parametrize("history", HISTORIES)
async def test_jobs_in_every_order(
    services: Services, alice: Member, bob: Member, worker: Worker, history: str
) -> None:
    """Requests, approvals and blocks that crash before delivery end alike, delivered in any order."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    await make_private(bob)
    post = await bob.post("for friends")
    for step in history.split():
        if step == "done":
            await work_off(db, worker)
        else:
            assert await STEPS[step](db, follower, member), step
    photo, committed = await photograph(db), await waiting(db)
    for order in permutations(committed):
        await put_back(db, photo)
        await _run(db, worker, order)
        ended = await _sides(db, follower, member)
        assert ended == HISTORIES[history], [job.kind for job in order]
        assert await alice.home() == [post] * (ended == "follow")


async def test_old_jobs_done_again(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """Repeating any job of two members leaves their relationship as it is."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    await make_private(bob)
    committed: list[Job] = []
    for step in ("ask", "approve", "unfollow", "ask", "reject", "ask", "block", "unblock", "ask", "public", "remove"):
        await STEPS[step](db, follower, member)
        committed += await waiting(db)
        await work_off(db, worker)
        sides = await _sides(db, follower, member)
        for job in committed:
            await dispatch.perform(db, job, Budget(float("inf")))
            await work_off(db, worker)
            assert await _sides(db, follower, member) == sides, (step, job.kind)


async def test_an_approval_of_what_was_withdrawn(
    services: Services, alice: Member, bob: Member, worker: Worker
) -> None:
    """When a request is withdrawn during its approval, no post delivered in between stays at home."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    await make_private(bob)
    assert await alice.home() == []
    assert await _ask(db, follower, member)
    await work_off(db, worker)
    approval = await _approve(db, follower, member)
    withdrawal = await _unfollow(db, follower, member)
    assert approval
    assert withdrawal
    post = number(await bob.post("for friends"))
    # One server trusts the list of followers. On a cluster, the delivery also asks alice's side, which has no follow.
    delivered = [] if db.is_cluster else [post]
    assert [entry.entity for entry in await stored.home(db, follower)] == delivered  # though alice does not see it
    await dispatch.finish(db, approval)
    assert await stored.home(db, follower) == []
    await dispatch.finish(db, withdrawal)
    assert await _sides(db, follower, member) == ""
    assert await stored.home(db, follower) == []
