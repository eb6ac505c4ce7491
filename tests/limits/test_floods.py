"""Limits on posts, comments, likes, follows and messages per hour."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, contents, crowd, shrunk
from tests.support.probes.members import life, number
from tests.support.stored import find
from tests.support.writing import SETTINGS, WRITES, Scene, counts, forget

KINDS = sorted(WRITES)
MOST = 3
AT_ONCE = 8


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return shrunk(settings, rate_limit=100_000, new_member_hours=0, **dict.fromkeys(SETTINGS, MOST))


@pytest.fixture
async def scene(anonymous: Member, alice: Member, bob: Member, db: Database) -> Scene:
    others = await crowd(anonymous, AT_ONCE)
    posts = [await one.post("hello") for one in others]
    started = await bob.do("startConversation", "conversation { id }", userIds=[alice.id], text="hello")
    await forget(db)
    return Scene(alice, posts, others, started["conversation"]["id"])


def refused(payload: Any) -> bool:
    """Return whether a write was refused; the refusal must name the limit, and say when it ends."""
    if not payload["userErrors"]:
        return False
    (error,) = payload["userErrors"]
    assert error["code"] == "LIMIT_REACHED"
    assert re.search(r"at most 3 [a-z ]+ in an hour: try again in [0-9,]+ s$", error["message"])
    return True


@pytest.mark.parametrize("kind", KINDS)
async def test_the_limit(scene: Scene, db: Database, kind: str) -> None:
    """Three writes in an hour succeed. The fourth is refused and changes nothing, and a new hour begins anew."""
    write = WRITES[kind]
    for turn in range(MOST):
        assert not refused(await write(scene, turn))
    before = _without_requests(await contents(db))
    assert refused(await write(scene, MOST))
    assert _without_requests(await contents(db)) == before
    await forget(db)
    assert not refused(await write(scene, MOST))


def _without_requests(found: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of the store without the counts of requests, and of conversations that were begun."""
    return {key: value for key, value in found.items() if not key.startswith(("rate:", "attempts:", "rescore:"))}


@pytest.mark.parametrize("kind", KINDS)
async def test_writes_at_once(scene: Scene, db: Database, kind: str) -> None:
    """Of eight writes at the same moment exactly three succeed, and as many are counted."""
    answers = await asyncio.gather(*(WRITES[kind](scene, turn) for turn in range(AT_ONCE)))
    assert sorted(map(refused, answers)) == [False] * MOST + [True] * (AT_ONCE - MOST)
    assert list((await counts(db)).values()) == [MOST]


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_has_its_own_limit(scene: Scene, kind: str) -> None:
    """A member whose posts are used up still likes, and so on."""
    for turn in range(MOST):
        await WRITES[kind](scene, turn)
    same = {"post": "repost", "repost": "post", "sendMessage": "startConversation", "startConversation": "sendMessage"}
    for other in KINDS:
        if other not in {kind, same.get(kind)}:
            assert not refused(await WRITES[other](scene, MOST))


@pytest.mark.parametrize("kind", KINDS)
async def test_each_member_has_their_own_limit(scene: Scene, bob: Member, kind: str) -> None:
    """A member whose writes are used up does not keep others from writing."""
    for turn in range(MOST):
        await WRITES[kind](scene, turn)
    assert not refused(await WRITES[kind](Scene(bob, scene.posts, scene.others, scene.talk), 0))


@pytest.mark.parametrize("kind", ["like", "follow", "repost"])
async def test_repetitions_do_not_count(scene: Scene, db: Database, kind: str) -> None:
    """What is already done is neither counted nor refused."""
    for turn in range(MOST):
        for _ in range(3):
            assert not refused(await WRITES[kind](scene, turn))
        assert list((await counts(db)).values()) == [turn + 1]
    for turn in range(MOST):
        assert not refused(await WRITES[kind](scene, turn))
    assert refused(await WRITES[kind](scene, MOST))


RETRIES: dict[str, tuple[str, Callable[[Scene], dict[str, Any]]]] = {
    "post": ("status { id }", lambda _: {"text": "hello"}),
    "repost": ("repost { id }", lambda scene: {"postId": scene.posts[0], "text": "so"}),
    "comment": ("comment { id }", lambda scene: {"postId": scene.posts[0], "text": "well"}),
    "sendMessage": ("message { id }", lambda scene: {"conversationId": scene.talk, "text": "well"}),
    "startConversation": ("message { id }", lambda scene: {"userIds": [scene.others[0].id], "text": "well"}),
}


@pytest.mark.parametrize("kind", sorted(RETRIES))
async def test_retries_do_not_count(scene: Scene, db: Database, kind: str) -> None:
    """A retry gets the first result, also when the limit is reached, and is not counted."""
    selection, given = RETRIES[kind]
    fields = {**given(scene), "idempotencyKey": "once"}
    first = await scene.alice.do(kind, selection, **fields)
    assert not refused(first)
    assert await scene.alice.do(kind, selection, **fields) == first
    assert list((await counts(db)).values()) == [1]
    for turn in range(1, MOST):
        await WRITES[kind](scene, turn)
    assert refused(await WRITES[kind](scene, MOST))
    assert await scene.alice.do(kind, selection, **fields) == first


