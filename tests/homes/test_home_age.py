"""HOME_MAX_AGE: older entries leave the home, whether or not they are still stored."""

from datetime import UTC, datetime, timedelta

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.rules import ranking
from store import keys
from store.homes import stored
from store.ids import first_of, instant, partition
from store.keys.fields import StatusField, UserField
from store.settings import Settings
from tests.support.home_pages import read, seen, walk
from tests.support.people import Member, shrunk
from tests.support.site import Site
from tests.support.work import number, work_off, write_home

SIZE, SLACK = 10, 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Homes of one day."""
    return shrunk(settings, home_max_age=1, home_size=SIZE, home_slack=SLACK, big_author=3, max_cost=10**9)


@pytest.fixture
async def site(services: Services, anonymous: Member) -> Site:
    """A reader who follows one member, and another member."""
    made = Site(services.db, anonymous)
    await made.sign_up("reader", "one", "other")
    await made.follow("reader", "one")
    return made


async def published(site: Site, login: str, *, hours_ago: int, turn: int = 0) -> str:
    """Publish a post dated some hours ago, as it would have been delivered to the followers' homes then."""
    author = number(site.people[login].id)
    post = first_of(datetime.now(UTC) - timedelta(hours=hours_ago)) + (turn << 12) | partition(author) << 4
    owners = [author, *(int(f) for f in await site.db.one("ZRANGE", keys.followers(author), 0, -1))]
    await site.db.ask(
        ("HSET", keys.status(post), StatusField.AUTHOR, author, StatusField.TEXT, "old"),
        ("ZADD", keys.profile(author), post, post),
        ("HINCRBY", keys.user(author), UserField.POSTS, 1),
        ("ZADD", keys.public(), post, post),
        ("ZADD", keys.important_public(), ranking.score(instant(post)), post),
    )
    for home in owners:
        await write_home(site.db, home, {*(e.entity for e in await stored.home(site.db, home)), post})
    return f"status_{post:014x}"


async def pages(member: Member) -> list[list[str]]:
    """Return a home read whole, and in small pages of each direction."""
    whole = [seen(edge) for edge in (await read(member, first=100))["edges"]]
    last = [seen(edge) for edge in (await read(member, last=100))["edges"]]
    walked = [await walk(member, 2, forward=forward) for forward in (True, False)]
    return [[f"status_{line[0]:014x}" for line in lines] for lines in (whole, last, *walked)]


@pytest.mark.parametrize("old", [1, 7])
async def test_older_entries_are_not_read(site: Site, old: int) -> None:
    """Entries that have become too old since they were stored are not read from either end, and hide no others."""
    young = await published(site, "one", hours_ago=23)
    new = [await site.post("one") for _ in range(2)]
    for turn in range(old):
        await published(site, "one", hours_ago=25, turn=turn)
    assert await pages(site.people["reader"]) == [[*new[::-1], young]] * 4


async def test_older_entries_go_with_the_next_delivery(site: Site) -> None:
    """An addition to a home removes what is too old, and raises the floor so that none of it is added again."""
    old = await published(site, "one", hours_ago=25)
    young = await published(site, "one", hours_ago=23)
    new = await site.post("one")
    reader = number(site.people["reader"].id)
    assert [entry.entity for entry in await stored.home(site.db, reader)] == [number(new), number(young)]
    floor = await stored.floor(site.db, reader)
    assert floor is not None
    assert number(old) < floor < number(young)
    assert await pages(site.people["reader"]) == [[new, young]] * 4
    await site.verify()


async def test_older_entries_are_not_merged(site: Site) -> None:
    """Neither a follow nor building a home adds what is too old."""
    old = await published(site, "other", hours_ago=25)
    young = await published(site, "other", hours_ago=23)
    await site.follow("reader", "other")
    assert await pages(site.people["reader"]) == [[young]] * 4
    await site.db.one(*stored.drop_home(number(site.people["reader"].id)))
    assert await pages(site.people["reader"]) == [[young]] * 4
    new = await site.post("other")
    assert await pages(site.people["reader"]) == [[new, young]] * 4
    assert old in await profile(site, "other")
    await site.verify()


async def profile(site: Site, login: str) -> list[str]:
    query = f'{{ user(login: "{login}") {{ timeline(first: 100) {{ nodes {{ ... on Node {{ id }} }} }} }} }}'
    return [node["id"] for node in (await site.people["reader"].ask(query))["timeline"]["nodes"]]


async def test_below_the_floor(site: Site) -> None:
    """Below the floor of a full home, posts continue down to the maximum age, and no further."""
    await published(site, "one", hours_ago=25)
    young = [await published(site, "one", hours_ago=23, turn=turn) for turn in range(3)]
    new = [await site.post("one") for _ in range(SIZE + SLACK)]
    assert (await stored.floor(site.db, number(site.people["reader"].id)) or 0) >= number(young[-1])
    assert await pages(site.people["reader"]) == [[*new[::-1], *young[::-1]]] * 4


async def test_big_authors(site: Site, worker: Worker) -> None:
    """Posts pulled from big authors are within the maximum age too."""
    await site.sign_up("fan0", "fan1")
    await published(site, "one", hours_ago=25)
    for fan in ("fan0", "fan1"):
        await site.follow(fan, "one")
    await work_off(site.db, worker)
    new = await site.post("one")
    for login in ("reader", "fan0"):
        await site.db.one(*stored.drop_home(number(site.people[login].id)))
        assert await pages(site.people[login]) == [[new]] * 4


async def test_an_old_post_passed_on_now(site: Site) -> None:
    """A stranger's post of any age is listed at the repost that adds it."""
    old = await published(site, "other", hours_ago=24 * 300)
    await site.repost("one", old)
    assert await pages(site.people["reader"]) == [[old]] * 4
    await site.verify()
