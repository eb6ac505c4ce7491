"""Pinned posts: one status or quote of their own on each member's profile."""

from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import accounts, keys, pins, posts
from store.client.database import Database, MemberGone
from store.keys.fields import UserField
from store.refusals import Refusal, accepted
from store.settings import Settings
from tests.support.people import Member, contents, crowd, make_private, shrunk
from tests.support.probes.accounts import traces
from tests.support.probes.posts import delete, hide, unhide
from tests.support.slow import few
from tests.support.threads import assert_clean
from tests.support.work import Turns, number, work_off

ROUND_TRIPS = 4  # the session, the members, their pinned posts, and what these name
PIN = "post { id author { pinnedPost { id } } }"
PINNED = "query($login: String!) { user(login: $login) { pinnedPost { __typename id } } }"
PROFILES = """query($ids: [ID!]!) { nodes(ids: $ids) { ... on User {
  login pinnedPost { id text author { login } ... on Repost { original { id author { login } } } } } } }"""


async def pin(member: Member, post: str) -> None:
    payload = await member.do("pinPost", PIN, postId=post)
    assert payload == {"post": {"id": post, "author": {"pinnedPost": {"id": post}}}, "userErrors": []}


async def unpin(member: Member, post: str) -> None:
    payload = await member.do("unpinPost", "post { id }", postId=post)
    assert payload == {"post": {"id": post}, "userErrors": []}


async def pinned(viewer: Member, member: Member) -> str | None:
    """Return the id of the post that a viewer finds pinned to a member's profile."""
    found: dict[str, str] | None = (await viewer.ask(PINNED, login=member.login))["pinnedPost"]
    return found["id"] if found else None


async def test_a_pinned_post_is_shown(alice: Member, bob: Member, anonymous: Member) -> None:
    """Everybody finds the pinned post on the profile, and pinning another one replaces it."""
    status = await alice.post("hello")
    quote = await alice.repost(await bob.post("theirs"), "see")
    assert await pinned(alice, alice) is None
    for post, kind in ((status, "Status"), (quote, "Repost")):
        await pin(alice, post)
        for viewer in (alice, bob, anonymous):
            found = await viewer.ask(PINNED, login="alice")
            assert found == {"pinnedPost": {"__typename": kind, "id": post}}
    assert await pinned(alice, bob) is None


async def test_pinning_is_idempotent(db: Database, alice: Member) -> None:
    """Pinning the pinned post again, and unpinning one that is not pinned, change nothing and are no errors."""
    post, other = await alice.post("hello"), await alice.post("other")
    await pin(alice, post)
    before = await contents(db)
    await pin(alice, post)
    await unpin(alice, other)
    assert await contents(db) == before
    assert await pinned(alice, alice) == post
    await unpin(alice, post)
    before = await contents(db)
    await unpin(alice, post)
    assert await contents(db) == before
    assert await pinned(alice, alice) is None


@pytest.mark.parametrize("mutation", ["pinPost", "unpinPost"])
async def test_refusals(db: Database, alice: Member, bob: Member, mutation: str) -> None:
    """Only a status or quote of the viewer's own can be pinned or unpinned; a refusal writes nothing."""
    post, theirs, hidden, gone = await alice.post("mine"), *[await bob.post(text) for text in ("theirs", "h", "gone")]
    plain, own_plain = await alice.repost(theirs), await alice.repost(post)
    await hide(bob, hidden)
    await delete(bob, gone)
    before = await contents(db)
    for post_id in (theirs, plain, own_plain):
        assert await alice.refused(mutation, postId=post_id) == ("NOT_ALLOWED", ["postId"])
    for post_id in (hidden, gone, bob.id, f"repost_{number(post):014x}", f"status_{1:014x}"):
        assert await alice.refused(mutation, postId=post_id) == ("NOT_FOUND", ["postId"])
    assert await alice.refused(mutation, postId="nonsense") == ("INVALID", ["postId"])
    assert await contents(db) == before
    query = f"mutation($input: PostIdInput!) {{ {mutation}(input: $input) {{ post {{ id }} }} }}"
    assert await Member(bob.client).fail(query, input={"postId": post}) == "UNAUTHENTICATED"


async def test_a_hidden_post(db: Database, alice: Member, bob: Member) -> None:
    """A hidden post cannot be pinned; a pinned one that is hidden shows to its author alone until it is shown again."""
    post, other = await alice.post("hello"), await alice.post("other")
    await hide(alice, other)
    assert await alice.refused("pinPost", postId=other) == ("NOT_ALLOWED", ["postId"])
    await pin(alice, post)
    await hide(alice, post)
    await pin(alice, post)
    assert await pinned(alice, alice) == post
    assert await pinned(bob, alice) is None
    await unhide(alice, post)
    assert await pinned(bob, alice) == post
    await hide(alice, post)
    await unpin(alice, post)
    await unhide(alice, post)
    assert await pinned(bob, alice) is None
    await assert_clean(db)


