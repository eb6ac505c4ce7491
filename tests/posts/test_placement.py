"""Promotions in timelines: their places, and that they take no other post's place."""

import itertools
from collections import Counter

import pytest

from resolvers.process.services import Services
from resolvers.reading import promoted_page as chosen
from resolvers.rules import placement
from store import keys, promotions
from store.client.database import Command, Database
from store.keys.fields import PromotionField, StatusField, UserField
from tests.support.people import Member, crowd, sign_up
from tests.support.promoting import PROFILE, TIMELINES, administrator, promote, read
from tests.support.transport.small import logged
from tests.support.work import number

POSTS = 43
SIZES = (1, 9, 10, 11, 19, 20, 31, 40, 43, 44, 47, 48, 100)  # of pages
every_timeline = pytest.mark.parametrize("query", TIMELINES.values(), ids=TIMELINES)


@pytest.fixture
async def admin(db: Database, anonymous: Member) -> Member:
    return await administrator(db, anonymous)


@pytest.fixture
async def posts(alice: Member) -> list[str]:
    """Every timeline that alice sees, newest first."""
    return [await alice.post(f"{i} #tea") for i in range(POSTS)][::-1]


# ---------------------------------------------------------------- the rule alone


@pytest.mark.parametrize("forward", [True, False])
def test_rule(*, forward: bool) -> None:
    """Each tenth place is a promotion's as long as there are any, and entries fill the rest up to the count."""
    for most, promoted in itertools.product(range(1, 51), (0, 1, 2, 9)):
        for entries in range(most + 1):
            edges = list(range(1, entries + 1))
            page = placement.placed(
                edges, [0] * promoted, most, forward=forward, after=lambda before, zero: zero - before
            )
            places = [place for place, edge in enumerate(page, 1) if edge < 0]
            assert places == [10 * n for n in range(1, min(promoted, entries // 10) + 1)]
            assert len(page) == min(entries + len(places), most)
            assert len(places) * 10 <= len(page)
            assert all(page[place - 1] == -page[place - 2] for place in places)
            kept = [edge for edge in page if edge > 0]
            assert kept == (edges[: len(kept)] if forward else edges[len(edges) - len(kept) :])


# ---------------------------------------------------------------- paging


@every_timeline
async def test_paging(admin: Member, alice: Member, posts: list[str], query: str) -> None:
    """Pages in either direction show each post once and in order, promotions included, and end truthfully."""
    running = {await promote(admin, alice) for _ in range(3)}
    ways = (("first", "after", "endCursor", "hasNextPage"), ("last", "before", "startCursor", "hasPreviousPage"))
    for size, (way, far, cursor, goes_on) in itertools.product(SIZES, ways):
        found: list[list[str]] = []
        start, more = "", True
        while more:
            page = await read(alice, query, f"{way}: {size} {start}")
            assert set(page.promotions) <= running
            assert len(page.promoted) == min(3, (size if page.info[goes_on] else len(page.ids)) // 10)
            assert len(page.ids) == size or not page.info[goes_on]
            assert page.info["hasPreviousPage" if way == "first" else "hasNextPage"] == bool(found)
            assert (page.info["startCursor"], page.info["endCursor"]) == (page.cursors[0], page.cursors[-1])
            found.append(page.posts)
            start, more = f'{far}: "{page.info[cursor]}"', page.info[goes_on]
        assert list(itertools.chain(*(found if way == "first" else found[::-1]))) == posts


async def test_every_cursor(admin: Member, alice: Member, posts: list[str]) -> None:
    """From the cursor of any edge, a promotion's too, the timeline continues with the entries beyond it."""
    for _ in range(2):
        await promote(admin, alice)
    page = await read(alice, TIMELINES["home"], "first: 20")
    assert page.promoted == [10, 20]
    for place, cursor in enumerate(page.cursors, 1):
        seen = page.ids[:place]
        passed = len([post for post in seen if post in posts])
        assert (await read(alice, TIMELINES["home"], f'first: 9, after: "{cursor}"')).posts == posts[passed:][:9]
        above = posts[: passed - 1]
        assert (await read(alice, TIMELINES["home"], f'last: 9, before: "{cursor}"')).posts == above[-9:]


async def test_few_entries(admin: Member, alice: Member) -> None:
    """A timeline of nine entries has no promotion, one of ten has; a profile never has."""
    for i in range(9):
        await alice.post(f"{i} #tea")
    await promote(admin, alice)
    for query in TIMELINES.values():
        assert not (await read(alice, query, "first: 100")).promoted
    await alice.post("the tenth #tea")
    for query in TIMELINES.values():
        page = await read(alice, query, "first: 100")
        assert (page.promoted, len(page.posts)) == ([10], 10)
        assert not (await read(alice, query, "first: 9")).promoted
    assert not (await read(alice, PROFILE, "first: 100")).promoted


# ---------------------------------------------------------------- choice


async def test_fair_share(
    admin: Member, anonymous: Member, alice: Member, posts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members get each of many promotions about equally often, and the same ones again within the hour."""
    monkeypatch.setattr(chosen, "TURN_SECONDS", 10**12)
    assert posts
    running = [await promote(admin, alice) for _ in range(3)]
    shown: Counter[str] = Counter()
    for member in await crowd(anonymous, 60):
        page = await read(member, TIMELINES["public"], "first: 10")
        assert (await read(member, TIMELINES["public"], "first: 10")).promotions == page.promotions
        shown.update(page.promotions)
    assert set(shown) == set(running)
    assert min(shown.values()) >= 4


# ---------------------------------------------------------------- what fails


async def _whole(reader: Member, posts: list[str], *others: str) -> None:
    """Assert that every timeline shows all posts, with these promotions and no more."""
    for query in TIMELINES.values():
        page = await read(reader, query, "first: 100")
        assert page.posts == posts
        assert sorted(page.promotions) == sorted(others)


@every_timeline
async def test_sponsors_out_of_favour(
    admin: Member, alice: Member, bob: Member, carol: Member, posts: list[str], query: str
) -> None:
    """A viewer who blocks or mutes a sponsor is shown nothing that the sponsor pays for; others are."""
    paid = [await promote(admin, bob), await promote(admin, bob, userId=carol.id)]
    other = await promote(admin, alice)
    for mutation, undo in (("block", "unblock"), ("mute", "unmute")):
        await alice.do(mutation, userIds=[bob.id])
        assert (await read(alice, query, "first: 40")).promotions == [other]
        await alice.do(undo, userIds=[bob.id])
        assert set((await read(alice, query, "first: 40")).promotions) == {*paid, other}


async def test_nothing_to_show(admin: Member, alice: Member, anonymous: Member, posts: list[str], db: Database) -> None:
    """A promotion that has ended, or whose subject is gone, is left out silently, and the next takes its place."""
    bob = await sign_up(anonymous, "bob")
    status = await admin.post("unseen")
    await promote(admin, bob, statusId=status)
    await promote(admin, alice, userId=bob.id)
    ended = await promote(admin, alice)
    by_itself = await promotions.create(
        db, sponsor=number(alice.id), ends=1, subject={PromotionField.MEMBER: number(alice.id)}
    )
    assert by_itself
    shown = await promote(admin, bob)
    await admin.do("deletePost", postId=status)
    await admin.do("endPromotion", promotionId=ended)
    await db.one("DEL", keys.user(number(bob.id)))
    with logged() as lines:
        await _whole(alice, posts, shown)
    assert not [line for line in lines if line["log_level"] == "error"]


BROKEN: dict[str, list[Command]] = {
    "no record": [("DEL", "RECORD")],
    "no list": [("SET", "LIST", "x")],
    "no member of a list": [("ZADD", "LIST", 2**52, "x")],
    "no hash": [("SET", "RECORD", "x")],
    "no sponsor": [("HDEL", "RECORD", PromotionField.SPONSOR)],
    "no number": [("HSET", "RECORD", PromotionField.SPONSOR, "x")],
    "no words": [("HDEL", "RECORD", PromotionField.TEXT)],
    "broken sponsor": [("HDEL", "SPONSOR", UserField.LOGIN)],
    "broken status": [("HSET", "RECORD", PromotionField.STATUS, 4096), ("HSET", "STATUS", StatusField.TEXT, "x")],
    "status of another kind": [("HSET", "RECORD", PromotionField.STATUS, 4096), ("SET", "STATUS", "x")],
    "status that is a repost": [("HSET", "RECORD", PromotionField.STATUS, "QUOTE")],
}


@pytest.mark.parametrize("breaks", BROKEN)
async def test_broken(admin: Member, alice: Member, bob: Member, posts: list[str], db: Database, breaks: str) -> None:
    """A broken promotion affects neither its timeline nor other promotions; faults are logged."""
    promotion, other = await promote(admin, bob), await promote(admin, alice)
    quote = number(await bob.repost(await bob.post("unseen"), "look"))
    names = {
        "RECORD": keys.promotion(number(promotion)),
        "LIST": keys.promotions(),
        "SPONSOR": keys.user(number(bob.id)),
        "STATUS": keys.status(4096),
        "QUOTE": quote,
    }
    for command in BROKEN[breaks]:
        if command[0] == "SET":
            await db.one("DEL", names[command[1]])
        await db.one(*(names.get(word, word) for word in command))
    with logged() as lines:
        page = await read(alice, TIMELINES["home"], "first: 100")
    assert page.posts == posts
    expected = {"no list": [], "no member of a list": [promotion, other]}.get(breaks, [other])
    assert sorted(page.promotions) == sorted(expected)
    failed = [line for line in lines if line["log_level"] == "error"]
    assert bool(failed) == (breaks not in {"no record", "no hash", "status that is a repost"})


async def test_round_trips(services: Services, admin: Member, alice: Member, bob: Member, posts: list[str]) -> None:
    """Promotions, with all they show, are read in the round trips that a page makes anyway."""
    item = "... on Post { id author { login } viewerHasLiked }"
    subject = "subject { ... on Status { id author { login } viewerHasLiked } ... on User { login } }"
    nodes = f"nodes {{ {item} ... on Promotion {{ id sponsor {{ login }} {subject} }} }}"
    unseen = await bob.post("unseen")

    async def trips(timeline: str) -> int:
        query = f"{{ {timeline}(first: 30) {{ {nodes} }} }}"
        await alice.ask(query)  # the invalidation that promotions have begun to run may arrive only now
        services.db.round_trips = 0
        found = await alice.ask(query)
        promoted = [node for node in found["nodes"] if "subject" in node]
        assert len(promoted) == (3 if running else 0)
        return services.db.round_trips

    running: list[str] = []
    before = [await trips("homeTimeline"), await trips("publicTimeline")]
    running = [await promote(admin, bob, statusId=unseen), await promote(admin, bob, userId=bob.id)]
    running.append(await promote(admin, admin))
    assert posts
    assert [await trips("homeTimeline"), await trips("publicTimeline")] == before
    assert set(TIMELINES) == chosen.TIMELINES
