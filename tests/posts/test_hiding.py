"""Hidden posts: only their author sees them, and showing them again restores everything."""

from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.probes.posts import hide, unhide
from tests.support.transport.live import ACTIVITY, subscribed, watched, watching
from tests.support.work import number, work_off

NODE = "query($id: ID!) { node(id: $id) { ... on Node { id } } }"
NODES = "nodes { ... on Node { id } }"
PROFILE = f"query($login: String!) {{ user(login: $login) {{ postCount timeline(first: 100) {{ {NODES} }} }} }}"
PUBLIC = f"{{ publicTimeline(first: 100) {{ {NODES} }} }}"
IMPORTANT = f"{{ publicTimeline(first: 100, order: IMPORTANT) {{ {NODES} }} }}"
TAG = f'{{ hashtag(name: "tea") {{ postCount timeline(first: 100) {{ {NODES} }} }} }}'
QUOTES = f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ quoteCount quotes {{ {NODES} }} }} }} }}"
ORIGINAL = "query($id: ID!) { node(id: $id) { ... on Repost { original { id } } } }"
BELOW = "query($id: ID!) { node(id: $id) { ... on Comment { id } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Batches so small that a delivery is left to the worker half-way."""
    return shrunk(settings, fanout_batch=1, fanout_inline=2, job_attempts=1000)


def ids(page: Any) -> list[str]:
    return [node["id"] for node in page["nodes"]]


async def assert_clean(db: Database) -> None:
    report = await verify.verify(db, homes=None, seed=0, progress=lambda _: None)
    assert report.clean, report.findings


async def seen(viewer: Member, author: Member, post: str) -> dict[str, bool]:
    """Return the places where a viewer finds a post."""
    tag = await viewer.ask(TAG)
    return {
        "node": await viewer.ask(NODE, id=post) is not None,
        "profile": post in ids((await viewer.ask(PROFILE, login=author.login))["timeline"]),
        "home": viewer.token is not None and post in await viewer.home(),
        "public": post in ids(await viewer.ask(PUBLIC)),
        "important": post in ids(await viewer.ask(IMPORTANT)),
        "tag": tag is not None and post in ids(tag["timeline"]),
    }


async def places(viewer: Member, author: Member, post: str) -> set[str]:
    return {place for place, is_there in (await seen(viewer, author, post)).items() if is_there}


async def test_nobody_else_sees_it(
    services: Services, alice: Member, bob: Member, carol: Member, anonymous: Member
) -> None:
    """A hidden post is in no list for others, its author has it in profile and home; shown again, it is everywhere."""
    await alice.follow(bob)
    await carol.follow(alice)
    post = await bob.post("hello #tea")
    repost = await alice.repost(post)
    everywhere = {"node", "profile", "home", "public", "important", "tag"}
    for _ in range(2):
        assert await places(bob, bob, post) == everywhere
        assert await places(alice, bob, post) == everywhere
        assert await places(carol, bob, post) == everywhere
        assert await places(anonymous, bob, post) == everywhere - {"home"}
        assert repost in ids((await carol.ask(PROFILE, login="alice"))["timeline"])
        await hide(bob, post)
        assert await places(bob, bob, post) == {"node", "profile", "home"}
        for other in (alice, carol, anonymous):
            assert await places(other, bob, post) == set()
            assert repost not in ids((await other.ask(PROFILE, login="alice"))["timeline"])
            assert await other.ask(NODE, id=repost) is None
        await assert_clean(services.db)
        await unhide(bob, post)
        await assert_clean(services.db)