async def test_who_may_not_see_the_posts(alice: Member, bob: Member, carol: Member) -> None:
    """Of a private member, strangers find nothing pinned; a viewer who blocks finds nothing either."""
    await bob.follow(alice)
    post = await alice.post("hello")
    await pin(alice, post)
    await make_private(alice)
    assert [await pinned(viewer, alice) for viewer in (alice, bob, carol)] == [post, post, None]
    await bob.do("block", userIds=[alice.id])
    assert await pinned(bob, alice) is None


async def test_a_deleted_post(db: Database, alice: Member, bob: Member) -> None:
    """A deleted post is pinned no longer, and deleting another one leaves the pin."""
    post, other = await alice.post("hello"), await alice.post("other")
    await pin(alice, post)
    await delete(alice, other)
    assert await pinned(bob, alice) == post
    await delete(alice, post)
    assert await pinned(bob, alice) is None
    assert await db.one("HGET", keys.user(number(alice.id)), UserField.PINNED) is None
    await assert_clean(db)


async def test_a_quote_outlives_its_original(db: Database, alice: Member, bob: Member) -> None:
    """A pinned quote stays pinned when its original is deleted."""
    original = await bob.post("theirs")
    quote = await alice.repost(original, "see")
    await pin(alice, quote)
    await delete(bob, original)
    assert await pinned(bob, alice) == quote
    await assert_clean(db)


@pytest.mark.parametrize("deleted_first", [True, False])
async def test_a_pin_and_a_delete(db: Database, alice: Member, *, deleted_first: bool) -> None:
    """Whichever of a pin and the delete of its post commits first, no pin is left."""
    me, post = number(alice.id), number(await alice.post("hello"))
    if not deleted_first:
        assert await pins.pin(db, post, me) is True
    job = await posts.delete(db, post, me)
    assert job
    if deleted_first:
        assert await pins.pin(db, post, me) is Refusal.GONE
    assert await db.one("HGET", keys.user(me), UserField.PINNED) is None
    await dispatch.finish(db, job)
    await assert_clean(db)


@pytest.mark.parametrize("seed", few(range(6), 0, 1, 2))
async def test_races(db: Database, settings: Settings, alice: Member, worker: Worker, seed: int) -> None:
    """However pins, unpins and a delete at once interleave, no pin names a post that is gone."""
    me, post, other = number(alice.id), number(await alice.post("hello")), number(await alice.post("other"))
    turns = Turns(settings, seed)
    changes = [pins.pin(turns, post, me), pins.unpin(turns, post, me), pins.pin(turns, other, me)]
    await turns.together(*changes, posts.delete(turns, post, me))
    assert await db.one("HGET", keys.user(me), UserField.PINNED) in {None, str(other)}
    await work_off(db, worker)
    await assert_clean(db)


async def test_a_deleted_account(db: Database, worker: Worker, alice: Member) -> None:
    """A pin goes with the account, and one that comes after the account was deleted leaves nothing."""
    post, me = number(await alice.post("hello")), number(alice.id)
    await pin(alice, f"status_{post:014x}")
    found = await accounts.credentials(db, me)
    assert found
    job = accepted(await accounts.delete(db, me, found.password))
    with pytest.raises(MemberGone):
        await pins.pin(db, post, me)
    assert not await pins.unpin(db, post, me)
    await dispatch.finish(db, job)
    await work_off(db, worker)
    assert await traces(db, alice) == set()


class TestRoundTrips:
    """Reading when nothing is cached, so that every look-up counts."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """No record is kept from one request to the next."""
        return shrunk(settings, records_kept=0)

    async def test_many_members(self, services: Services, anonymous: Member, alice: Member) -> None:
        """The pinned posts of many members cost no more round trips than those of two."""
        original = await alice.post("the original")
        many = await crowd(anonymous, 6)
        for i, member in enumerate(many):
            await pin(member, await member.repost(original, "see") if i % 2 else await member.post("hello"))
        costs: list[int] = []
        for count in (2, 2, 4, 6):
            services.db.round_trips = 0
            found: list[Any] = await alice.ask(PROFILES, ids=[member.id for member in many[:count]])
            costs.append(services.db.round_trips)
            assert all(user["pinnedPost"]["author"]["login"] == user["login"] for user in found)
        assert max(costs[1:]) <= ROUND_TRIPS, costs  # the first request reads what is kept of the viewer
