"""Accounts deleted while something goes on: late writes, live homes, and left-overs in a damaged store."""

import asyncio
from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.upkeep import verify
from resolvers.upkeep.verify import VerifyReport
from store import accounts, follows, keys, likes_and_comments, posts
from store.client.database import Database, MemberGone
from store.keys.fields import UserField
from store.likes_and_comments import CommentDraft
from store.posts import PostDraft
from store.refusals import accepted
from tests.support.people import PASSWORD, Member, contents, mutation_text, sign_up
from tests.support.probes.accounts import traces
from tests.support.probes.posts import counts
from tests.support.scene import assert_agreed
from tests.support.stored import exist
from tests.support.transport.live import fetched, keep_up, watching
from tests.support.work import number, work_off

ROUNDS = 4  # of repair: one may reveal another finding
LIKE = "mutation($id: ID!) { like(input: { postId: $id }) { post { id } } }"
COMMENT = 'mutation($id: ID!) { comment(input: { postId: $id, text: "late" }) { comment { id } } }'
REPOST = "mutation($id: ID!) { repost(input: { postId: $id }) { repost { id } } }"
FOLLOW = "mutation($id: ID!) { follow(input: { userIds: [$id] }) { users { id } } }"
UNFOLLOW = "mutation($id: ID!) { unfollow(input: { userIds: [$id] }) { users { id } } }"


async def delete(db: Database, member: int) -> None:
    """Delete an account, with only the steps that the request runs."""
    found = await accounts.credentials(db, member)
    assert found
    job = accepted(await accounts.delete(db, member, found.password))
    await dispatch.finish(db, job)


@pytest.fixture
async def late(services: Services, alice: Member) -> Member:
    """A member whose account was deleted while their earlier requests were still running."""
    await delete(services.db, number(alice.id))
    return alice


async def test_what_comes_too_late(db: Database, worker: Worker, bob: Member, carol: Member, late: Member) -> None:
    """A like, a comment or a follow that lands after the deletion leaves nothing."""
    theirs, me = number(await bob.post("theirs")), number(late.id)
    await carol.do("like", postId=f"status_{theirs:014x}")
    assert accepted(await likes_and_comments.like(db, theirs, me)).is_changed
    is_new, _, _ = accepted(await likes_and_comments.create_comment(db, CommentDraft(theirs, me, "late")))
    assert is_new
    job, _ = await follows.follow(db, number(bob.id), [me])
    assert job
    await dispatch.finish(db, job)
    await work_off(db, worker)
    assert await traces(db, late) == set()
    assert await counts(carol, f"status_{theirs:014x}") == (1, 0, 0, 0)
    assert (await bob.ask("{ viewer { user { followingCount } } }"))["user"] == {"followingCount": 0}
    await assert_agreed(db, [number(bob.id), number(carol.id)])


async def test_nothing_more_can_be_done(db: Database, bob: Member, late: Member) -> None:
    """Steps in the deleted member's own partition are refused, even after a session check that succeeded."""
    me = number(late.id)
    before = await contents(db)
    for act in (
        posts.create(db, PostDraft(me, "late")),
        follows.follow(db, me, [number(bob.id)]),
        accounts.update(db, me, profile={UserField.NAME: "late"}),
    ):
        with pytest.raises(MemberGone):
            await act
    assert await contents(db) == before


OVERTAKEN: dict[str, dict[str, Any]] = {
    "post": {"text": "late"},
    "follow": {},
    "updateProfile": {"name": "Late"},
}


@pytest.mark.parametrize("mutation", OVERTAKEN)
async def test_a_request_that_is_overtaken(
    services: Services, monkeypatch: pytest.MonkeyPatch, alice: Member, bob: Member, mutation: str
) -> None:
    """A request whose session check came before the account's deletion is refused, and changes nothing."""
    authenticate = Context.member

    async def overtaken(self: Context) -> int:
        member = await authenticate(self)
        await delete(services.db, member)
        return member

    monkeypatch.setattr(Context, "member", overtaken)
    fields = OVERTAKEN[mutation] | ({"userIds": [bob.id]} if mutation == "follow" else {})
    query = mutation_text(mutation, "userErrors { code }")
    assert await alice.fail(query, input=fields) == "UNAUTHENTICATED"
    assert not await exist(services.db, keys.profile(number(alice.id)), keys.user(number(alice.id)))


async def test_busy_to_the_end(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """Acts by a member and by others during the deletion are done or refused, and leave nothing of the member."""
    await bob.follow(alice)
    mine, theirs = await alice.post("mine"), await bob.post("theirs")
    acts = [
        *(alice.send(f'mutation {{ post(input: {{ text: "{i}" }}) {{ status {{ id }} }} }}') for i in range(4)),
        *(alice.send(LIKE, id=post) for post in (mine, theirs)),
        *(alice.send(COMMENT, id=post) for post in (mine, theirs)),
        alice.send(REPOST, id=theirs),
        alice.send(FOLLOW, id=carol.id),
        *(carol.send(query, id=mine) for query in (LIKE, COMMENT, REPOST)),
        *(carol.send(FOLLOW, id=member.id) for member in (alice, bob)),
        bob.send(UNFOLLOW, id=alice.id),
    ]
    acts.insert(6, alice.do("deleteAccount", "deletedUserId", password=PASSWORD))
    answers = await asyncio.gather(*acts)
    errors = [error["extensions"]["code"] for answer in answers for error in answer.get("errors", ())]
    assert set(errors) <= {"UNAUTHENTICATED"}
    await work_off(db, worker)
    assert await traces(db, alice) == set()
    await assert_agreed(db, [number(bob.id), number(carol.id)])


async def test_a_live_home(db: Database, anonymous: Member, alice: Member, bob: Member, carol: Member) -> None:
    """A subscriber to their home sees everything of a deleted account go: its posts, and posts only it reposted."""
    stranger = await sign_up(anonymous, "stranger")
    await bob.follow(alice, carol)
    await carol.follow(alice)
    lone, shared = await stranger.post("passed on by one"), await stranger.post("passed on by both")
    mine = [await alice.post(f"number {i}") for i in range(3)]
    for member, post in ((alice, lone), (alice, shared), (carol, shared), (carol, mine[0])):
        await member.repost(post)
    held = await fetched(bob)
    async with watching(bob, db) as stream:
        payload = await alice.do("deleteAccount", "deletedUserId", password=PASSWORD)
        assert payload["deletedUserId"] == alice.id
        await keep_up(held, stream, await carol.post("the last word"))
    assert held == await fetched(bob)
    assert [post for _, post, _ in held.lines()][1:] == [shared]


async def test_what_a_lost_record_leaves(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """Posts of a member whose record is lost are found and deleted as by the member; likes and comments go too."""
    await bob.follow(alice)
    await alice.follow(bob)
    theirs = await bob.post("theirs")
    await alice.post("mine #tea")
    await alice.repost(theirs)
    await alice.do("like", postId=theirs)
    await alice.do("comment", postId=theirs, text="a word")
    await db.one("DEL", keys.user(number(alice.id)))
    assert not (await look(db)).clean
    for _ in range(ROUNDS):
        await verify.repair(db, (await look(db)).findings)
        await work_off(db, worker)
    report = await look(db)
    assert report.clean, report.findings
    assert await counts(bob, theirs) == (0, 0, 0, 0)


async def look(db: Database) -> VerifyReport:
    return await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
