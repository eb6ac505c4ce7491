"""Both sides of a follow: its changes arrive in any order, and both sides end equal."""

from itertools import permutations

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import follows
from store.client.database import Database
from store.records.job_bodies import Following
from store.records.jobs import Job
from tests.support.people import Member
from tests.support.scene import assert_agreed
from tests.support.work import number, photograph, put_back, waiting, work_off

SIDES = """
query($follower: String!, $member: String!) {
  follower: user(login: $follower) {
    followingCount viewerIsFollowing isFollowingViewer
    following { edges { followedAt node { login } } } }
  member: user(login: $member) {
    followerCount viewerIsFollowing isFollowingViewer isMutual
    followers { edges { followedAt node { login } } } } }
"""
HISTORIES = [
    "follow unfollow",
    "follow unfollow follow",
    "follow unfollow follow unfollow",
    "follow done unfollow follow",
    "follow done unfollow follow unfollow",
    "follow done remove",
    "follow done remove unfollow",
    "follow done remove unfollow follow",
    "follow done unfollow remove follow",
    "follow done unfollow follow remove",
    "follow remove",
    "follow delivered unfollow",
    "follow delivered unfollow follow",
    "follow delivered remove",
    "follow delivered remove unfollow follow",
]


async def _commit(db: Database, step: str, follower: int, member: int) -> None:
    """Commit a step and die before its job begins, or before it has done more than update the other side."""
    if step == "delivered":
        (job,) = await waiting(db)
        assert isinstance(job.body, Following)
        await follows.apply_to_followed(db, follower, job.body.edges, "add")
    elif step == "follow":
        await follows.follow(db, follower, [member])
    elif step == "unfollow":
        await follows.unfollow(db, follower, [member])
    else:
        await follows.remove_followers(db, member, [follower])


async def _sides(follower: Member, member: Member) -> bool:
    """Return whether one follows the other, on which both sides must agree."""
    answer = await follower.ask(SIDES, follower=follower.login, member=member.login)
    mine, theirs = answer["follower"], answer["member"]
    follows: bool = theirs["viewerIsFollowing"]
    assert mine["followingCount"] == len(mine["following"]["edges"]) == follows
    assert theirs["followerCount"] == len(theirs["followers"]["edges"]) == follows
    assert [edge["node"]["login"] for edge in mine["following"]["edges"]] == [member.login] * follows
    assert [edge["node"]["login"] for edge in theirs["followers"]["edges"]] == [follower.login] * follows
    times = [edge["followedAt"] for side in (mine["following"], theirs["followers"]) for edge in side["edges"]]
    assert len(set(times)) == follows
    seen = await member.ask(SIDES, follower=follower.login, member=member.login)
    assert seen["follower"]["isFollowingViewer"] == follows
    return follows


@pytest.mark.parametrize("history", HISTORIES)
async def test_jobs_in_every_order(
    services: Services, alice: Member, bob: Member, worker: Worker, history: str
) -> None:
    """Follows and unfollows that crash before delivery leave both sides equal, delivered in any order."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    post = await bob.post("a post")
    for step in history.split():
        if step == "done":
            await work_off(db, worker)
        else:
            await _commit(db, step, follower, member)
    photo, committed = await photograph(db), await waiting(db)
    outcomes: set[bool] = set()
    for order in permutations(committed):
        await put_back(db, photo)
        await _run(db, order)
        follows = await _sides(alice, bob)
        assert await alice.home() == [post] * follows
        await assert_agreed(db, [follower, member])
        outcomes.add(follows)
    if "remove" not in history:
        assert outcomes == {history.endswith(" follow")}  # what the follower said last
    assert len(outcomes) == 1


async def _run(db: Database, order: tuple[Job, ...]) -> None:
    for job in order:
        await dispatch.finish(db, job)
    assert not await waiting(db)


async def test_an_old_job_done_again_after_newer_ones(
    services: Services, alice: Member, bob: Member, worker: Worker
) -> None:
    """A follow, unfollow or removal that is repeated after newer ones changes nothing."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    post = await bob.post("a post")
    committed: list[Job] = []
    for step in ("follow", "unfollow", "follow", "remove", "follow", "unfollow"):
        await _commit(db, step, follower, member)
        committed += await waiting(db)
        await work_off(db, worker)
    for job in committed:
        await dispatch.perform(db, job, Budget(float("inf")))
        assert not await _sides(alice, bob)
    await alice.follow(bob)
    for job in committed:
        await dispatch.perform(db, job, Budget(float("inf")))
        assert await _sides(alice, bob)
        assert await alice.home() == [post]


async def test_a_follow_that_crashed_is_finished_when_it_is_repeated(
    services: Services, alice: Member, bob: Member, worker: Worker
) -> None:
    """After a crash the follower's side has the follow, repeating it is no error, and the worker completes it."""
    await follows.follow(services.db, number(alice.id), [number(bob.id)])
    await alice.follow(bob)
    assert await alice.ask("{ viewer { user { followingCount } } }") == {"user": {"followingCount": 1}}
    await work_off(services.db, worker)
    assert await _sides(alice, bob)


async def test_a_follower_removed_while_their_unfollow_is_under_way(
    services: Services, alice: Member, bob: Member, worker: Worker
) -> None:
    """A new follow is not undone by the late delivery of an earlier end that both sides asked for."""
    db, follower, member = services.db, number(alice.id), number(bob.id)
    await alice.follow(bob)
    await follows.unfollow(db, follower, [member])
    await follows.remove_followers(db, member, [follower])
    await alice.follow(bob)
    await work_off(db, worker)
    assert await _sides(alice, bob)
    await assert_agreed(db, [follower, member])
