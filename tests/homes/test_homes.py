"""Homes, public and hashtag timelines are bounded: the newest entries are kept, and removed ones never return."""

import asyncio

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store import follows, posts
from store.client.database import Database
from store.homes import stored
from store.posts import PostDraft
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, crowd, shrunk
from tests.support.work import number, work_off

SIZE, SLACK = 10, 2
NODES = "{ nodes { ... on Node { id } } }"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Timelines so short that a few posts fill them."""
    return shrunk(settings, home_size=SIZE, home_slack=SLACK, public_size=SIZE, hashtag_size=SIZE)


async def fill(author: Member, count: int, text: str = "post") -> list[str]:
    """Return the ids of new posts, oldest first."""
    return [await author.post(f"{text} {i}") for i in range(count)]


async def kept(member: Member, db: Database) -> list[str]:
    """Return the posts listed above the home's floor, newest first; all are statuses."""
    return [f"status_{entry.entity:014x}" for entry in await stored.home(db, number(member.id))]


async def assert_clean(db: Database) -> None:
    """Assert that the store equals what rule 3 computes from its facts."""
    assert (await verify.verify(db, homes=None, seed=0, progress=lambda _: None)).findings == []


async def test_the_newest_are_kept(services: Services, alice: Member, bob: Member) -> None:
    """A home holds up to HOME_SIZE and some slack; one entry more, and it is cut to the newest HOME_SIZE."""
    await alice.follow(bob)
    made = await fill(bob, SIZE + SLACK)
    assert await kept(alice, services.db) == made[::-1]
    assert await stored.floor(services.db, number(alice.id)) == 0
    made += await fill(bob, 1)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    assert await stored.floor(services.db, number(alice.id)) == number(made[-SIZE - 1])
    made += await fill(alice, SLACK + 1)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    await assert_clean(services.db)


async def test_a_home_trimmed_by_ones_own_posts(services: Services, alice: Member) -> None:
    """A member's own posts are bounded in their home but not in their profile."""
    made = await fill(alice, SIZE + SLACK + 1)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    profile = await alice.ask(f"{{ viewer {{ user {{ timeline(first: 100) {NODES} }} }} }}")
    assert [node["id"] for node in profile["user"]["timeline"]["nodes"]] == made[::-1]
    await assert_clean(services.db)


