"""Imports into a site that is in use: the members whom it has already, and what they do meanwhile."""

from collections.abc import Mapping, Sequence

from resolvers.jobs import imports as import_jobs
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import verify
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from store import follows, keys
from store.client.database import Database
from store.upkeep.copying import imports as stored
from tests.support.people import Member
from tests.support.work import number

TEXTS = ["good morning #tea", "a second one"]


def network_of(following: Mapping[str, Sequence[str]], total: int = 0) -> Network:
    """Return a network of some logins."""
    members = sorted({*following, *(login for others in following.values() for login in others)})
    return Network("a name", members, {login: list(others) for login, others in following.items()}, TEXTS, total, 1)


async def load(db: Database, network: Network) -> None:
    """Import a network, and assert that every invariant holds, all homes are right and no work is left."""
    await imports.load(db, network, NO_PASSWORD)
    await assert_whole(db)


async def assert_whole(db: Database) -> None:
    """Assert that every invariant holds, all homes are right and no work is left."""
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert (report.findings, report.unfinished_jobs) == ([], 0)


async def followed(db: Database, member: Member) -> set[int]:
    """Return whom a member follows."""
    return set(await follows.following(db, number(member.id)))


async def test_a_block(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Nobody follows whom they block or who blocks them; the other follows of both are imported."""
    await bob.do("block", userIds=[alice.id])
    await load(db, network_of({"alice": ["bob", "carol"], "bob": ["alice", "carol"], "carol": ["bob", "dave"]}))
    assert await followed(db, alice) == await followed(db, bob) == {number(carol.id)}
    assert len(await followed(db, carol)) == 2


async def test_a_block_in_between(db: Database, alice: Member, bob: Member) -> None:
    """A block that comes before a follow has reached the followed side ends the follow on both sides."""
    made = await stored.follow(db, {number(alice.id): [number(bob.id)]})
    await bob.do("block", userIds=[alice.id])
    await import_jobs.finish_all(db, made)
    assert not await followed(db, alice)
    await assert_whole(db)


async def test_an_end_in_between(db: Database, alice: Member, bob: Member) -> None:
    """A follow that its member ends before it has reached the followed side stays ended."""
    made = await stored.follow(db, {number(alice.id): [number(bob.id)]})
    await alice.unfollow(bob)
    await import_jobs.finish_all(db, made)
    assert not await db.one("ZCARD", keys.followers(number(bob.id)))
    await assert_whole(db)


async def test_a_request(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A request to follow stays one, and others follow the private member who is asked."""
    await bob.do("updateProfile", isPrivate=True)
    await alice.follow(bob)
    await load(db, network_of({"alice": ["bob"], "carol": ["bob"]}))
    assert not await followed(db, alice)
    assert await followed(db, carol) == {number(bob.id)}


async def test_as_many_as_may_be_followed(services: Services, db: Database, alice: Member) -> None:
    """An import follows no more than `MAX_FOLLOWING`, the first ones."""
    others = [f"other{i}" for i in range(services.settings.max_following)]
    await load(db, network_of({"alice": [*others, "late"]}))
    assert len(await followed(db, alice)) == len(others)


async def test_posts_of_a_private_member(db: Database, alice: Member, bob: Member) -> None:
    """Imported posts of a private member are at home with followers, and in no public list."""
    await bob.do("updateProfile", isPrivate=True)
    await load(db, network_of({"alice": ["bob"]}, total=4))
    assert len(await alice.home()) == 4
    assert await db.ask(("EXISTS", keys.public()), ("EXISTS", keys.hashtag("tea"))) == [0, 0]


async def test_homes_in_use(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Homes that hold posts and reposts already get the imported posts beside them."""
    await alice.follow(carol)
    await alice.repost(await carol.post("by carol"))
    await bob.follow(alice)
    await load(db, network_of({"alice": ["bob"], "bob": ["carol"], "dave": ["alice", "bob", "carol"]}, total=6))
    assert len(await alice.home()) > 1


async def test_what_members_do_meanwhile(db: Database, alice: Member) -> None:
    """A post that is delivered to a new member while the import goes on is in the home that the import builds."""
    network = network_of({"dave": ["alice", "erin"]}, total=4)
    members = await imports.create_members(db, network, NO_PASSWORD, lambda _: None)
    await imports.create_follows(db, network, members, lambda _: None)
    post = await alice.post("meanwhile")
    await imports.create_posts(db, network, members, lambda _: None)
    await imports.create_homes(db, list(members.values()), lambda _: None)
    assert str(number(post)) in await db.one("LRANGE", keys.home(members["dave"]), 0, -1)
    await assert_whole(db)
