"""Reading notifications: pages, read marks, visibility, and the cost of a page."""

from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.settings import Settings
from tests.support.notifications import named, nodes, notifications_of, relate, say, unread
from tests.support.people import Member, crowd, make_private, shrunk

PAGE = """query($first: Int, $after: String) { viewer { notifications(first: $first, after: $after) {
  edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
MENTIONS = """query($first: Int, $after: String, $last: Int, $before: String) { viewer {
  mentions(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor repostedByCount node { __typename ... on Node { id } } } pageInfo { hasNextPage endCursor } } } }"""
USER = "login name followerCount viewerIsFollowing"
POST = f"id text likeCount viewerHasLiked author {{ {USER} }} ... on Repost {{ original {{ id author {{ {USER} }} }} }}"
COMMENT = f"id text author {{ {USER} }} post {{ {POST} }}"
WHOLE = f"""{{ viewer {{ unreadNotificationCount notifications(first: 30) {{ edges {{ cursor node {{
  id kind isRead createdAt actorCount actor {{ {USER} }} actors {{ {USER} }} post {{ {POST} }} comment {{ {COMMENT} }}
}} }} }} }} }}"""
WHOLE_MENTIONS = f"""{{ viewer {{ mentions(first: 30) {{ edges {{ cursor node {{ __typename
  ... on Post {{ {POST} }} ... on Comment {{ {COMMENT} }} }} }} }} }} }}"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a long query."""
    return shrunk(settings, max_cost=10**9)


async def busy(alice: Member, many: list[Member]) -> str:
    """Have many members do an act of each kind to alice; returns her post."""
    post = await alice.post("hello")
    for member in many:
        await member.do("like", postId=post)
        await member.follow(alice)
        await member.repost(post)
        await member.repost(post, "a quote")
        await say(member, post, "a comment")
        await member.post("hi @alice")
        await say(member, await member.post("mine"), "look @alice")
    return post


async def test_pages(anonymous: Member, alice: Member) -> None:
    """All pages together are the whole list, newest first, and nothing repeats."""
    await busy(alice, await crowd(anonymous, 2))
    whole = [node["id"] for node in await nodes(alice)]
    assert len(whole) == 13
    found: list[str] = []
    after = None
    while True:
        page = (await alice.ask(PAGE, first=4, after=after))["notifications"]
        found += [edge["node"]["id"] for edge in page["edges"]]
        assert page["nodes"] == [edge["node"] for edge in page["edges"]]
        assert page["pageInfo"]["hasPreviousPage"] == (after is not None)
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert found == whole


@pytest.mark.parametrize(
    "variables", [{"first": 0}, {"first": 101}, {"after": "x"}, {"after": "mentions.00000000000001"}]
)
async def test_pages_that_cannot_be_read(alice: Member, variables: dict[str, Any]) -> None:
    """A wrong count and a cursor of another list are BAD_USER_INPUT."""
    assert await alice.fail(PAGE, **variables) == "BAD_USER_INPUT"