async def test_a_late_delivery_below_the_floor(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """A post delivered after newer posts have pushed its place below the floor is not added."""
    await alice.follow(bob)
    _, late, _ = accepted(await posts.create(services.db, PostDraft(number(bob.id), "late")))
    made = await fill(bob, SIZE + SLACK + 1)
    await work_off(services.db, worker)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    assert late not in {entry.entity for entry in await stored.home(services.db, number(alice.id))}
    await assert_clean(services.db)


async def test_a_follow_of_somebody_older(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A follow adds those of the member's posts that are above the floor, and no others."""
    older = await fill(carol, 3)
    made = await fill(alice, SIZE)
    newer = await fill(carol, 2)
    made += await fill(alice, SLACK + 1)
    await alice.follow(carol)
    wanted = [*made[3:SIZE], *newer, *made[SIZE:]]
    assert await kept(alice, services.db) == wanted[::-1]
    assert not set(await kept(alice, services.db)) & set(older)
    await alice.unfollow(carol)
    assert set(await kept(alice, services.db)) == set(made[3:])
    await alice.follow(bob)
    await assert_clean(services.db)


@pytest.mark.parametrize("older", [0, 1, 3])
async def test_a_follow_of_somebody_with_more_than_a_home(
    services: Services, alice: Member, bob: Member, older: int
) -> None:
    """Following a member with a long profile adds its newest posts, and the floor lies just below them."""
    await fill(alice, older)
    made = await fill(bob, SIZE + SLACK + 5)
    await alice.follow(bob)
    home = await kept(alice, services.db)
    assert home == made[: -len(home) - 1 : -1]
    assert SIZE <= len(home) <= SIZE + SLACK
    assert await stored.floor(services.db, number(alice.id)) == number(made[-len(home) - 1])
    await assert_clean(services.db)


async def test_an_old_post_passed_on_now(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """A stranger's post older than the floor is added at the first repost by a followed member."""
    old = await carol.post("old")
    await alice.follow(bob)
    made = await fill(alice, SIZE + SLACK + 1)
    await bob.repost(old)
    assert await kept(alice, services.db) == [old, *made[: -SIZE - 1 : -1]]
    await assert_clean(services.db)


async def test_an_old_post_passed_on_again(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """A post that was trimmed from the home is not added again when another followed member reposts it."""
    (dave,) = await crowd(anonymous, 1)
    old, mine = await dave.post("old"), await bob.post("by somebody followed")
    await alice.follow(bob, carol)
    await bob.repost(old)
    made = await fill(alice, SIZE + SLACK)
    await carol.repost(old)
    await carol.repost(mine)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    await assert_clean(services.db)


async def test_an_old_post_whose_reposter_is_followed_later(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """A follow does not add a post that an earlier repost, now below the floor, had added before."""
    (dave,) = await crowd(anonymous, 1)
    old, fresh = await dave.post("old"), await dave.post("fresh")
    await alice.follow(bob)
    await bob.repost(old)
    made = await fill(alice, SIZE + SLACK)
    await carol.repost(old)
    await carol.repost(fresh)
    await alice.follow(carol)
    assert await kept(alice, services.db) == [fresh, *made[: -SIZE - 1 : -1]]
    await assert_clean(services.db)


async def test_an_older_repost_that_comes_late(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member, worker: Worker
) -> None:
    """A repost below the floor, delivered after a newer one, moves the post to its own place, out of the home."""
    (dave,) = await crowd(anonymous, 1)
    old = await dave.post("old")
    await alice.follow(bob, carol)
    accepted(
        await posts.create(
            services.db, PostDraft(number(bob.id), "", original=number(old), original_author=number(dave.id))
        )
    )
    made = await fill(alice, SIZE + SLACK + 1)
    await carol.repost(old)
    assert await kept(alice, services.db) == [old, *made[: -SIZE - 1 : -1]]
    await work_off(services.db, worker)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    await assert_clean(services.db)


async def test_an_older_repost_by_somebody_with_more_than_a_home(
    services: Services, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """A follow removes a post listed at a newer repost if the followed member reposted it before, below the floor."""
    (dave,) = await crowd(anonymous, 1)
    old = await dave.post("old")
    await alice.follow(bob)
    await carol.repost(old)
    made = await fill(carol, SIZE + SLACK + 1)
    await bob.repost(old)
    assert await kept(alice, services.db) == [old]
    await alice.follow(carol)
    home = await kept(alice, services.db)
    assert home == made[: -len(home) - 1 : -1]
    await assert_clean(services.db)


async def test_an_old_author_followed_later(services: Services, alice: Member, bob: Member, carol: Member) -> None:
    """Following the author moves a post to its own place, out of the home if that is below the floor."""
    old = await carol.post("old")
    await alice.follow(bob)
    made = await fill(alice, SIZE + SLACK + 1)
    await bob.repost(old)
    assert old in await kept(alice, services.db)
    await alice.follow(carol)
    assert await kept(alice, services.db) == made[: -SIZE - 1 : -1]
    await assert_clean(services.db)


async def test_a_delete_leaves_a_gap(services: Services, alice: Member, bob: Member) -> None:
    """After a delete the home is one shorter: what it trimmed is not added again."""
    await alice.follow(bob)
    made = await fill(bob, SIZE + SLACK + 1)
    await bob.do("deletePost", postId=made[-2])
    assert await kept(alice, services.db) == [made[-1], *made[-3 : -SIZE - 1 : -1]]
    await assert_clean(services.db)


async def test_reading_while_posts_arrive(alice: Member, bob: Member) -> None:
    """Paging back repeats and skips nothing while new posts arrive; paging forward from the first page finds these."""
    await alice.follow(bob)
    made = await fill(bob, 6)
    page_info = "pageInfo { startCursor endCursor hasNextPage hasPreviousPage }"
    query = f"query($first: Int, $after: String, $last: Int, $before: String) {{ homeTimeline(first: $first, \
after: $after, last: $last, before: $before) {{ nodes {{ ... on Node {{ id }} }} {page_info} }} }}"
    top = await alice.ask(query, first=2)
    new = await fill(bob, 3)
    older = await alice.ask(query, first=3, after=top["pageInfo"]["endCursor"])
    last = await alice.ask(query, first=3, after=older["pageInfo"]["endCursor"])
    read = [node["id"] for page in (top, older, last) for node in page["nodes"]]
    assert read == made[::-1]
    assert (older["pageInfo"]["hasNextPage"], last["pageInfo"]["hasNextPage"]) == (True, False)
    newer = await alice.ask(query, last=2, before=top["pageInfo"]["startCursor"])
    assert [node["id"] for node in newer["nodes"]] == [new[1], new[0]]
    assert (newer["pageInfo"]["hasPreviousPage"], newer["pageInfo"]["hasNextPage"]) == (True, True)
    newest = await alice.ask(query, last=2, before=newer["pageInfo"]["startCursor"])
    assert [node["id"] for node in newest["nodes"]] == [new[2]]
    assert newest["pageInfo"]["hasPreviousPage"] is False
    between = {"after": newer["pageInfo"]["startCursor"], "before": older["pageInfo"]["startCursor"]}
    span = [node["id"] for node in (await alice.ask(query, first=9, **between))["nodes"]]
    assert span == [new[0], made[5], made[4]]


PUBLIC = (
    f'{{ publicTimeline(first: 100) {NODES} hashtag(name: "#Tea") {{ name postCount timeline(first: 100) {NODES} }} }}'
)


async def test_public_and_hashtags(services: Services, anonymous: Member, alice: Member, bob: Member) -> None:
    """Public and hashtags hold everybody's newest statuses and quotes up to their bound, and no plain reposts."""
    made = await fill(alice, SIZE - 1, "#tea #TEA")
    await bob.repost(made[0])
    made += [await bob.repost(made[0], "a quote with #Tea"), await bob.post("#tea"), await bob.post("green #tea")]
    await bob.repost(made[-2])
    answer = await anonymous.ask(PUBLIC)
    newest = [{"id": post} for post in made[: -SIZE - 1 : -1]]
    assert answer["publicTimeline"]["nodes"] == newest
    assert answer["hashtag"] == {"name": "tea", "postCount": SIZE, "timeline": {"nodes": newest}}
    await bob.do("deletePost", postId=made[-1])
    await alice.post("no tag")
    answer = await anonymous.ask(PUBLIC)
    assert answer["hashtag"]["postCount"] == SIZE - 1
    assert answer["hashtag"]["timeline"]["nodes"] == newest[1:]
    assert len(answer["publicTimeline"]["nodes"]) == SIZE
    await assert_clean(services.db)


async def test_a_post_too_old_for_public(services: Services, anonymous: Member, alice: Member, worker: Worker) -> None:
    """A post delivered after enough newer ones is not added to public or its hashtags."""
    draft = PostDraft(number(alice.id), "#tea", hashtags=("tea",))
    accepted(await posts.create(services.db, draft))
    made = await fill(alice, SIZE, "#tea")
    await work_off(services.db, worker)
    answer = await anonymous.ask(PUBLIC)
    assert answer["publicTimeline"]["nodes"] == answer["hashtag"]["timeline"]["nodes"]
    assert answer["publicTimeline"]["nodes"] == [{"id": post} for post in reversed(made)]


async def test_a_tag_nobody_uses(anonymous: Member, alice: Member) -> None:
    """A hashtag is null before the first post with it, and after the last one is deleted."""
    assert (await anonymous.ask(PUBLIC))["hashtag"] is None
    post = await alice.post("#tea")
    assert (await anonymous.ask(PUBLIC))["hashtag"]["postCount"] == 1
    await alice.do("deletePost", postId=post)
    assert (await anonymous.ask(PUBLIC))["hashtag"] is None


async def test_many_posts_at_once(services: Services, anonymous: Member, alice: Member) -> None:
    """Homes filled by many members at once all hold the same newest posts."""
    many = await crowd(anonymous, 8)
    await alice.follow(*many)
    made = await asyncio.gather(*(member.post(f"post {i}") for member in many for i in range(3)))
    newest = sorted(made, key=number, reverse=True)
    home = await kept(alice, services.db)
    assert home == newest[: len(home)]
    assert SIZE <= len(home) <= SIZE + SLACK
    await assert_clean(services.db)


async def test_a_follow_below_a_floor_done_late(services: Services, alice: Member, bob: Member, worker: Worker) -> None:
    """A follow whose job runs after the home was trimmed adds only what is above the floor by then."""
    old = await bob.post("old")
    await follows.follow(services.db, number(alice.id), [number(bob.id)])
    made = await fill(alice, SIZE + SLACK + 1)
    new = await bob.post("new")
    await work_off(services.db, worker)
    assert await kept(alice, services.db) == [new, *made[: -SIZE - 1 : -1]]
    assert old not in await kept(alice, services.db)
    await assert_clean(services.db)
