"""Pictures of posts: attaching them, showing them, and what is said of them."""

from typing import Any

import pytest

from resolvers.process.services import Services
from store.client.database import Database
from store.media.objects import PictureForm
from store.settings import Settings
from tests.support.conversations import start
from tests.support.exports.archives import export
from tests.support.page_costs import HOME, PAGE, cost
from tests.support.people import Member, contents, shrunk
from tests.support.pictures import BLURHASH, HEIGHT, IMAGE, WIDTH, content, image_id, pictures, ready_picture
from tests.support.work import number

POST = f"status {{ id text images {{ {IMAGE} }} }}"
NODE = (
    f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ text images {{ {IMAGE} }} }} ... on Image {{ {IMAGE} }} }} }}"
)


async def pictured(member: Member, images: list[dict[str, Any]], **fields: Any) -> Any:
    payload = await member.do("post", POST, images=images, **{"text": "", **fields})
    assert not payload["userErrors"], payload
    return payload["status"]


async def test_a_post_shows_its_pictures(db: Database, alice: Member, bob: Member) -> None:
    """Everybody who sees a post sees its pictures in their order, with what its author says of them."""
    inputs = await pictures(db, alice, 4)
    inputs[0] |= {"alt": ' a "quoted" [1,"ab",2, caf\u0065\u0301 ', "focus": {"x": -1, "y": 0.25}}
    post = await pictured(alice, inputs, text="look")
    seen = await bob.ask(NODE, id=post["id"])
    assert seen == {"text": "look", "images": post["images"]}
    assert [one["id"] for one in seen["images"]] == [image_id(one["uploadId"]) for one in inputs]
    first = seen["images"][0]
    assert (first["width"], first["height"], first["blurhash"]) == (WIDTH, HEIGHT, BLURHASH)
    assert first["alt"] == 'a "quoted" [1,"ab",2, caf\u00e9'
    assert first["focus"] == {"x": -1, "y": 0.25}
    assert seen["images"][1]["focus"] is None
    assert await bob.ask(NODE, id=first["id"]) == first


async def test_pictures_alone_are_a_post(db: Database, alice: Member) -> None:
    """A post with pictures may have no text, and one without pictures may not."""
    assert (await pictured(alice, await pictures(db, alice, 1)))["text"] == ""
    assert await alice.refused("post", text="", images=[]) == ("BLANK", ["text"])


async def test_what_cannot_be_attached(db: Database, alice: Member, bob: Member) -> None:
    """Each picture that cannot be attached is refused with its place and reason, and nothing changes."""
    await pictured(alice, [{"uploadId": (used := await ready_picture(db, alice))}])
    own = await ready_picture(db, alice)
    waiting = await ready_picture(db, alice)
    await db.one("HSET", f"image:{{{(n := int(waiting[-14:], 16)) >> 4 & 255}}}:{n}", "state", "PROCESSING")
    cases: list[tuple[str, tuple[str, list[str]]]] = [
        (await ready_picture(db, bob), ("NOT_FOUND", ["images", "1", "uploadId"])),
        ("upload_00000000000001", ("NOT_FOUND", ["images", "1", "uploadId"])),
        (alice.id, ("NOT_FOUND", ["images", "1", "uploadId"])),
        ("nonsense", ("INVALID", ["images", "1", "uploadId"])),
        (await ready_picture(db, alice, "MESSAGE"), ("INVALID", ["images", "1", "uploadId"])),
        (waiting, ("NOT_ALLOWED", ["images", "1", "uploadId"])),
        (used, ("NOT_ALLOWED", ["images", "1", "uploadId"])),
        (own, ("NOT_ALLOWED", ["images", "1", "uploadId"])),
    ]
    before = await contents(db)
    for upload, refusal in cases:
        assert await alice.refused("post", text="x", images=[{"uploadId": own}, {"uploadId": upload}]) == refusal
    assert await contents(db) == before


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ({"alt": "x" * 5_001}, ("TOO_LONG", ["images", "0", "alt"])),
        ({"alt": "a\u0007"}, ("INVALID", ["images", "0", "alt"])),
        ({"focus": {"x": 1.5, "y": 0}}, ("INVALID", ["images", "0", "focus", "x"])),
        ({"focus": {"x": 0, "y": -1.01}}, ("INVALID", ["images", "0", "focus", "y"])),
    ],
    ids=str,
)
async def test_what_cannot_be_said(
    db: Database, alice: Member, said: dict[str, Any], refusal: tuple[str, list[str]]
) -> None:
    """An alt text that is too long or has control characters is refused, and a focus outside the picture."""
    (one,) = await pictures(db, alice, 1)
    assert await alice.refused("post", text="x", images=[one | said]) == refusal
    assert len((await pictured(alice, [one | {"alt": "x" * 5_000}]))["images"][0]["alt"]) == 5_000


