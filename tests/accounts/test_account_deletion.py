"""A deleted account: gone at once, and nothing of it left anywhere."""

import asyncio

import pytest

from resolvers.jobs.worker import Worker
from store import accounts, keys
from store.client.database import Database
from store.events import log
from store.keys.fields import CredentialsField
from store.refusals import Refusal
from store.secret import Secret
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents, shrunk
from tests.support.probes.accounts import traces
from tests.support.probes.members import refusals
from tests.support.probes.posts import counts, public, tagged
from tests.support.probes.sessions import NEW_PASSWORD, WRONG_LOG_IN, is_signed_in, log_in, refresh
from tests.support.scene import assert_agreed
from tests.support.transport.live import HOME, subscribed
from tests.support.work import number, work_off

PAYLOAD = "deletedUserId"
WRONG_PASSWORD = [("password", "WRONG_CREDENTIALS")]


async def delete(member: Member) -> None:
    payload = await member.do("deleteAccount", PAYLOAD, password=PASSWORD)
    assert payload == {"deletedUserId": member.id, "userErrors": []}


async def remark(member: Member, post: str, text: str, **fields: str) -> str:
    payload = await member.do("comment", "comment { id }", postId=post, text=text, **fields)
    identity: str = payload["comment"]["id"]
    return identity