async def test_a_key_of_a_refused_write(scene: Scene, db: Database) -> None:
    """The key of a write that was refused can be used when the limit has ended."""
    for kind in ("comment", "sendMessage", "post"):
        selection, given = RETRIES[kind]
        for turn in range(MOST):
            await WRITES[kind](scene, turn)
        for text in ("other", "third"):
            assert refused(await scene.alice.do(kind, selection, **{**given(scene), "text": text}, idempotencyKey="k"))
        await forget(db)
        assert not refused(await scene.alice.do(kind, selection, **given(scene), idempotencyKey="k"))
        await forget(db)


async def test_refused_writes_do_not_count(scene: Scene, db: Database) -> None:
    """A write that is refused for another reason is not counted."""
    gone = await scene.others[0].post("soon gone")
    await scene.others[0].do("deletePost", postId=gone)
    await scene.others[1].do("updateProfile", messagesFrom="NOBODY")
    await forget(db)
    alice = scene.alice
    for _ in range(MOST + 1):
        assert (await alice.refused("like", postId=gone))[0] == "NOT_FOUND"
        assert (await alice.refused("comment", postId=gone, text="well"))[0] == "NOT_FOUND"
        reply = {"postId": scene.posts[0], "text": "well", "replyToId": gone.replace("status", "comment")}
        assert (await alice.refused("comment", **reply))[0] == "NOT_FOUND"
        assert (await alice.refused("follow", userIds=[alice.id]))[0] == "SELF"
        ids = [scene.others[1].id]
        assert (await alice.refused("startConversation", userIds=ids, text="well"))[0] == "NOT_ALLOWED"
        assert (await alice.refused("post", text=""))[0] == "BLANK"
    assert set((await counts(db)).values()) <= {0}


async def test_many_follows_in_one_mutation(scene: Scene, db: Database) -> None:
    """Of eight members followed at once, three are followed, and each of the others is refused by name."""
    payload = await scene.alice.do("follow", "users { id }", userIds=[one.id for one in scene.others])
    assert [error["field"] for error in payload["userErrors"]] == [
        ["userIds", str(place)] for place in range(MOST, AT_ONCE)
    ]
    assert {error["code"] for error in payload["userErrors"]} == {"LIMIT_REACHED"}
    followed = await scene.alice.ask("{ viewer { user { followingCount } } }")
    assert followed == {"user": {"followingCount": MOST}}
    assert await counts(db) == {"follows": MOST}


async def test_likes_of_one_document(scene: Scene, db: Database) -> None:
    """Eight likes in one document are eight likes: three succeed."""
    fields = "".join(
        f'a{i}: like(input: {{ postId: "{post}" }}) {{ userErrors {{ code message }} }} '
        for i, post in enumerate(scene.posts)
    )
    answer = await scene.alice.ask(f"mutation {{ {fields} }}")
    assert [refused(payload) for payload in answer.values()] == [False] * MOST + [True] * (AT_ONCE - MOST)
    liked = await scene.alice.ask(
        "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Status { likeCount } } }", ids=scene.posts
    )
    assert [post["likeCount"] for post in liked] == [1] * MOST + [0] * (AT_ONCE - MOST)
    assert await counts(db) == {"likes": MOST}


async def test_the_counts_expire(scene: Scene, db: Database) -> None:
    """The counts of an hour expire within two hours, and are deleted with the account before."""
    await WRITES["post"](scene, 0)
    (key,) = await find(db, "writes:*")
    assert 0 < await life(db, key) <= 3_600_000
    assert f":{number(scene.alice)}:" in key


class TestNewMembers:
    """A new member has a third of nine."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        nine = dict.fromkeys(SETTINGS, 9)
        return shrunk(settings, rate_limit=100_000, new_member_hours=24, new_member_percent=34, **nine)

    @pytest.mark.parametrize("kind", KINDS)
    async def test_the_first_day(self, scene: Scene, services: Services, kind: str) -> None:
        """On the first day a member has a share of the limit, and the refusal says why; then they have all of it."""
        for turn in range(MOST):
            assert not (await WRITES[kind](scene, turn))["userErrors"]
        (error,) = (await WRITES[kind](scene, MOST))["userErrors"]
        assert error["code"] == "LIMIT_REACHED"
        assert "at most 3 " in error["message"]
        assert "for a new member" in error["message"]
        services.settings = shrunk(services.settings, new_member_hours=0)
        assert not (await WRITES[kind](scene, MOST))["userErrors"]


class TestUnlimited:
    """RATE_LIMIT=0."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, rate_limit=0, same_text_targets=1, **dict.fromkeys(SETTINGS, 1))

    @pytest.mark.parametrize("kind", KINDS)
    async def test_no_limits(self, scene: Scene, db: Database, kind: str) -> None:
        """RATE_LIMIT=0 turns these limits off, and nothing is counted."""
        for turn in range(MOST):
            assert not (await WRITES[kind](scene, turn))["userErrors"]
        assert await counts(db) == {}


@pytest.mark.parametrize("kind", KINDS)
async def test_round_trips(scene: Scene, services: Services, kind: str) -> None:
    """The limits take no round trip: a write takes as many with them as without."""
    await asyncio.gather(*(one.follow(scene.alice) for one in scene.others))  # the limit on strangers takes one
    await WRITES[kind](scene, 0)  # reads what is cached from then on
    taken = []
    for turn, limit in enumerate((100_000, 0), 1):
        services.settings = shrunk(services.settings, rate_limit=limit)
        services.db.round_trips = 0
        assert not refused(await WRITES[kind](scene, turn))
        taken.append(services.db.round_trips)
    assert taken[0] == taken[1]
