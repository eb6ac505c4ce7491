"""A page costs a constant number of round trips to the store, for any content."""

from collections.abc import Awaitable, Callable, Sequence

import pytest

from resolvers.process.services import Services
from store import keys
from store.settings import Settings
from tests.support.page_costs import EDGES, HOME, MEMBER, PAGE, PUBLIC, cost
from tests.support.people import Member, crowd, shrunk
from tests.support.stored import delete
from tests.support.work import number

HASHTAG = f'query($after: String) {{ hashtag(name: "tea") {{ timeline(first: {PAGE}, after: $after) {{ {EDGES} }} }} }}'
PROFILE = f'query($after: String) {{ user(login: "one0") {{ timeline(first: {PAGE}, after: $after) {{ {EDGES} }} }} }}'
FOLLOWERS = f'query($after: String) {{ user(login: "one0") {{ followers(first: {PAGE}, after: $after) {{ edges {{ \
followedAt cursor node {{ {MEMBER} }} }} }} }} }}'

Scene = Callable[[Member, list[Member]], Awaitable[None]]


async def posts_alone(_: Member, many: list[Member]) -> None:
    """Nothing but statuses."""
    for i in range(PAGE + 1):
        await many[i % 3].post(f"post {i} #tea")


async def foreign_reposts(_: Member, many: list[Member]) -> None:
    """Each post is by a member seen nowhere else, and reposted by a member seen nowhere else."""
    for i in range(PAGE + 1):
        await many[i % 4].repost(await many[4 + i % 4].post(f"post {i} #tea"))


async def foreign_quotes(_: Member, many: list[Member]) -> None:
    """Each post is a quote by a member seen nowhere else."""
    for i in range(PAGE + 1):
        await many[i % 4].repost(await many[4 + i % 4].post(f"post {i}"), "look at this #tea")


async def quotes_of_quotes(_: Member, many: list[Member]) -> None:
    """Quotes of quotes of quotes, of which a page shows one level."""
    post = await many[7].post("the first")
    for i in range(PAGE + 1):
        post = await many[i % 8].repost(post, f"quote {i} #tea")


async def everything(viewer: Member, many: list[Member]) -> None:
    """Statuses, reposts and quotes by everybody, liked and reposted by the viewer, too."""
    for i in range(PAGE + 1):
        author, other, stranger = many[i % 4], many[(i + 1) % 4], many[4 + i % 4]
        post, foreign = await author.post(f"post {i} #tea"), await stranger.post(f"foreign {i}")
        await other.repost(post)
        await author.repost(foreign)
        await author.repost(foreign, "look at this #tea")
        await viewer.do("like", postId=foreign)
        if i % 5 == 0:
            await viewer.repost(post)


SCENES = [posts_alone, foreign_reposts, foreign_quotes, quotes_of_quotes, everything]
MOST = {  # round trips of a page: entries; posts and sources; everything that these name
    "home": (HOME, 3),
    "public": (PUBLIC, 3),
    "important public": (
        PUBLIC.replace("$after)", "$after, order: IMPORTANT)"),
        4,
    ),  # first the counts of the ranked posts
    "hashtag": (HASHTAG, 4),  # first the hashtag
    "profile": (PROFILE, 5),  # first the login and the member
    "followers": (FOLLOWERS, 4),  # first the login and the member; then entries; members
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a long query."""
    return shrunk(settings, max_cost=10**9)


@pytest.fixture
async def many(anonymous: Member, alice: Member) -> list[Member]:
    """Four members whom alice follows, and four whom she does not."""
    made = await crowd(anonymous, 8)
    await alice.follow(*made[:4])
    return made


@pytest.mark.parametrize("fill", SCENES, ids=lambda fill: fill.__name__)
async def test_a_page(services: Services, alice: Member, many: list[Member], fill: Scene) -> None:
    """A page costs at most its constant, with authors, counts, flags, sources and a level of quotes."""
    await fill(alice, many)
    for page, (query, most) in MOST.items():
        first, trips = await cost(services, alice, query)
        assert first["edges"]
        assert trips <= most, page
        _, trips = await cost(services, alice, query, after=first["edges"][0]["cursor"])
        assert trips <= most, page


@pytest.mark.parametrize(("gone", "most", "full"), [((3, 4), 6, True), ((3, 4, 31), 9, True), (range(32), 9, False)])
async def test_a_page_to_be_refilled(
    services: Services, alice: Member, many: list[Member], gone: Sequence[int], most: int, *, full: bool
) -> None:
    """Each refill of a page after deleted posts costs as much as a page, and there are at most two."""
    made = sorted([await many[i % 4].post(f"post {i}") for i in range(3 * PAGE)], key=number, reverse=True)
    await delete(services.db, *(keys.status(number(made[place])) for place in gone))
    page, trips = await cost(services, alice, HOME)
    wanted = [post for place, post in enumerate(made) if place not in gone]
    found = [edge["node"]["id"] for edge in page["edges"]]
    assert found == wanted[: len(found)]
    assert len(found) == PAGE or not full
    assert page["pageInfo"]["hasNextPage"]
    assert trips <= most
