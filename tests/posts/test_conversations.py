"""Conversations: all direct and indirect replies to one post, oldest first, from any post of it."""

from typing import Any

import pytest

from resolvers.jobs import dispatch
from resolvers.process.services import Services
from store import keys, posts
from store.client.database import Database
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, shrunk
from tests.support.probes.posts import delete, hide, unhide
from tests.support.stored import find
from tests.support.threads import assert_clean, page, read, walk
from tests.support.work import number

LONG = 1_000  # posts of a long conversation
QUERY = """query($id: ID!, $first: Int, $after: String) { node(id: $id) { ... on Status {
  conversation(first: $first, after: $after) {
    edges { cursor node {
      id text replyCount viewerHasLiked viewerHasReposted author { login name viewerIsFollowing }
      ... on Status { inReplyTo { id text viewerHasLiked author { login } } } } }
    pageInfo { hasNextPage endCursor } } } } }"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a whole long conversation on one page."""
    return shrunk(settings, max_page=LONG, max_cost=10**9, max_anonymous_cost=10**9)


@pytest.fixture
async def tree(alice: Member, bob: Member, carol: Member) -> list[str]:
    """A root, two replies, a reply to the first of them, and one to that."""
    root = await alice.post("root")
    first, second = [await member.post("answer", inReplyToId=root) for member in (bob, carol)]
    third = await alice.post("to the first", inReplyToId=first)
    return [root, first, second, third, await bob.post("to that", inReplyToId=third)]


async def test_from_anywhere(db: Database, tree: list[str], anonymous: Member, bob: Member) -> None:
    """Every post of a conversation lists all of it, from its root, oldest first; other posts are not in it."""
    other = await bob.post("of something else")
    for viewer in (anonymous, bob):
        assert [await read(viewer, post_id, "conversation") for post_id in tree] == [tree] * len(tree)
        assert await read(viewer, other, "conversation") == [other]
    await assert_clean(db)


async def test_pages(tree: list[str], anonymous: Member) -> None:
    """Pages of a conversation joined are the whole, from any of its posts and with cursors of any of them."""
    for post_id in tree:
        assert await walk(anonymous, post_id, "conversation", 2) == [tree[:2], tree[2:4], tree[4:]]
    start = await page(anonymous, tree[3], "conversation", 3)
    rest = await page(anonymous, tree[0], "conversation", 3, start["pageInfo"]["endCursor"])
    assert [node["id"] for node in rest["nodes"]] == tree[3:]


async def test_a_status_alone(anonymous: Member, alice: Member) -> None:
    """A status without replies is a conversation by itself; its cursor continues to later replies."""
    post = await alice.post("hello")
    assert await walk(anonymous, post, "conversation", 1) == [[post]]
    alone = await page(anonymous, post, "conversation")
    cursor = alone["pageInfo"]["endCursor"]
    assert alone["pageInfo"] == {
        "hasNextPage": False,
        "hasPreviousPage": False,
        "startCursor": cursor,
        "endCursor": cursor,
    }
    after = await page(anonymous, post, "conversation", after=cursor)
    assert (after["nodes"], after["pageInfo"]["hasPreviousPage"]) == ([], True)
    reply = await alice.post("to myself", inReplyToId=post)
    after = await page(anonymous, post, "conversation", after=cursor)
    assert [node["id"] for node in after["nodes"]] == [reply]


async def test_not_listed_yet(db: Database, alice: Member, bob: Member) -> None:
    """Before a reply is listed, its own conversation has it, at its place."""
    root = await alice.post("root")
    parent = number(root)
    draft = PostDraft(number(bob.id), "one", reply_to=parent, reply_to_author=number(alice.id), root=parent)
    _, early, early_job = accepted(await posts.create(db, draft))
    later = await alice.post("two", inReplyToId=root)
    assert early_job
    post_id = f"status_{early:014x}"
    for first in (1, 2, 3):
        joined = [each for found in await walk(bob, post_id, "conversation", first) for each in found]
        assert joined == sorted([root, post_id, later], key=number)
    await dispatch.finish(db, early_job)
    assert await read(bob, root, "conversation") == sorted([root, post_id, later], key=number)


