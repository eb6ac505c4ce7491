"""Favourites: posts that a member saves, unknown to everybody else."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts, favourites, keys
from store.client.database import Command, Database, MemberGone
from store.refusals import Refusal, accepted
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents, crowd, shrunk
from tests.support.probes.accounts import traces
from tests.support.probes.posts import delete, hide, unhide
from tests.support.slow import few
from tests.support.stored import exist
from tests.support.threads import assert_clean
from tests.support.work import Fragile, Turns, number, work_off

MOST = 4
LIST = """query($first: Int, $after: String) { viewer { favourites(first: $first, after: $after) {
  edges { cursor node { id } } nodes { id viewerHasFavourited } pageInfo { hasNextPage endCursor } } } }"""
FLAG = "query($id: ID!) { node(id: $id) { ... on Post { viewerHasFavourited } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Few favourites for each member."""
    return shrunk(settings, max_favourites=MOST)


async def keep(member: Member, post: str) -> None:
    payload = await member.do("favourite", "post { viewerHasFavourited }", postId=post)
    assert payload == {"post": {"viewerHasFavourited": True}, "userErrors": []}


async def drop(member: Member, post: str) -> None:
    payload = await member.do("unfavourite", "post { viewerHasFavourited }", postId=post)
    assert payload == {"post": {"viewerHasFavourited": False}, "userErrors": []}


async def kept(member: Member, **span: Any) -> list[str]:
    """Return the ids of a member's favourites, each of which must have its flag set."""
    found = (await member.ask(LIST, **span))["favourites"]
    assert [edge["node"]["id"] for edge in found["edges"]] == [node["id"] for node in found["nodes"]]
    assert all(node["viewerHasFavourited"] for node in found["nodes"])
    return [node["id"] for node in found["nodes"]]


async def is_kept(member: Member, post: str) -> bool:
    found: bool = (await member.ask(FLAG, id=post))["viewerHasFavourited"]
    return found


