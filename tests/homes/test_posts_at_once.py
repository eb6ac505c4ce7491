"""A plain status to few followers is delivered by the script that commits it, as its job would deliver it."""

from dataclasses import replace
from typing import Any

import pytest

from resolvers.jobs.dispatch import finish
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.rules import ranking
from resolvers.upkeep import verify
from store import keys, posts
from store.client.database import Database
from store.events import log
from store.hashtags import hour_of
from store.ids import instant
from store.posts import Delivered, PostDraft
from store.records.posts import Location
from store.refusals import accepted
from store.settings import Settings
from tests.support.people import Member, make_private, shrunk
from tests.support.work import dump, number, photograph, put_back, waiting, work_off

INLINE = 3
SHOWN = "status { id text createdAt likeCount viewerHasLiked author { id login isFollowingViewer postCount } }"
BY_THE_MOMENT = ("important:", keys.event_ids())  # Keys whose contents depend on the moment.


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """More than two followers leave the delivery to a job."""
    return shrunk(settings, fanout_inline=INLINE)


@pytest.fixture
async def one_server(services: Services, alice: Member, bob: Member, carol: Member) -> Database:
    """The database, with two followers of Alice; skips on a cluster, where each delivery is a job."""
    for member in (bob, carol):
        await member.follow(alice)
    if services.db.is_cluster:
        pytest.skip("a script of a cluster uses keys of one slot")
    return services.db


async def as_text(db: Database, post: int) -> dict[str, str]:
    """Return the contents of the store without what differs by the moment, and without the post's id."""
    held = await dump(db)
    return {
        name.replace(str(post), "POST"): str(value).replace(str(post), "POST")
        for name, value in held.items()
        if not name.startswith(BY_THE_MOMENT)
    }


async def test_round_trips(one_server: Database, alice: Member, bob: Member, carol: Member) -> None:
    """A post takes two round trips, its answer included: the session check, and the script. No job is left."""
    await alice.post("reads what is cached from then on")
    one_server.round_trips = 0
    made = (await alice.do("post", SHOWN, text="hello"))["status"]
    assert one_server.round_trips == 2
    assert await waiting(one_server) == []
    shown = await bob.ask(f'{{ nodes(ids: ["{made["id"]}"]) {{ ... on Status {{ id text createdAt likeCount }} }} }}')
    assert made == {
        **shown[0],
        "viewerHasLiked": False,
        "author": {"id": alice.id, "login": "alice", "isFollowingViewer": False, "postCount": 2},
    }
    for member in (alice, bob, carol):
        assert (await member.home())[0] == made["id"]


@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.parametrize("place", [None, Location(0.1, -7.25)], ids=["nowhere", "somewhere"])
@pytest.mark.parametrize("tags", [(), ("tea", "数据", "tea")], ids=["untagged", "tagged"])
async def test_the_same_as_by_a_job(
    one_server: Database, alice: Member, place: Location | None, tags: tuple[str, ...], *, is_private: bool
) -> None:
    """The store is the same after a delivery at once as after the job of the same post."""
    if is_private:
        await make_private(alice)
    draft = PostDraft(number(alice.id), 'über "all"/\n数据', hashtags=tags, location=place)
    before = await photograph(one_server)
    _, late, job = accepted(await posts.create(one_server, draft))
    await finish(one_server, job)
    expected = await as_text(one_server, late)
    await put_back(one_server, before)
    delivered = await posts.publish(one_server, draft, ranking.DECADE_SECONDS)
    assert isinstance(delivered, Delivered)
    assert await as_text(one_server, delivered.post.id) == expected
    assert delivered.post == await posts.post(one_server, delivered.post.id)
    score = None if is_private else ranking.score(instant(delivered.post.id))
    for _, ranking_key in keys.ranked_lists(tags):
        stored = await one_server.one("ZSCORE", ranking_key, delivered.post.id)
        assert (stored and float(stored)) == score
    uses = await one_server.ask(*(("ZSCORE", keys.tag_uses(hour_of(instant(delivered.post.id))), tag) for tag in tags))
    assert uses == [None if is_private else "1"] * len(tags)


@pytest.mark.parametrize("text", ["hi @bob", "to many"])
async def test_left_to_a_job(
    services: Services, one_server: Database, anonymous: Member, alice: Member, text: str
) -> None:
    """A post that names a member, and one to FANOUT_INLINE followers, is delivered by a job."""
    if text == "to many":
        services.db.settings = replace(services.db.settings, fanout_inline=2)
    draft = PostDraft(number(alice.id), text, mentions=(number(alice.id),) * ("@" in text))
    _, _, job = accepted(await posts.publish(one_server, draft, ranking.DECADE_SECONDS))
    assert job is not None


async def test_an_error_half_way(
    services: Services, one_server: Database, alice: Member, bob: Member, carol: Member, worker: Worker
) -> None:
    """Where a home is damaged, the post is answered, and a job delivers it once the damage is mended."""
    home, buffered = keys.home(number(carol.id)), keys.newest(number(carol.id))
    await one_server.ask(("DEL", home, buffered), ("SET", home, "damaged"))
    post = await alice.post("hello")
    (job,) = await waiting(one_server)
    assert job.id == number(post)
    await one_server.one("DEL", home)
    await work_off(one_server, worker)
    for member in (alice, bob, carol):
        assert await member.home() == [post]
    events: list[Any] = [event.post for event in await log.between(one_server, log.START) if event.kind == "post"]
    assert events == [number(post)]
    assert (await verify.verify(one_server, homes=None, seed=0, progress=lambda _: None)).findings == []
