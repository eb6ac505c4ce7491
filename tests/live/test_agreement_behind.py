"""The live home agrees with the stored one even for subscribers that lag behind."""

import asyncio
import os
import random
from contextlib import AsyncExitStack, suppress

import pytest

from resolvers.jobs.worker import Worker
from resolvers.live import home
from resolvers.process.services import Services
from schema.execution.operations import Schema
from store.settings import Settings
from tests.support.model.facts import SOON
from tests.support.people import Member, shrunk, sign_up
from tests.support.scripts import WEIGHTS, Script
from tests.support.slow import few
from tests.support.transport.slow_readers import SlowReader, slow_reader
from tests.support.work import work_off

SEEDS = int(os.environ.get("PERCH_MODEL_SEEDS", "2"))
STEPS = 120
PACES = (0.08, 0.2, 0.4)  # How often each subscriber reads, per step.
PORTIONS = (1, 2, 3, 10, 100)  # Messages that one reads at a time.
FEW: dict[str, int] = {  # Few kinds of acts, so that the same posts are added and removed while subscribers lag behind.
    **dict.fromkeys(WEIGHTS, 0),
    "post": 24,
    "delete": 20,
    "follow": 30,
    "unfollow": 30,
    "repost": 8,
    "unrepost": 4,
    "hide": 3,
    "unhide": 4,
    "block": 1,
    "unblock": 4,
}
MANY_REPOSTS = FEW | {"repost": 60, "unrepost": 20}


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings, reduced as the test's parameter says."""
    return shrunk(settings, **getattr(request, "param", {}))


@pytest.mark.parametrize("seed", few(range(SEEDS)))
@pytest.mark.parametrize(
    ("settings", "weights"),
    [
        ({}, FEW),
        ({"big_author": 2}, FEW),
        ({"subscriber_queue": 12}, FEW),
        ({"repost_lift_hours": SOON}, MANY_REPOSTS),
        ({}, WEIGHTS),
    ],
    indirect=["settings"],
    ids=["pushed", "pulled", "gaps", "lifted", "all"],
)
@pytest.mark.parametrize("at_once", few([1, 4]), ids=["one", "many"])
async def test_agreement_of_subscribers_behind(
    services: Services,
    built: Schema,
    worker: Worker,
    anonymous: Member,
    alice: Member,
    bob: Member,
    carol: Member,
    seed: int,
    weights: dict[str, int],
    at_once: int,
) -> None:
    """A subscriber that reads late, in random portions, while all act, ends with the home that is stored then."""
    others = [bob, carol, await sign_up(anonymous, "dave")]
    script, lot = Script(services.db, [alice, *others], seed, weights), random.Random(seed)  # noqa: S311

    async def act() -> None:
        with suppress(AssertionError):  # deleting what another member has just deleted is refused
            await script.act()

    async def read(reader: SlowReader, pace: float) -> None:
        if lot.random() < pace:
            await reader.read(lot.choice(PORTIONS))

    for _ in range(20):
        await script.act()
    async with AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(slow_reader(services, built, alice)) for _ in PACES]
        for _ in range(STEPS):
            reads = (read(reader, pace) for reader, pace in zip(readers, PACES, strict=True))
            await asyncio.gather(*(act() for _ in range(at_once)), *reads)
        await work_off(services.db, worker)
        for reader in readers:
            await reader.catch_up()
        lines = [reader.held.lines() for reader in readers if reader.held]
        stored = (await readers[0].fetched()).lines()
    assert lines == [stored] * len(PACES)


# ------------------------------------------------------------ cases that it has found


async def test_a_delete_after_a_follow_seen_early(
    services: Services, built: Schema, alice: Member, bob: Member
) -> None:
    """A post added by a follow that was evaluated late is removed when its author deletes it before an unfollow."""
    async with slow_reader(services, built, bob) as reader:
        own = await bob.post("what the client has not read")
        await bob.follow(alice)
        await bob.unfollow(alice)
        await bob.follow(alice)
        post = await alice.post("put by the first follow")
        await reader.read(1)  # and the first follow is evaluated
        await alice.do("deletePost", postId=post)
        await bob.unfollow(alice)
        await reader.read(1)
        assert reader.held
        assert set(reader.held.edges) == {own, post}
        await reader.catch_up()
        assert set(reader.held.edges) == {own}


# ------------------------------------------------------------ what is cheaper to refetch


async def test_more_changes_than_are_told(
    services: Services, built: Schema, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that changes more posts than are sent one by one gives a gap, which covers all events up to then."""
    monkeypatch.setattr(home, "MAX_CHANGES", 3)
    posts = [await alice.post(f"{i}") for i in range(4)]
    async with slow_reader(services, built, bob) as reader:
        await bob.follow(alice)
        await reader.catch_up()
        for _ in range(5):
            await bob.unfollow(alice)
            await bob.follow(alice)
        posts.append(await alice.post("one more"))
        await reader.catch_up()
        assert reader.held
        assert set(reader.held.edges) == set(posts)
        # The first gap is for the first follow. The second waited unread, and the third covers everything since.
        assert [message["__typename"] for message in reader.messages] == ["StreamGap"] * 3
        last = await alice.post("after the gap")
        await reader.catch_up()
        assert reader.messages[-1]["edge"]["node"]["id"] == last


async def test_as_many_changes_as_are_told(
    services: Services, built: Schema, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An event that changes as many posts as may be sent one by one sends them one by one."""
    monkeypatch.setattr(home, "MAX_CHANGES", 3)
    posts = [await alice.post(f"{i}") for i in range(3)]
    async with slow_reader(services, built, bob) as reader:
        await bob.follow(alice)
        await reader.catch_up()
        assert reader.gaps == 0
        assert [message["edge"]["node"]["id"] for message in reader.messages] == posts[::-1]