@pytest.mark.parametrize("gone", range(5))
async def test_a_deleted_post(
    db: Database, tree: list[str], alice: Member, bob: Member, carol: Member, gone: int
) -> None:
    """A deleted post, even the root, is left out, and the replies below it stay."""
    await delete((alice, bob, carol, alice, bob)[gone], tree[gone])
    left = [post_id for post_id in tree if post_id != tree[gone]]
    for post_id in left:
        assert await read(carol, post_id, "conversation") == left
        joined = [each for found in await walk(carol, post_id, "conversation", 1) for each in found]
        assert joined == left
    await assert_clean(db)


@pytest.mark.parametrize("hidden", range(5))
async def test_a_hidden_post(
    db: Database, tree: list[str], alice: Member, bob: Member, carol: Member, hidden: int
) -> None:
    """A hidden post is left out for others, its author still finds it from there, and it returns at its place."""
    author = (alice, bob, carol, alice, bob)[hidden]
    other = carol if author is not carol else alice
    await hide(author, tree[hidden])
    left = [post_id for post_id in tree if post_id != tree[hidden]]
    for post_id in left:
        assert await read(other, post_id, "conversation") == left
    assert await read(author, tree[hidden], "conversation") == tree
    await assert_clean(db)
    await unhide(author, tree[hidden])
    assert await read(other, tree[hidden], "conversation") == tree
    await assert_clean(db)


async def test_the_thread_goes_with_its_last_post(
    db: Database, tree: list[str], alice: Member, bob: Member, carol: Member
) -> None:
    """A reply after the root's deletion joins the thread, and nothing is left of it when all are deleted."""
    await delete(alice, tree[0])
    last = await carol.post("still here", inReplyToId=tree[4])
    assert await read(bob, last, "conversation") == [*tree[1:], last]
    for author, post_id in zip((bob, carol, alice, bob, carol), [*tree[1:], last], strict=True):
        await delete(author, post_id)
    assert not await find(db, "thread:*")
    assert not await find(db, "replies:*")
    await assert_clean(db)


async def test_wrong_arguments(tree: list[str], anonymous: Member) -> None:
    """Too large a page, and a cursor that is malformed or of another list, are BAD_USER_INPUT."""
    cursor = (await page(anonymous, tree[0], "replies"))["pageInfo"]["endCursor"]
    wrong: list[dict[str, Any]] = [{"first": 0}, {"first": LONG + 1}, {"after": "x"}, {"after": cursor}]
    for span in wrong:
        assert await anonymous.fail(QUERY, id=tree[0], **span) == "BAD_USER_INPUT"


async def _conversation(db: Database, authors: list[Member], count: int) -> list[str]:
    """Return a conversation of some length, in which each post replies to the one before."""
    root = parent = number(await authors[0].post("root"))
    made = [root]
    for i in range(1, count):
        author, answered = (number(authors[k % len(authors)].id) for k in (i, i - 1))
        draft = PostDraft(author, f"post {i}", reply_to=parent, reply_to_author=answered, root=root)
        _, parent, job = accepted(await posts.create(db, draft))
        assert job
        await dispatch.finish(db, job)
        made.append(parent)
    return [f"status_{post_id:014x}" for post_id in made]


async def test_round_trips(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A page costs the same round trips in a conversation of 10 posts and of 1,000, at any depth."""
    await alice.follow(bob)
    costs = []
    short, long = [await _conversation(services.db, [alice, bob, carol], count) for count in (10, LONG)]
    for ids, first in ((short, 10), (long, 10), (long, LONG)):
        for post_id in (ids[0], ids[len(ids) // 2], ids[-1]):
            services.db.cache.clear()  # what one page has read would be missing from the costs of the next
            services.db.round_trips = 0
            found = (await alice.ask(QUERY, id=post_id, first=first))["conversation"]
            trips = services.db.round_trips
            assert [edge["node"]["id"] for edge in found["edges"]] == ids[:first]
            costs.append(trips)
            services.db.cache.clear()
            services.db.round_trips = 0
            after = found["edges"][4]["cursor"]
            found = (await alice.ask(QUERY, id=post_id, first=5, after=after))["conversation"]
            assert [edge["node"]["id"] for edge in found["edges"]] == ids[5:10]
            assert all(edge["node"]["inReplyTo"] for edge in found["edges"])
            costs.append(services.db.round_trips)
    assert all(cost <= first for cost, first in zip(costs, costs[:2] * 9, strict=True))
    assert (
        max(costs) <= 7
    )  # the status, its author; entries, posts, the records they name; a parent before the page, likewise
    assert await services.db.one("ZCARD", keys.thread(number(long[0]))) == LONG
