"""Timelines in the order of importance: ranked once, paged through a snapshot."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.stored import delete, find
from tests.support.work import number

HOMES_RANKED = 6
PAGE = "edges { cursor node { ... on Node { id } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
TIMELINES = {
    "home": f"homeTimeline(ARGUMENTS) {{ {PAGE} }}",
    "public": f"publicTimeline(ARGUMENTS) {{ {PAGE} }}",
    "hashtag": f'hashtag(name: "tea") {{ timeline(ARGUMENTS) {{ {PAGE} }} }}',
}
of_each = pytest.mark.parametrize("timeline", TIMELINES)

React = Callable[[Member, str], Awaitable[Any]]


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """A home of which few entries are ranked, unless a test gives their number."""
    return shrunk(settings, important_home=getattr(request, "param", HOMES_RANKED))


async def send(member: Member, timeline: str, **arguments: Any) -> dict[str, Any]:
    """Return the whole answer to a request for a page, in the order IMPORTANT by default."""
    kinds = {"first": "Int", "last": "Int", "after": "String", "before": "String", "order": "TimelineOrder"}
    given = {"order": "IMPORTANT", **arguments}
    declared = ", ".join(f"${name}: {kinds[name]}" for name in given)
    query = TIMELINES[timeline].replace("ARGUMENTS", ", ".join(f"{name}: ${name}" for name in given))
    return await member.send(f"query({declared}) {{ {query} }}", **given)


async def read(member: Member, timeline: str, **arguments: Any) -> dict[str, Any]:
    """Return a page."""
    answer = await send(member, timeline, **arguments)
    assert "errors" not in answer, answer
    found: dict[str, Any] = answer["data"]
    while "edges" not in found:
        (found,) = found.values()
    return found


async def ids(member: Member, timeline: str, **arguments: Any) -> list[str]:
    """Return the posts of a page."""
    return [edge["node"]["id"] for edge in (await read(member, timeline, **arguments))["edges"]]


async def refused(member: Member, timeline: str, **arguments: Any) -> str:
    """Return the argument that the refusal of a request names."""
    answer = await send(member, timeline, **arguments)
    (error,) = answer["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT", error
    name: str = error["message"].partition(":")[0]
    return name


async def like(member: Member, post: str) -> None:
    await member.do("like", postId=post)


async def comment(member: Member, post: str) -> None:
    await member.do("comment", postId=post, text="a remark")


async def repost(member: Member, post: str) -> None:
    await member.repost(post)


async def quote(member: Member, post: str) -> None:
    await member.repost(post, "a quote")


@of_each
@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ([like], []),
        ([comment], [like]),
        ([repost], [comment]),
        ([quote], [comment]),
        ([comment, like], [comment]),
        ([quote, like], [repost]),
    ],
)
async def test_what_ranks_higher(
    alice: Member, bob: Member, timeline: str, better: list[React], worse: list[React]
) -> None:
    """A post with a higher score is ranked above a lower one and above a newer one, at once."""
    await alice.follow(bob)
    high, low, none = [await alice.post(f"{text} #tea") for text in ("high", "low", "none")]
    for post, reactions in ((high, better), (low, worse)):
        for react in reactions:
            await react(bob, post)
    found = [post for post in await ids(alice, timeline) if post in {high, low, none}]
    assert found == ([high, low, none] if worse else [high, none, low])


@of_each
async def test_what_is_taken_back(alice: Member, bob: Member, timeline: str) -> None:
    """A like, repost, quote or comment that is undone no longer ranks a post; the newest then comes first."""
    old, new = await alice.post("old #tea"), await alice.post("new #tea")
    await like(bob, old)
    await repost(bob, old)
    made = (await bob.do("comment", "comment { id }", postId=old, text="a remark"))["comment"]["id"]
    words = await bob.repost(old, "a quote")
    assert await ids(alice, timeline, first=1) == [old]
    await bob.do("unlike", postId=old)
    await bob.do("unrepost", postId=old)
    await bob.do("deleteComment", commentId=made)
    assert await ids(alice, timeline, first=1) == [old]
    await bob.do("deletePost", postId=words)
    assert await ids(alice, timeline) == [new, old]


@of_each
async def test_pages_of_a_snapshot(alice: Member, bob: Member, timeline: str) -> None:
    """However likes and posts go on, the pages are the first ranking, without deleted posts and repeats."""
    made = [await alice.post(f"post {i} #tea") for i in range(HOMES_RANKED)]
    await like(bob, made[1])
    wanted = [made[1], *(post for post in reversed(made) if post != made[1])]
    page = await read(alice, timeline, first=2)
    assert page["pageInfo"]["hasPreviousPage"] is False
    found = page["edges"]
    await like(bob, made[0])
    await alice.post("new #tea")
    await alice.do("deletePost", postId=wanted[2])
    while page["pageInfo"]["hasNextPage"]:
        page = await read(alice, timeline, first=2, after=page["pageInfo"]["endCursor"])
        assert page["pageInfo"]["hasPreviousPage"] is True
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]
        found += page["edges"]
    assert [edge["node"]["id"] for edge in found] == [post for post in wanted if post != wanted[2]]
    assert len({edge["cursor"] for edge in found}) == len(found)


@of_each
async def test_every_cursor_can_be_gone_on_from(alice: Member, timeline: str) -> None:
    """After any entry come the entries ranked below it."""
    for i in range(4):
        await alice.post(f"post {i} #tea")
    ranked = await ids(alice, timeline)
    cursors = [edge["cursor"] for edge in (await read(alice, timeline, first=3))["edges"]]
    for place, cursor in enumerate(cursors):
        assert await ids(alice, timeline, after=cursor) == ranked[place + 1 :]


@of_each
async def test_a_page_to_be_refilled(services: Services, alice: Member, timeline: str) -> None:
    """Posts gone since the ranking was stored are replaced from below, and the cursor is the last entry read."""
    made = [await alice.post(f"post {i} #tea") for i in range(6)][::-1]
    page = await read(alice, timeline, first=1)
    await delete(services.db, *(keys.status(number(post)) for post in made[1:3]))
    page = await read(alice, timeline, first=2, after=page["pageInfo"]["endCursor"])
    assert [edge["node"]["id"] for edge in page["edges"]] == made[3:5]
    assert page["pageInfo"]["hasNextPage"]
    assert await ids(alice, timeline, after=page["pageInfo"]["endCursor"]) == made[5:]
    await services.db.one("DEL", keys.status(number(made[4])))
    assert await ids(alice, timeline) == [made[0], made[3], made[5]]


@of_each
async def test_a_snapshot_expires(db: Database, alice: Member, timeline: str) -> None:
    """A ranking of more than one page is stored for ten minutes, once; then its cursors are bad input."""
    for i in range(3):
        await alice.post(f"post {i} #tea")
    await read(alice, timeline, first=3)
    assert not await find(db, "snapshot:*")
    ends = [(await read(alice, timeline, first=first))["pageInfo"]["endCursor"] for first in (1, 2)]
    (key,) = await find(db, "snapshot:*")
    assert 590 < await db.one("TTL", key) <= 600
    await db.one("DEL", key)
    for end in ends:
        assert await refused(alice, timeline, after=end) == "after"


@of_each
async def test_cursors_that_lead_nowhere(alice: Member, bob: Member, timeline: str) -> None:
    """A cursor that is malformed, of another order or of another list is bad input, in either order."""
    for i in range(3):
        await alice.post(f"post {i} #tea")
    (important, recent) = [
        (await read(alice, timeline, first=1, order=order))["pageInfo"]["endCursor"]
        for order in ("IMPORTANT", "RECENT")
    ]
    kind, digest, place = important.split(".")
    spoilt = ["", recent, kind, digest, f"{kind}.{digest}", f"{digest}.{place}", important[:-1], important + "0"]
    spoilt += [important.upper(), f"{important}\n", f"{kind}.{digest}.-{place[1:]}", f"{kind}.{'0' * 32}.{place}"]
    others = [other for other in TIMELINES if other != timeline]
    spoilt += [(await read(alice, other, first=1))["pageInfo"]["endCursor"] for other in others]
    spoilt += [f"important-{other}.{digest}.{place}" for other in others]
    for text in spoilt:
        assert await refused(alice, timeline, after=text) == "after", text
    for argument in ("after", "before"):
        assert await refused(alice, timeline, order="RECENT", **{argument: important}) == argument


async def test_the_home_of_another(alice: Member, bob: Member, anonymous: Member) -> None:
    """The cursor of another member's home is bad input, even if both homes have the same posts."""
    await bob.follow(alice)
    for i in range(3):
        await alice.post(f"post {i}")
    end = (await read(alice, "home", first=1))["pageInfo"]["endCursor"]
    assert await refused(bob, "home", after=end) == "after"
    answer = await send(anonymous, "home", after=end)
    assert answer["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
    assert (await read(bob, "home", first=1))["pageInfo"]["endCursor"] == end
    assert len(await ids(bob, "home", after=end)) == 2


async def test_another_tag(alice: Member) -> None:
    """The cursor of another tag is bad input, though it is of the same kind."""
    for i in range(3):
        await alice.post(f"post {i} #tea")
    end = (await read(alice, "hashtag", first=1))["pageInfo"]["endCursor"]
    await alice.post("else #rain")
    page = 'hashtag(name: "rain") { timeline(order: IMPORTANT, after: $after) { edges { cursor } } }'
    assert await alice.fail(f"query($after: String) {{ {page} }}", after=end) == "BAD_USER_INPUT"


@of_each
async def test_forward_only(alice: Member, timeline: str) -> None:
    """`last` and `before` are bad input, and so is a wrong number of entries; null counts as omitted."""
    await alice.post("a post #tea")
    assert await refused(alice, timeline, last=1) == "last"
    assert await refused(alice, timeline, first=1, last=1) == "last"
    assert await refused(alice, timeline, before="anything") == "before"
    for first in (0, -1, 101):
        assert await refused(alice, timeline, first=first) == "first"
    assert len(await ids(alice, timeline, last=None, before=None, after=None, first=None)) == 1
    assert (await read(alice, timeline, order=None)) == await read(alice, timeline, order="RECENT")


async def test_of_a_home_the_newest(alice: Member, bob: Member) -> None:
    """Of a home the newest entries are ranked, and no older one, however many likes it has."""
    await alice.follow(bob)
    made = [await bob.post(f"post {i}") for i in range(HOMES_RANKED + 1)]
    await like(alice, made[0])
    await like(alice, made[1])
    assert await ids(alice, "home") == [made[1], *made[:1:-1]]


async def test_who_reposted_it(alice: Member, bob: Member, carol: Member) -> None:
    """A home names the reposters of a post in this order too."""
    await alice.follow(bob)
    post = await carol.post("passed on")
    await bob.repost(post)
    await bob.post("newer")
    page = "edges { repostedBy { user { login } } node { ... on Post { text } } }"
    (first, second) = (await alice.ask(f"{{ homeTimeline(order: IMPORTANT) {{ {page} }} }}"))["edges"]
    assert first == {"repostedBy": [{"user": {"login": "bob"}}], "node": {"text": "passed on"}}
    assert second == {"repostedBy": [], "node": {"text": "newer"}}


async def test_reposts_act_for_their_original(alice: Member, bob: Member) -> None:
    """A plain repost is ranked nowhere; reactions to it rank its original."""
    old, new = await alice.post("old #tea"), await alice.post("new #tea")
    await like(alice, await bob.repost(old))
    assert await ids(alice, "public") == await ids(alice, "hashtag") == [old, new]


@of_each
async def test_nothing(alice: Member, timeline: str) -> None:
    """An empty timeline is one empty page; an unused tag has no timeline."""
    if timeline == "hashtag":
        assert (await send(alice, timeline))["data"] == {"hashtag": None}
        return
    page = await read(alice, timeline)
    assert (page["edges"], page["pageInfo"]["hasNextPage"], page["pageInfo"]["endCursor"]) == ([], False, None)


@of_each
@pytest.mark.parametrize("settings", [200], indirect=True)
async def test_round_trips(services: Services, anonymous: Member, alice: Member, timeline: str) -> None:
    """A page of thirty takes four round trips, a later one no more; each takes one more when a tag is looked up."""
    many = await crowd(anonymous, 4)
    await alice.follow(*many[:3])
    for i in range(62):
        quote = await many[i % 3].repost(await many[3].post(f"post {i} #tea"), "look #tea")
        await many[(i + 1) % 3].repost(quote)
    services.db.round_trips = 0
    page = await read(alice, timeline, first=30)
    tag = 1 if timeline == "hashtag" else 0
    assert services.db.round_trips <= 4 + tag
    services.db.round_trips = 0
    page = await read(alice, timeline, first=30, after=page["pageInfo"]["endCursor"])
    assert len(page["edges"]) == 30
    assert services.db.round_trips <= (4 if timeline == "home" else 3 + tag)
