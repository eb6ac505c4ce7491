"""Below its floor, a home continues with the followed members' own posts down to the first, in both directions."""

import pytest

from resolvers.process.services import Services
from store.homes import stored
from store.settings import Settings
from tests.support.home_pages import read, walk
from tests.support.people import Member, shrunk
from tests.support.site import Site
from tests.support.work import number

SIZE, SLACK = 10, 2


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Homes so short that a few posts fill them."""
    return shrunk(settings, home_size=SIZE, home_slack=SLACK, max_cost=10**9)


@pytest.fixture
async def site(services: Services, anonymous: Member) -> Site:
    """A reader who follows two members; a stranger whose posts both of these can repost."""
    made = Site(services.db, anonymous)
    await made.sign_up("reader", "one", "other", "stranger")
    await made.follow("reader", "one", "other")
    return made


async def fill(site: Site, count: int, *logins: str) -> list[str]:
    """Publish posts by these members in turn; returns them, oldest first."""
    return sorted([await site.post(logins[i % len(logins)]) for i in range(count)], key=number)


async def floor(site: Site, login: str = "reader") -> int:
    return await stored.floor(site.db, number(site.people[login].id)) or 0


async def test_down_to_the_first_post(site: Site) -> None:
    """Posts of one's own and of followed members, and their reposts, are read down to the first, at any page size."""
    first = await site.post("reader", "the first")
    await site.repost("one", first, "a quote")
    await site.repost("other", await site.post("stranger"))
    made = await fill(site, 40, "reader", "one", "other")
    await site.repost("other", made[0])
    assert await floor(site) > number(made[25])
    reader = site.people["reader"]
    whole = await reader.home()
    assert len(whole) == 43
    assert whole[-1] == first
    await site.check("reader")
    for size in (1, 5, SIZE, 11, 42, 43, 44):
        for forward in (True, False):
            assert [f"{line[0]:014x}" for line in await walk(reader, size, forward=forward)] == [
                post.partition("_")[2] for post in whole
            ]
    await site.verify()


async def test_reposts_below(site: Site) -> None:
    """Below the floor plain reposts by followed members add posts, and are named on the posts listed there."""
    old = await site.post("one")
    foreign = await site.post("stranger")
    await site.repost("other", old)
    await site.repost("other", foreign)
    await site.repost("stranger", old)
    await fill(site, SIZE + SLACK + 3, "one")
    reader = site.people["reader"]
    edges = (await read(reader, first=100))["edges"]
    assert [edge["node"]["id"] for edge in edges[-2:]] == [foreign, old]
    for edge in edges[-2:]:
        assert [source["user"]["login"] for source in edge["repostedBy"]] == ["other"]
    await site.check("reader")


@pytest.mark.parametrize("reposts", [3, 12, 40])
async def test_profiles_full_of_reposts(site: Site, reposts: int) -> None:
    """More plain reposts than fit a page are read below the floor, and the posts before and after them."""
    strange = await fill(site, reposts, "stranger")
    first = await site.post("one", "the first")
    for post in strange:
        await site.repost("one", post)
    second = await site.post("other", "the second")
    await fill(site, SIZE + SLACK + 3, "other")
    reader = site.people["reader"]
    for size in (1, 2, 7, 100):
        for newest_first in (True, False):
            found = await collect(reader, size, newest_first=newest_first)
            assert found[-reposts - 2 :] == [second, *strange[::-1], first]
            assert len(found) == len(set(found)) == SIZE + SLACK + 5 + reposts


async def collect(reader: Member, size: int, *, newest_first: bool) -> list[str]:
    """Return a home read in pages, newest first; some pages may be empty."""
    found: list[str] = []
    cursor: str | None = None
    for _ in range(200):
        span = {"first": size, "after": cursor} if newest_first else {"last": size, "before": cursor}
        page = await read(reader, **span)
        ids = [edge["node"]["id"] for edge in page["edges"]]
        found = found + ids if newest_first else ids + found
        cursor = page["pageInfo"]["endCursor" if newest_first else "startCursor"]
        if not page["pageInfo"]["hasNextPage" if newest_first else "hasPreviousPage"]:
            return found
    raise AssertionError("pages without end")


async def test_hidden_and_deleted_below(site: Site) -> None:
    """Posts hidden or deleted below the floor are not listed there, except hidden ones for their author."""
    old = await fill(site, 9, "one", "other", "reader")
    await fill(site, SIZE + SLACK + 3, "one")
    await site.hide("one", old[0])
    await site.hide("reader", old[2])
    await site.delete("other", old[4])
    await site.delete("reader", old[5])
    assert (await site.people["reader"].home())[-6:] == [old[i] for i in (8, 7, 6, 3, 2, 1)]
    await site.check("reader")


async def test_follows_and_unfollows_below(site: Site) -> None:
    """All posts of members followed now are listed below the floor, and no posts of others."""
    old = await site.post("stranger", "old")
    mine = await site.post("other", "older than the floor")
    await fill(site, SIZE + SLACK + 3, "one")
    before = await floor(site)
    await site.follow("reader", "stranger")
    assert (await site.people["reader"].home())[-2:] == [mine, old]
    await site.check("reader")
    await site.unfollow("reader", "other", "stranger")
    assert not {old, mine} & set(await site.people["reader"].home())
    await site.check("reader")
    assert await floor(site) == before > 0
    await site.unfollow("reader", "one")
    assert await site.people["reader"].home() == []
    assert await floor(site) == before
    await site.follow("reader", "one")
    await site.check("reader")
    await site.verify()


async def test_a_page_begun_before_a_trim(site: Site) -> None:
    """Pages continue below a cursor when the floor has risen above it: own posts, none twice and none left out."""
    made = await fill(site, SIZE + SLACK, "one", "other", "reader")
    reader = site.people["reader"]
    page = await read(reader, first=4)
    await fill(site, 3 * SIZE, "one")
    assert await floor(site) > number(made[-1])
    rest = await read(reader, first=100, after=page["pageInfo"]["endCursor"])
    assert [edge["node"]["id"] for edge in page["edges"] + rest["edges"]] == made[::-1]
    assert rest["pageInfo"] | {"startCursor": "", "endCursor": ""} == {
        "hasNextPage": False, "hasPreviousPage": True, "startCursor": "", "endCursor": "",
    }  # fmt: skip


@pytest.mark.parametrize("end", ["unfollow the author", "unfollow who passed it on", "undo the repost"])
async def test_a_post_is_listed_again_at_a_newer_repost(site: Site, end: str) -> None:
    """When the source that put a post below the floor ends, the post moves up to the first repost above it."""
    author = "other" if end == "unfollow the author" else "stranger"
    post = await site.post(author)
    if author == "stranger":
        await site.sign_up("third")
        await site.follow("reader", "third")
        await site.repost("third", post)
    await fill(site, SIZE + SLACK + 1, "reader")
    await site.repost("one", post)
    assert (await site.people["reader"].home())[0] != post
    await site.check("reader")
    if end == "undo the repost":
        await site.unrepost("third", post)
    else:
        await site.unfollow("reader", author if author == "other" else "third")
    assert (await site.people["reader"].home())[0] == post
    await site.check("reader")
    await site.verify()