async def test_everything_is_gone(
    db: Database, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """Posts, follows, likes, comments, reposts and names go with the account; the counts of others follow."""
    await bob.follow(alice, carol)
    await alice.follow(bob)
    await carol.follow(bob)
    mine, theirs = await alice.post("mine #tea"), await bob.post("theirs")
    await bob.repost(mine)
    quote = await bob.repost(mine, "a quote of it")
    await alice.repost(theirs)
    await alice.repost(theirs, "my quote #tea")
    for member in (alice, carol):
        await member.do("like", postId=theirs)
        await member.do("like", postId=mine)
    asked = await remark(alice, theirs, "a question")
    answer = await remark(bob, theirs, "an answer", replyToId=asked)
    await remark(alice, theirs, "thanks", replyToId=answer)
    await remark(bob, mine, "a word on it")
    assert await counts(carol, theirs) == (2, 1, 1, 3)

    await delete(alice)

    assert await counts(carol, theirs) == (1, 0, 0, 1)
    assert await public(carol) == [quote, theirs]
    assert await tagged(carol, "tea") is None
    assert await bob.home() == [quote, theirs] == await carol.home()
    query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    assert await carol.ask(query, ids=[alice.id, mine, asked]) == [None, None, None]
    query = "query($id: ID!) { node(id: $id) { ... on Comment { text replyTo { id } } } }"
    assert await carol.ask(query, id=answer) == {"text": "an answer", "replyTo": None}
    query = "query($id: ID!) { node(id: $id) { ... on Repost { text original { id } } } }"
    assert await carol.ask(query, id=quote) == {"text": "a quote of it", "original": None}
    query = "{ viewer { user { followerCount followingCount postCount followers { nodes { login } } } } }"
    assert (await bob.ask(query))["user"] == {
        "followerCount": 1,
        "followingCount": 1,
        "postCount": 2,
        "followers": {"nodes": [{"login": "carol"}]},
    }
    await work_off(db, worker)
    assert not await db.one("EXISTS", keys.known_addresses(number(alice.id)))
    assert await traces(db, alice) == {keys.status(number(quote))}  # it says whose post it quoted
    await assert_agreed(db, [number(bob.id), number(carol.id)])


async def test_sessions_end(anonymous: Member, alice: Member) -> None:
    """Every session ends in the same step, sockets included, and neither password nor refresh token opens one."""
    phone = await log_in(anonymous, "alice")
    async with subscribed(phone, HOME) as stream:
        await delete(alice)
        assert await stream.closed() == 4403
    assert not await is_signed_in(alice)
    assert not await is_signed_in(phone)
    assert refusals(await refresh(anonymous, phone.refresh_token)) == [("refreshToken", "WRONG_CREDENTIALS")]
    payload = await anonymous.do("logIn", "accessToken", identifier="alice", password=PASSWORD)
    assert refusals(payload) == WRONG_LOG_IN


async def test_the_rest_of_the_document_is_anonymous(alice: Member) -> None:
    """The rest of the document after the deletion is answered as for an anonymous viewer."""
    query = """mutation($input: DeleteAccountInput!) {
        deleteAccount(input: $input) { deletedUserId }
        follow(input: { userIds: [] }) { viewer { user { id } } } }"""
    assert await alice.fail(query, input={"password": PASSWORD}) == "UNAUTHENTICATED"
    assert not await is_signed_in(alice)


@pytest.mark.parametrize("password", ["", "wrong password", PASSWORD.upper(), PASSWORD * 100])
async def test_a_wrong_password(db: Database, alice: Member, password: str) -> None:
    """A wrong password is refused and changes nothing."""
    await alice.post("kept")
    before = await contents(db)
    assert refusals(await alice.do("deleteAccount", PAYLOAD, password=password)) == WRONG_PASSWORD
    assert await contents(db) == before


async def test_without_a_session(anonymous: Member) -> None:
    """An anonymous request has no account to delete."""
    query = "mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { deletedUserId } }"
    assert await anonymous.fail(query, input={"password": PASSWORD}) == "UNAUTHENTICATED"


async def test_a_password_changed_meanwhile(db: Database, alice: Member) -> None:
    """A deletion that checked a password changed since then deletes nothing."""
    old = await db.one("HGET", keys.credentials(number(alice.id)), CredentialsField.PASSWORD)
    payload = await alice.do("changePassword", "accessToken", currentPassword=PASSWORD, newPassword=NEW_PASSWORD)
    alice.token = payload["accessToken"]
    assert await accounts.delete(db, number(alice.id), Secret(old)) is Refusal.CHANGED
    assert await is_signed_in(alice)


async def test_deleted_twice_at_once(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """Of many simultaneous deletions one succeeds; the others are refused or find their session ended."""
    await alice.follow(bob)
    query = (
        "mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { deletedUserId userErrors { code } } }"
    )
    answers = await asyncio.gather(*(alice.send(query, input={"password": PASSWORD}) for _ in range(6)))
    done = [a for a in answers if a.get("data") and a["data"]["deleteAccount"]["deletedUserId"]]
    assert len(done) == 1
    await work_off(db, worker)
    assert await traces(db, alice) == set()
    await assert_agreed(db, [number(bob.id)])


class TestLimited:
    """Password attempts are limited like log-in attempts."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=600, log_in_attempts=3)

    async def test_many_wrong_passwords(self, alice: Member) -> None:
        """After some wrong passwords, even the right one is no longer checked."""
        for _ in range(3):
            assert refusals(await alice.do("deleteAccount", PAYLOAD, password="wrong password")) == WRONG_PASSWORD
        query = "mutation($input: DeleteAccountInput!) { deleteAccount(input: $input) { deletedUserId } }"
        assert await alice.fail(query, input={"password": PASSWORD}) == "RATE_LIMITED"


class TestManyThings:
    """An account too large to be removed in the request."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, fanout_inline=20)

    async def test_the_worker_goes_on(
        self, db: Database, worker: Worker, alice: Member, bob: Member, carol: Member
    ) -> None:
        """Nothing of the member is seen after the answer, however much is left to the worker, who removes it."""
        await bob.follow(alice)
        theirs = await carol.post("theirs")
        for i in range(4):
            await alice.post(f"number {i} #tea")
        await alice.repost(theirs)
        asked = await remark(alice, theirs, "a question")
        await alice.do("like", postId=theirs)
        assert len(await bob.home()) == 5
        await delete(alice)
        assert await db.one("ZCARD", keys.profile(number(alice.id)))
        assert await bob.home() == []
        assert (await tagged(bob, "tea") or (0, []))[1] == []
        assert await public(bob) == [theirs]
        assert await bob.ask('{ user(login: "alice") { id } }') is None
        assert await bob.ask("query($id: ID!) { node(id: $id) { id } }", id=asked) is None
        query = "{ viewer { user { following { nodes { login } } } } }"
        assert (await bob.ask(query))["user"] == {"following": {"nodes": []}}
        await work_off(db, worker)
        assert await traces(db, alice) == set()
        assert await counts(bob, theirs) == (0, 0, 0, 0)
        kinds = [event.kind for event in await log.between(db, "0-0") if event.cursor and event.kind != "post"]
        assert sorted(kinds) == ["delete"] * 4 + ["follow", "repost", "unfollow", "unrepost"]
        await assert_agreed(db, [number(bob.id), number(carol.id)])