async def test_five_pictures(db: Database, alice: Member) -> None:
    """A fifth picture is refused, and a post has four."""
    inputs = await pictures(db, alice, 5)
    assert await alice.refused("post", text="x", images=inputs) == ("LIMIT_REACHED", ["images"])
    assert len((await pictured(alice, inputs[:4]))["images"]) == 4


async def test_a_retry_gets_the_first_post(db: Database, alice: Member) -> None:
    """A retry with the same key and pictures gets the first post, and other pictures are a conflict."""
    one, other = await pictures(db, alice, 2)
    first = await pictured(alice, [one], idempotencyKey="key")
    assert await pictured(alice, [one], idempotencyKey="key") == first
    assert await alice.refused("post", text="", images=[other], idempotencyKey="key") == (
        "CONFLICT",
        ["idempotencyKey"],
    )


class TestAltTextsRequired:
    """Where the operator requires alt texts."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, require_alt=True)

    async def test_pictures_without_alt(self, db: Database, alice: Member) -> None:
        """A picture without an alt text is refused."""
        (one,) = await pictures(db, alice, 1)
        assert await alice.refused("post", text="x", images=[one]) == ("BLANK", ["images", "0", "alt"])
        assert (await pictured(alice, [one | {"alt": "a wren"}]))["images"][0]["alt"] == "a wren"


async def test_an_export_has_the_pictures(db: Database, alice: Member, bob: Member) -> None:
    """An export names each picture with what the member said of it, and has its large form as a file."""
    (one,) = await pictures(db, alice, 1)
    post = await pictured(alice, [one | {"alt": "a wren"}])
    loose = await ready_picture(db, alice)
    talk = await start(bob, alice)
    await bob.do("sendMessage", conversationId=talk, text="", images=await pictures(db, bob, 1, "MESSAGE"))
    found = await export(alice)
    entries = {entry["id"]: entry for entry in found.entries("pictures")}
    image = post["images"][0]["id"]
    assert entries.keys() == {image, image_id(loose)}
    assert entries[image]["alt"] == "a wren"
    assert found.entries("posts")[0]["images"] == [{"id": image, "alt": "a wren", "file": f"pictures/{image}.webp"}]
    assert found.text(entries[image]["file"]).encode() == content(number(image), PictureForm.LARGE)
    assert len([name for name in found.names() if name.startswith("pictures/")]) == 2


class TestPageCosts:
    """Where no record is cached, so that every round trip counts."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return shrunk(settings, records_kept=0)

    async def test_pictures_cost_no_round_trip(
        self, db: Database, services: Services, alice: Member, bob: Member
    ) -> None:
        """A home of 30 posts with four pictures each, and avatars, takes as many round trips as one without."""
        await bob.follow(alice)
        (avatar,) = await pictures(db, alice, 1, "AVATAR")
        for number_of in range(PAGE):
            images = await pictures(db, alice, 4) if number_of % 2 else []
            await alice.post(f"post {number_of}", images=images)
        _, before = await cost(services, bob, HOME)
        await alice.do("updateProfile", avatar=avatar)
        with_pictures = HOME.replace("id text createdAt", f"id text images {{ {IMAGE} }} createdAt")
        with_pictures = with_pictures.replace("id login name", f"id login avatar {{ {IMAGE} }} name")
        found, after = await cost(services, bob, with_pictures)
        assert after == before
        assert sum(len(edge["node"]["images"]) for edge in found["edges"]) == PAGE // 2 * 4
        assert all(edge["node"]["author"]["avatar"] for edge in found["edges"])