async def test_favourites(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """The newest favourite comes first, repeating it changes nothing, and nobody else sees any of it."""
    old, new = [await bob.post(text) for text in ("old", "new")]
    await keep(alice, new)
    await keep(alice, old)
    before = await contents(db)
    await keep(alice, new)
    assert {**await contents(db), **{k: v for k, v in before.items() if k.startswith("minted")}} == before
    assert await kept(alice) == [old, new]
    for other in (bob, carol):
        assert await kept(other) == []
        assert not await is_kept(other, old)
    assert not await is_kept(anonymous, old)
    for _ in range(2):
        await drop(alice, old)
        assert await kept(alice) == [new]
        assert not await is_kept(alice, old)
    assert not await db.one("EXISTS", keys.favouriters(number(old)))
    await assert_clean(db)


async def test_pages(alice: Member, bob: Member) -> None:
    """All pages of favourites together are the whole list; wrong cursors are refused."""
    made = [await bob.post(f"post {i}") for i in range(3)]
    for post in made:
        await keep(alice, post)
    first = (await alice.ask(LIST, first=2))["favourites"]
    assert [node["id"] for node in first["nodes"]] == made[:0:-1]
    assert first["pageInfo"]["hasNextPage"]
    assert await kept(alice, after=first["pageInfo"]["endCursor"]) == made[:1]
    for span in ({"first": 0}, {"after": "x"}, {"after": "likes.00000000000001"}):
        assert await alice.fail(LIST, **span) == "BAD_USER_INPUT"


async def test_a_plain_repost_acts_for_its_original(alice: Member, bob: Member) -> None:
    """A favourite of a plain repost is one of its original; a quote is a favourite of its own."""
    post = await alice.post("the original")
    plain, quote = await bob.repost(post), await bob.repost(post, "see")
    await keep(alice, plain)
    await keep(alice, quote)
    assert await kept(alice) == [quote, post]
    assert await is_kept(alice, plain)
    await drop(alice, plain)
    assert await kept(alice) == [quote]


@pytest.mark.parametrize("mutation", ["favourite", "unfavourite"])
async def test_refusals(db: Database, alice: Member, bob: Member, mutation: str) -> None:
    """A missing or unseen post, and an id of another type, are refused, and nothing is written."""
    post, gone, hidden = [await bob.post(text) for text in ("here", "gone", "hidden")]
    await keep(alice, post)
    plain = await alice.repost(hidden)
    await delete(bob, gone)
    await hide(bob, hidden)
    before = await contents(db)
    for post_id in (gone, hidden, plain, f"repost_{number(post):014x}", bob.id, f"status_{1:014x}"):
        assert await alice.refused(mutation, postId=post_id) == ("NOT_FOUND", ["postId"])
    assert await alice.refused(mutation, postId="nonsense") == ("INVALID", ["postId"])
    assert await contents(db) == before
    query = f"mutation($input: PostIdInput!) {{ {mutation}(input: $input) {{ post {{ id }} }} }}"
    assert await Member(bob.client).fail(query, input={"postId": post}) == "UNAUTHENTICATED"


async def test_the_limit(db: Database, alice: Member, bob: Member) -> None:
    """One favourite too many is refused and leaves nothing; an existing one is not, and removing one makes room."""
    made = [await bob.post(f"post {i}") for i in range(MOST + 1)]
    for post in made[:MOST]:
        await keep(alice, post)
    assert await alice.refused("favourite", postId=made[MOST]) == ("LIMIT_REACHED", ["postId"])
    assert not await db.one("EXISTS", keys.favouriters(number(made[MOST])))
    await keep(alice, made[0])
    await drop(alice, made[1])
    await keep(alice, made[MOST])
    assert await kept(alice) == [made[4], made[3], made[2], made[0]]
    await assert_clean(db)


async def test_a_hidden_post(db: Database, alice: Member, bob: Member) -> None:
    """A hidden favourite is left out, and returns at its place once shown; unseen, its own id can remove it."""
    first, second = [await bob.post(text) for text in ("first", "second")]
    plain = await bob.repost(first)
    for post in (first, second):
        await keep(alice, post)
    await keep(bob, first)
    await hide(bob, first)
    assert await kept(alice) == [second]
    assert await kept(bob) == [first]
    await unhide(bob, first)
    assert await kept(alice) == [second, first]
    await hide(bob, first)
    assert await alice.refused("unfavourite", postId=plain) == ("NOT_FOUND", ["postId"])
    assert await alice.do("unfavourite", "post { id }", postId=first) == {"post": None, "userErrors": []}
    assert await alice.refused("unfavourite", postId=first) == ("NOT_FOUND", ["postId"])
    await unhide(bob, first)
    assert await kept(alice) == [second]
    await assert_clean(db)


async def test_a_deleted_post(
    db: Database, worker: Worker, anonymous: Member, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deleted post leaves everybody's favourites, batch by batch, and makes room there."""
    monkeypatch.setattr("resolvers.jobs.posts.CLEAR_CHUNK", 2)
    many = await crowd(anonymous, 5)
    post, other = await alice.post("hello"), await alice.post("other")
    for one in many:
        await keep(one, post)
        await keep(one, other)
    await delete(alice, post)
    for one in many:
        assert await kept(one) == [other]
        assert await db.one("ZCARD", keys.favourites(number(one.id))) == 1
    assert not await db.one("EXISTS", keys.favouriters(number(post)))
    await work_off(db, worker)
    await assert_clean(db)


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """With an account its favourites are deleted, and its posts leave those of others."""
    theirs, mine = await bob.post("theirs"), await alice.post("mine")
    for member in (alice, carol):
        await keep(member, theirs)
        await keep(member, mine)
    await alice.do("deleteAccount", "deletedUserId", password=PASSWORD)
    assert await kept(carol) == [theirs]
    await work_off(db, worker)
    assert await traces(db, alice) == set()
    assert await db.one("ZRANGE", keys.favouriters(number(theirs)), 0, -1) == [str(number(carol.id))]
    await assert_clean(db)


async def test_a_favourite_of_who_is_gone(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """A favourite that arrives after its member's account was deleted leaves nothing."""
    post, me = number(await bob.post("hello")), number(alice.id)
    found = await accounts.credentials(db, me)
    assert found
    job = accepted(await accounts.delete(db, me, found.password))
    await dispatch.finish(db, job)
    with pytest.raises(MemberGone):
        await favourites.add(db, me, post)
    await work_off(db, worker)
    assert await traces(db, alice) == set()


@pytest.mark.parametrize("seed", few(range(12), 0, 1, 2))
async def test_races(db: Database, settings: Settings, alice: Member, bob: Member, seed: int) -> None:
    """However adding and removing favourites interleave, the post's index has every remaining favourite."""
    post, me = number(await bob.post("hello")), number(alice.id)
    turns = Turns(settings, seed)
    changes = [favourites.add, favourites.remove, favourites.add, favourites.remove]
    await turns.together(*(change(turns, me, post) for change in changes))
    favourite = await db.one("ZSCORE", keys.favourites(me), post)
    noted = await db.one("ZSCORE", keys.favouriters(post), me)
    assert favourite is None or noted is not None
    await assert_clean(db)


class Interrupted(Database):
    """Runs another act before one of its calls."""

    def __init__(self, settings: Settings, calls: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
        super().__init__(settings.redis_url, settings)
        self._calls = calls
        self._meanwhile = meanwhile

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        self._calls -= 1
        if self._calls == -1:
            await self._meanwhile()
        return await super().run(commands)


@pytest.mark.parametrize(("calls", "outcome"), [(0, Refusal.GONE), (1, Refusal.GONE), (2, Refusal.GONE), (3, True)])
async def test_a_delete_meanwhile(
    db: Database, settings: Settings, alice: Member, bob: Member, calls: int, outcome: Refusal | bool
) -> None:
    """At whichever call its post is deleted, no favourite of a deleted post remains."""
    identity, me = await bob.post("hello"), number(alice.id)
    slow = Interrupted(settings, calls, lambda: delete(bob, identity))
    assert await favourites.add(slow, me, number(identity)) is outcome
    await slow.close()
    if calls == 3:
        await delete(bob, identity)
    assert not await exist(db, keys.favourites(me), keys.favouriters(number(identity)))
    await assert_clean(db)


@pytest.mark.parametrize("calls", range(3))
async def test_a_crash(db: Database, settings: Settings, alice: Member, bob: Member, calls: int) -> None:
    """At whichever call a change dies, the post's index has every favourite, and a retry completes the change."""
    post = await bob.post("hello")
    for change in (favourites.add, favourites.remove):
        fragile = Fragile(settings, calls)
        with pytest.raises(Exception, match=r"^$"):
            await change(fragile, number(alice.id), number(post))
        await fragile.close()
        await assert_clean(db)
        await change(db, number(alice.id), number(post))
        assert (await kept(alice) == [post]) is (change is favourites.add)


async def test_many_at_once(db: Database, alice: Member, bob: Member) -> None:
    """Any number of simultaneous requests make one favourite."""
    post = await bob.post("hello")
    await asyncio.gather(*(keep(alice, post) for _ in range(10)))
    assert await kept(alice) == [post]
    assert await db.one("ZCARD", keys.favourites(number(alice.id))) == 1


async def test_round_trips(services: Services, alice: Member, bob: Member) -> None:
    """A page of favourites costs the same at any length: entries, posts, and the records they name."""
    costs = []
    for i in range(MOST):
        await keep(alice, await bob.post(f"post {i}"))
        services.db.round_trips = 0
        assert len(await kept(alice)) == i + 1
        costs.append(services.db.round_trips)
    assert max(costs) <= 3