async def test_counts(services: Services, alice: Member, bob: Member) -> None:
    """A hidden post counts neither for its author, nor for its tags, nor as a quote; shown again, it counts once."""
    original = await alice.post("the original")
    await bob.post("another #tea")
    quote = await bob.repost(original, "see #tea")

    async def counts() -> tuple[int, int, int, list[str]]:
        profile, tag = await alice.ask(PROFILE, login="bob"), await alice.ask(TAG)
        quotes = await alice.ask(QUOTES, id=original)
        return profile["postCount"], tag["postCount"], quotes["quoteCount"], ids(quotes["quotes"])

    assert await counts() == (2, 2, 1, [quote])
    for _ in range(2):
        await hide(bob, quote)
        assert await counts() == (1, 1, 0, [])
    for _ in range(2):
        await unhide(bob, quote)
        assert await counts() == (2, 2, 1, [quote])
    await assert_clean(services.db)


async def test_what_hangs_on_it(alice: Member, bob: Member) -> None:
    """A quote of a hidden post has no original for others; likes and comments below it return with it."""
    post = await bob.post("hello")
    quote = await alice.repost(post, "see")
    await alice.do("like", postId=post)
    comment = (await alice.do("comment", "comment { id }", postId=post, text="yes"))["comment"]["id"]
    await hide(bob, post)
    assert await alice.ask(ORIGINAL, id=quote) == {"original": None}
    assert await bob.ask(ORIGINAL, id=quote) == {"original": {"id": post}}
    assert await alice.ask(BELOW, id=comment) is None
    assert await bob.ask(BELOW, id=comment) == {"id": comment}
    await unhide(bob, post)
    assert await alice.ask(ORIGINAL, id=quote) == {"original": {"id": post}}
    assert await alice.ask(BELOW, id=comment) == {"id": comment}
    likes = await alice.ask("query($id: ID!) { node(id: $id) { ... on Post { likeCount commentCount } } }", id=post)
    assert likes == {"likeCount": 1, "commentCount": 1}


@pytest.mark.parametrize("mutation", ["hidePost", "unhidePost"])
async def test_refusals(alice: Member, bob: Member, mutation: str) -> None:
    """Only the author of a status or quote hides it or shows it again; refusals change nothing."""
    post = await bob.post("hello")
    plain = await alice.repost(post)
    other = f"repost_{number(post):014x}"
    assert await alice.refused(mutation, postId=post) == ("NOT_ALLOWED", ["postId"])
    assert await alice.refused(mutation, postId=plain) == ("NOT_ALLOWED", ["postId"])
    assert await bob.refused(mutation, postId=other) == ("NOT_FOUND", ["postId"])
    assert await bob.refused(mutation, postId=f"status_{1:014x}") == ("NOT_FOUND", ["postId"])
    assert (await bob.refused(mutation, postId="nonsense"))[1] == ["postId"]
    assert (await bob.refused(mutation, postId=bob.id))[1] == ["postId"]
    assert await alice.ask(NODE, id=post) == {"id": post}
    query = f"mutation($input: PostIdInput!) {{ {mutation}(input: $input) {{ post {{ id }} }} }}"
    assert await Member(bob.client).fail(query, input={"postId": post}) == "UNAUTHENTICATED"


async def test_a_hidden_post_cannot_be_acted_on(services: Services, alice: Member, bob: Member) -> None:
    """To others a hidden post does not exist, in any query or mutation; its author cannot repost it."""
    post = await bob.post("hello")
    await hide(bob, post)
    for mutation in ("like", "unlike", "repost", "unrepost", "hidePost", "unhidePost", "deletePost"):
        assert await alice.refused(mutation, postId=post) == ("NOT_FOUND", ["postId"])
    assert await alice.refused("repost", postId=post, text="see") == ("NOT_FOUND", ["postId"])
    assert await alice.refused("comment", postId=post, text="yes") == ("NOT_FOUND", ["postId"])
    assert await bob.refused("repost", postId=post) == ("NOT_ALLOWED", ["postId"])
    assert await bob.refused("repost", postId=post, text="see") == ("NOT_ALLOWED", ["postId"])
    await unhide(bob, post)
    facts = "query($id: ID!) { node(id: $id) { ... on Post { likeCount repostCount quoteCount commentCount } } }"
    assert set((await alice.ask(facts, id=post)).values()) == {0}
    await assert_clean(services.db)


