"""What pages of groups cost, and homes that pull the profiles of members who post in groups."""

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store.homes import stored
from store.settings import Settings
from tests.support.groups import KINDS, create, join, let_in
from tests.support.page_costs import EDGES, PAGE, cost
from tests.support.people import Member, crowd, shrunk
from tests.support.threads import assert_clean
from tests.support.work import number, work_off

TIMELINE = f"""query($id: ID!) {{ node(id: $id) {{ ... on Group {{ timeline(first: {PAGE}) {{ {
    EDGES.replace("text", "text ... on Status { group { id name kind viewerRole memberCount } }", 1)
} }} }} }} }}"""
FIELDS = "id name description kind memberCount viewerRole viewerHasRequestedToJoin"
DIRECTORY = f"{{ groups(first: 20) {{ edges {{ node {{ {FIELDS} }} }} }} }}"
MINE = f"{{ viewer {{ groups(first: 20) {{ edges {{ node {{ {FIELDS} }} }} }} }} }}"
MEMBERS = "query($id: ID!) { node(id: $id) { ... on Group { members(first: 20) { edges { role node { login } } } } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for a long query; nothing cached; and a member with three followers is a big author."""
    return shrunk(settings, max_cost=10**9, records_kept=0, big_author=3)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_of_a_timeline(services: Services, anonymous: Member, alice: Member, kind: str) -> None:
    """30 entries cost as many round trips as one: the group; entries; posts; what these name; roles."""
    many = await crowd(anonymous, 6)
    trips = set()
    for count in (1, PAGE):
        group = await create(alice)
        await join(group, *many)
        for turn in range(count):
            await many[turn % 6].post(f"{turn}", groupId=group)
        await alice.do("updateGroup", groupId=group, kind=kind)
        page, found = await cost(services, alice, TIMELINE, id=group)
        assert len(page["edges"]) == count
        trips.add(found)
    assert trips == {5}


async def test_pages_of_groups(services: Services, anonymous: Member, alice: Member) -> None:
    """Pages of the directory, the viewer's groups and members cost as many round trips for 20 entries as for 1."""
    many = await crowd(anonymous, 20)
    trips: dict[str, set[int]] = {}
    for sofar, member in enumerate(many):
        group = await create(member)
        await join(group, alice, *many[:sofar])
        if sofar in {0, 19}:
            for name, query in (("directory", DIRECTORY), ("mine", MINE), ("members", MEMBERS)):
                variables = {"id": group} if name == "members" else {}
                page, found = await cost(services, alice, query, **variables)
                assert len(page["edges"]) in {sofar + 1, sofar + 2, 20}
                trips.setdefault(name, set()).add(found)
    assert trips == {"directory": {3}, "mine": {3}, "members": {3}}


async def test_a_big_author_who_posts_in_groups(
    services: Services, worker: Worker, anonymous: Member, alice: Member
) -> None:
    """Readers who pull a big author's posts page over those in groups, and find all others."""
    many = await crowd(anonymous, 3)
    big, other = many[0], many[1]
    await alice.follow(big, other)
    for member in many[1:]:
        await member.follow(big)
    await work_off(services.db, worker)
    group = await create(big)
    wanted = [await many[2].post("reposted, so that the home has sources")]
    await other.repost(wanted[0])
    for turn in range(4):
        wanted += [await big.post(f"mine {turn}"), await other.post(f"theirs {turn}")]
        for more in range(5):
            await big.post(f"in the group {turn} {more}", groupId=group)
    assert await alice.home() == wanted[::-1]
    found, after = list[str](), None
    query = """query($after: String) { homeTimeline(first: 2, after: $after) {
      nodes { ... on Node { id } } pageInfo { hasNextPage endCursor } } }"""
    for _ in range(30):
        page = await alice.ask(query, after=after)
        found += [node["id"] for node in page["nodes"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert found == wanted[::-1]
    await assert_clean(services.db)


async def test_below_the_floor(services: Services, alice: Member, bob: Member) -> None:
    """Below the floor a home goes on with followed members' posts, but for those in groups."""
    services.db.settings = shrunk(services.settings, home_size=2, home_slack=1)
    await alice.follow(bob)
    group = await create(bob)
    wanted = []
    for turn in range(8):
        wanted.append(await bob.post(f"{turn}"))
        await bob.post(f"in the group {turn}", groupId=group)
    assert await stored.floor(services.db, number(alice.id))
    assert await alice.home() == wanted[::-1]
    assert await alice.home("first: 3") == wanted[:-4:-1]


async def test_building_a_home(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A home that is built again, or merged with a new follow's profile, leaves out posts in groups."""
    group = await create(bob, "PRIVATE")
    await let_in(bob, group, alice)
    await bob.post("in the group", groupId=group)
    post = await bob.post("outside")
    public = await create(bob)
    reposted = await bob.post("in another group", groupId=public)
    await carol.repost(reposted)
    await alice.follow(bob)
    assert await alice.home() == [post]
    await alice.follow(carol)
    assert await alice.home() == [reposted, post]
    await services.db.one(*stored.drop_home(number(alice.id)))
    assert await alice.home() == [reposted, post]
    await alice.unfollow(bob)
    assert await alice.home() == [reposted]
    await assert_clean(services.db)