async def test_reading(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """Marking one as read marks all older ones; the mark only rises, and without an id it covers all."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    await carol.follow(alice)
    await bob.repost(post)
    newest, middle, oldest = [node["id"] for node in await nodes(alice)]
    selection = "viewer { unreadNotificationCount notifications { nodes { isRead } } }"
    for up_to, left, flags in (
        (middle, 1, [False, True, True]),
        (oldest, 1, [False, True, True]),
        (newest, 0, [True, True, True]),
    ):
        viewer = (await alice.do("markNotificationsRead", selection, upToId=up_to))["viewer"]
        assert viewer["unreadNotificationCount"] == left
        assert [node["isRead"] for node in viewer["notifications"]["nodes"]] == flags
    await carol.repost(post)
    assert await unread(alice) == 1
    for _ in range(2):
        assert await alice.ask("mutation { markNotificationsRead { viewer { unreadNotificationCount } } }") == {
            "viewer": {"unreadNotificationCount": 0}
        }
    assert await unread(bob) == 0


async def test_what_cannot_be_marked(db: Database, alice: Member, bob: Member, carol: Member) -> None:
    """An id that is no notification of the viewer's is refused and marks nothing; a withdrawn one is accepted."""
    post, other = await alice.post("hello"), await bob.post("hello")
    await carol.do("like", postId=post)
    await carol.do("like", postId=other)
    (theirs,) = [node["id"] for node in await nodes(bob)]
    for wrong in (theirs, post, "notification_00000000000001"):
        assert await alice.refused("markNotificationsRead", upToId=wrong) == ("NOT_FOUND", ["upToId"])
    for wrong in ("", "nonsense", "notification_1"):
        assert await alice.refused("markNotificationsRead", upToId=wrong) == ("INVALID", ["upToId"])
    assert await unread(alice) == 1
    await bob.do("like", postId=post)
    newest = (await nodes(alice))[0]["id"]
    await bob.do("unlike", postId=post)
    assert (await alice.do("markNotificationsRead", upToId=newest))["userErrors"] == []
    assert await unread(alice) == 0


async def test_the_anonymous(anonymous: Member) -> None:
    """Reading and marking need a member: anonymous viewers have no notifications."""
    assert await anonymous.ask("{ viewer { unreadNotificationCount } }") is None
    query = "mutation { markNotificationsRead { viewer { unreadNotificationCount } } }"
    assert await anonymous.fail(query) == "UNAUTHENTICATED"


async def test_a_notification_by_its_id(anonymous: Member, alice: Member, bob: Member) -> None:
    """Its owner finds a notification by its id, alone or among others; everybody else gets null."""
    post = await alice.post("hello")
    await bob.do("like", postId=post)
    (node,) = await nodes(alice)
    one = "query($id: ID!) { node(id: $id) { __typename id } }"
    many = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }"
    found = {"__typename": "Notification", "id": node["id"]}
    assert await alice.ask(one, id=node["id"]) == found
    assert await alice.ask(many, ids=[post, node["id"]]) == [{"__typename": "Status", "id": post}, found]
    for other in (bob, anonymous):
        assert await other.ask(one, id=node["id"]) is None
    await bob.do("unlike", postId=post)
    assert await alice.ask(one, id=node["id"]) is None


@pytest.mark.parametrize("relationship", ["blocked", "blocked_by", "muted"])
async def test_what_is_seen_no_more(db: Database, alice: Member, bob: Member, relationship: str) -> None:
    """Notifications from before a block or a mute are not shown after it."""
    await busy(alice, [bob])
    assert len(await notifications_of(alice)) == 7
    await relate(db, relationship, alice, bob)
    assert (await notifications_of(alice), await named(alice)) == ([], [])


async def test_what_is_about_somebody_private(alice: Member, bob: Member, carol: Member) -> None:
    """A mention in or below an unseen post does not notify, and is listed once the member can see the post."""
    await carol.follow(bob)
    await make_private(bob)
    post = await bob.post("for friends, @alice and @carol")
    comment = await say(carol, post, "so @alice @bob")
    assert (await notifications_of(alice), await unread(alice), await named(alice)) == ([], 0, [])
    assert await notifications_of(carol) == [("MENTION", "bob", post, None)]
    assert (await notifications_of(bob))[0] == ("COMMENT", "carol", post, comment)
    await alice.follow(bob)
    await bob.do("approveFollowRequests", userIds=[alice.id])
    assert await named(alice) == [comment, post]


async def test_pages_of_mentions(db: Database, anonymous: Member, alice: Member, bob: Member) -> None:
    """Posts and comments are in one order, newest first; pages join to the whole, in either direction."""
    await busy(alice, await crowd(anonymous, 3))
    whole = await named(alice)
    assert [entity_id.partition("_")[0] for entity_id in whole] == ["comment", "status"] * 3
    found: list[str] = []
    after = None
    while True:
        page = (await alice.ask(MENTIONS, first=2, after=after))["mentions"]
        found += [edge["node"]["id"] for edge in page["edges"]]
        assert {edge["repostedByCount"] for edge in page["edges"]} == {0}
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert found == whole
    page = (await alice.ask(MENTIONS, last=2, before=after))["mentions"]
    assert [edge["node"]["id"] for edge in page["edges"]] == whole[3:5]
    assert await alice.fail(MENTIONS, first=1, after="notifications.00000000000001") == "BAD_USER_INPUT"


@pytest.mark.parametrize("count", [1, 4])
async def test_what_a_page_costs(services: Services, anonymous: Member, alice: Member, count: int) -> None:
    """A page costs at most a constant, for any kinds: entries, their subjects, and the records those name."""
    many = await crowd(anonymous, count)
    await busy(alice, many)
    for field, query, entries in (("notifications", WHOLE, 6 * count + 1), ("mentions", WHOLE_MENTIONS, 2 * count)):
        await anonymous.send(query)  # a new query text takes one more round trip
        services.db.round_trips = 0
        page = (await alice.ask(query))[field]
        trips = services.db.round_trips
        assert len(page["edges"]) == entries
        assert trips <= 3