async def test_deleted_while_hidden(services: Services, alice: Member, bob: Member) -> None:
    """A hidden post that is deleted is gone for its author too, with its reposts, and cannot be shown again."""
    await alice.follow(bob)
    post = await bob.post("hello #tea")
    await alice.repost(post)
    await hide(bob, post)
    await bob.do("deletePost", postId=post)
    assert await places(bob, bob, post) == set()
    assert await bob.refused("unhidePost", postId=post) == ("NOT_FOUND", ["postId"])
    assert (await bob.ask(PROFILE, login="bob"))["postCount"] == 0
    assert (await bob.ask(PROFILE, login="alice"))["postCount"] == 0
    await assert_clean(services.db)


async def test_hidden_during_its_delivery(services: Services, anonymous: Member, bob: Member, worker: Worker) -> None:
    """A post hidden during its delivery is delivered on, unseen, and is in every home once shown again."""
    many = await crowd(anonymous, 5)
    for one in many:
        await one.follow(bob)
    post = await bob.post("hello #tea")
    await hide(bob, post)
    assert [await one.home() for one in many] == [[]] * 5
    await work_off(services.db, worker)
    assert [await one.home() for one in many] == [[]] * 5
    await unhide(bob, post)
    assert [await one.home() for one in many] == [[post]] * 5
    await assert_clean(services.db)


async def test_a_follow_of_somebody_who_hides(services: Services, alice: Member, bob: Member) -> None:
    """A follow adds hidden posts unseen: each is at its own place once it is shown."""
    older, hidden, newer = [await bob.post(text) for text in ("older", "hidden", "newer")]
    await hide(bob, hidden)
    await alice.follow(bob)
    assert await alice.home() == [newer, older]
    assert await alice.home("first: 2") == [newer, older]
    await unhide(bob, hidden)
    assert await alice.home() == [newer, hidden, older]
    await assert_clean(services.db)


async def test_live_followers(db: Database, alice: Member, bob: Member, carol: Member, anonymous: Member) -> None:
    """Live homes of the author's followers and of those who got a repost lose a hidden post and get it back."""
    erin, dave = await crowd(anonymous, 2)
    await alice.follow(bob)
    await carol.follow(erin)
    original = await carol.post("the original")
    post = await bob.repost(original, "quote")
    await erin.repost(post)
    async with watching(alice, db) as direct, watching(carol, db) as passed, watching(dave, db) as none:
        await hide(bob, post)
        assert await direct.brief() == ("removed", post)
        assert await passed.brief() == ("removed", post)
        await unhide(bob, post)
        assert await direct.brief() == ("put", post)
        assert await passed.brief() == ("put", post, erin.login)
        await hide(bob, post)
        assert await direct.brief() == ("removed", post)
        await bob.do("deletePost", postId=post)
        assert await direct.brief() == ("removed", post)
        last = await dave.post("last")
        assert await none.brief() == ("put", last)


async def test_activity(db: Database, alice: Member, bob: Member) -> None:
    """Watching a post's numbers ends with NOT_FOUND for others when it is hidden, and goes on for its author."""
    post = await bob.post("hello")
    await alice.do("like", postId=post)
    async with subscribed(alice, ACTIVITY, post=post) as other, subscribed(bob, ACTIVITY, post=post) as own:
        await watched(db, post)
        await alice.do("unlike", postId=post)
        assert (await other.next())["likeCount"] == 0
        assert (await own.next())["likeCount"] == 0
        await hide(bob, post)
        assert await other.code() == "NOT_FOUND"
        await bob.do("like", postId=post)
        assert (await own.next())["likeCount"] == 1
    async with subscribed(alice, ACTIVITY, post=post) as other:
        assert await other.code() == "BAD_USER_INPUT"
