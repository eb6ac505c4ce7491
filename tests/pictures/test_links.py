"""Links to pictures: who gets one, what it answers, and when it ends."""

import re
from typing import Any

import pytest

from resolvers.rules import links
from resolvers.rules.links import PictureLink
from store.client.database import Database
from store.media.objects import PictureForm
from tests.support.conversations import start
from tests.support.people import PASSWORD, SECRET, Member
from tests.support.pictures import content, objects, pictures, ready_picture, status_of
from tests.support.work import number

IMAGES = "images { id url small: url(size: SMALL) }"


async def pictured(db: Database, member: Member, count: int = 1) -> dict[str, Any]:
    """Return a new post with pictures."""
    payload = await member.do("post", f"status {{ id {IMAGES} }}", text="x", images=await pictures(db, member, count))
    assert not payload["userErrors"]
    found: dict[str, Any] = payload["status"]
    return found


async def urls(viewer: Member, post: str) -> list[str]:
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ {IMAGES} }} }} }}"
    found = await viewer.ask(query, id=post)
    return [image["url"] for image in found["images"]] if found else []


async def test_a_link_sends_the_picture(db: Database, alice: Member, anonymous: Member) -> None:
    """Both forms are sent as WebP, and nothing in the answer lets a browser take them for anything else."""
    (image,) = (await pictured(db, alice))["images"]
    for url, form in ((image["url"], PictureForm.LARGE), (image["small"], PictureForm.SMALL)):
        async with anonymous.client.get(url) as response:
            assert (response.status, await response.read()) == (200, content(number(image["id"]), form))
            assert response.headers["Content-Type"] == "image/webp"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
            caching = re.fullmatch(r"private, max-age=(\d+), immutable", response.headers["Cache-Control"])
            assert caching
            assert links.GRID - 60 < int(caching[1]) <= 2 * links.GRID


async def test_conditional_and_range_requests(db: Database, alice: Member) -> None:
    """A client that has the picture is told so, and may ask for a part of it."""
    (image,) = (await pictured(db, alice))["images"]
    whole = content(number(image["id"]), PictureForm.LARGE)
    async with alice.client.get(image["url"]) as response:
        tag = response.headers["ETag"]
    async with alice.client.get(image["url"], headers={"If-None-Match": tag}) as response:
        assert (response.status, await response.read()) == (304, b"")
    async with alice.client.get(image["url"], headers={"Range": "bytes=2-5"}) as response:
        assert (response.status, await response.read()) == (206, whole[2:6])
        assert response.headers["Content-Range"] == f"bytes 2-5/{len(whole)}"
    async with alice.client.get(image["url"], headers={"Range": "bytes=999-"}) as response:
        assert response.status == 416
    async with alice.client.head(image["url"]) as response:
        assert (response.status, response.content_length) == (200, len(whole))


async def test_a_changed_link_does_not_work(db: Database, alice: Member) -> None:
    """Any part that is changed, guessed or left out makes a link that answers as one to nothing."""
    one, other = (await pictured(db, alice, 2))["images"]
    url: str = one["url"]
    changed = [
        url.replace("large", "small"),
        url.replace("large", "original"),
        url.replace(one["url"].split("/")[2], other["url"].split("/")[2]),
        re.sub(r"expires=\d+", lambda found: f"expires={int(found[0][8:]) + links.GRID}", url),
        re.sub(r"version=\d+", "version=2", url),
        url + "&message=5",
        re.sub(r"signature=\w+", "signature=" + 32 * "0", url),
        re.sub(r"&signature=\w+", "", url),
        url.partition("?")[0],
        re.sub(r"version=\d+", "version=x", url),
        re.sub(r"expires=\d+", "expires=" + "9" * 40, url),
    ]
    assert await status_of(alice, url) == 200
    assert [await status_of(alice, bad) for bad in changed] == [404] * len(changed)


def test_links_end() -> None:
    """A link works until it expires. It is the same for half a day, and lasts for 12 to 24 hours."""
    for now in (0, 5, links.GRID - 1, links.GRID, 1e9):
        expires = links.expiry(now)
        link = PictureLink(1, "ab", "large", 1, 0, expires)
        signed = links.signature(SECRET, link)
        assert links.GRID < expires - now <= 2 * links.GRID
        assert links.is_valid(SECRET, link, signed, now)
        assert links.is_valid(SECRET, link, signed, expires - 1)
        assert not links.is_valid(SECRET, link, signed, expires)
        assert not links.is_valid("another secret", link, signed, now)
    assert links.expiry(0) == links.expiry(links.GRID - 1) != links.expiry(links.GRID)


def test_a_link_from_the_future() -> None:
    """A link that would last longer than any that is made is refused, although its signature is right."""
    link = PictureLink(1, "ab", "large", 1, 0, 5 * links.GRID)
    assert not links.is_valid(SECRET, link, links.signature(SECRET, link), 0)


async def test_deleting_a_post_ends_its_links(db: Database, alice: Member) -> None:
    """The links end with the post, and its objects are removed."""
    post, kept = await pictured(db, alice, 2), await pictured(db, alice)
    assert len(await objects(db)) == 3
    assert await alice.do("deletePost", "deletedPostId", postId=post["id"]) == {
        "deletedPostId": post["id"],
        "userErrors": [],
    }
    assert [await status_of(alice, image["url"]) for image in post["images"]] == [404, 404]
    assert len(await objects(db)) == 1
    assert await status_of(alice, kept["images"][0]["url"]) == 200


async def test_hiding_a_post_ends_its_links(db: Database, alice: Member, bob: Member) -> None:
    """The links of a post that is hidden end at once. Its author gets new ones, and others when it is shown again."""
    post = await pictured(db, alice, 2)
    await alice.do("hidePost", postId=post["id"])
    assert [await status_of(alice, image["url"]) for image in post["images"]] == [404, 404]
    assert await urls(bob, post["id"]) == []
    fresh = await urls(alice, post["id"])
    assert [await status_of(bob, url) for url in fresh] == [200, 200]
    await alice.do("unhidePost", postId=post["id"])
    assert await urls(bob, post["id"]) == fresh


async def test_replacing_an_avatar_ends_its_link(db: Database, alice: Member, bob: Member) -> None:
    """A replaced or removed avatar has no link and no objects, and the header stays."""
    selection = "viewer { user { avatar { id url alt } header { url } } }"

    async def update(**fields: Any) -> Any:
        payload = await alice.do("updateProfile", selection, **fields)
        assert not payload["userErrors"]
        return payload["viewer"]["user"]

    one, other = [await ready_picture(db, alice, "AVATAR") for _ in range(2)]
    header = await ready_picture(db, alice, "HEADER")
    first = await update(avatar={"uploadId": one}, header={"uploadId": header})
    assert await update(name="Alice") == first
    again = await update(avatar={"uploadId": one, "alt": "me"})
    assert again["avatar"] == first["avatar"] | {"alt": "me"}
    second = await update(avatar={"uploadId": other})
    assert await status_of(bob, first["avatar"]["url"]) == 404
    assert await status_of(bob, second["avatar"]["url"]) == 200
    assert len(await objects(db)) == 2
    assert await update(avatar=None) == {"avatar": None, "header": first["header"]}
    assert await status_of(bob, second["avatar"]["url"]) == 404
    assert await status_of(bob, first["header"]["url"]) == 200
    assert await alice.refused("updateProfile", avatar={"uploadId": one}) == ("NOT_FOUND", ["avatar", "uploadId"])


async def test_a_deleted_account_has_no_links(db: Database, alice: Member, bob: Member, worker: Any) -> None:
    """The links of posts and profile end at the commit, the objects go with the jobs; messages keep their pictures."""
    post = await pictured(db, alice)
    payload = await alice.do(
        "updateProfile",
        "viewer { user { avatar { url } } }",
        avatar={"uploadId": await ready_picture(db, alice, "AVATAR")},
    )
    avatar = payload["viewer"]["user"]["avatar"]["url"]
    await ready_picture(db, alice)
    conversation = await start(alice, bob)
    sent = await alice.do(
        "sendMessage",
        f"message {{ id {IMAGES} }}",
        conversationId=conversation,
        text="",
        images=await pictures(db, alice, 1, "MESSAGE"),
    )
    assert not sent["userErrors"]
    await alice.do("deleteAccount", password=PASSWORD)
    assert [await status_of(bob, url) for url in (avatar, post["images"][0]["url"])] == [404, 404]
    await worker.run_once()
    assert await status_of(bob, sent["message"]["images"][0]["url"]) == 200
    assert len(await objects(db)) == 1


async def test_deleting_a_message_ends_its_links(db: Database, alice: Member, bob: Member) -> None:
    """Participants see the pictures of a message, and its deletion ends their links and removes the objects."""
    conversation = await start(alice, bob)
    inputs = await pictures(db, alice, 2, "MESSAGE")
    inputs[1]["alt"] = "a wren"
    fields = {"conversationId": conversation, "text": "", "images": inputs, "idempotencyKey": "key"}
    sent = await alice.do("sendMessage", f"message {{ id text {IMAGES} }}", **fields)
    assert not sent["userErrors"]
    assert await alice.do("sendMessage", f"message {{ id text {IMAGES} }}", **fields) == sent
    message = sent["message"]
    last = "viewer { conversations { nodes { lastMessage { images { id alt url } } } } }"
    seen = (await bob.ask(f"{{ {last} }}"))["conversations"]["nodes"][0]["lastMessage"]["images"]
    assert [image["alt"] for image in seen] == ["", "a wren"]
    assert [image["url"] for image in seen] == [image["url"] for image in message["images"]]
    node = "query($id: ID!) { node(id: $id) { ... on Image { alt } } }"
    assert await bob.ask(node, id=seen[1]["id"]) == {"alt": "a wren"}
    changed = await alice.do("updateImage", "image { alt }", imageId=seen[1]["id"], alt="two wrens")
    assert changed == {"image": {"alt": "two wrens"}, "userErrors": []}
    assert [await status_of(bob, image["url"]) for image in seen] == [200, 200]
    assert await alice.refused("sendMessage", **(fields | {"idempotencyKey": "other"})) == (
        "NOT_ALLOWED",
        ["images", "0", "uploadId"],
    )
    assert await alice.refused("sendMessage", **(fields | {"images": inputs[:1]})) == ("CONFLICT", ["idempotencyKey"])
    await alice.do("deleteMessage", messageId=message["id"])
    assert [await status_of(bob, image["url"]) for image in seen] == [404, 404]
    assert await objects(db) == set()


async def test_a_message_that_is_refused_gives_its_pictures_back(db: Database, alice: Member, bob: Member) -> None:
    """After a refusal the pictures can be sent to somebody else."""
    conversation = await start(alice, bob)
    await bob.do("leaveConversation", conversationId=conversation)
    images = await pictures(db, alice, 1, "MESSAGE")
    fields = {"text": "", "images": images}
    assert await alice.refused("sendMessage", conversationId=conversation, **fields) == (
        "NOT_ALLOWED",
        ["conversationId"],
    )
    again = await start(alice, bob)
    payload = await alice.do("sendMessage", f"message {{ {IMAGES} }}", conversationId=again, **fields)
    assert not payload["userErrors"]


async def test_the_end_of_a_conversation_removes_its_pictures(db: Database, alice: Member, bob: Member) -> None:
    """When the last participant leaves, links end and objects go."""
    conversation = await start(alice, bob)
    images = await pictures(db, alice, 1, "MESSAGE")
    sent = await alice.do(
        "sendMessage", f"message {{ {IMAGES} }}", conversationId=conversation, text="x", images=images
    )
    for member in (alice, bob):
        await member.do("leaveConversation", conversationId=conversation)
    assert await status_of(bob, sent["message"]["images"][0]["url"]) == 404
    assert await objects(db) == set()


@pytest.mark.parametrize("attached", [False, True])
async def test_what_is_said_of_a_picture(db: Database, alice: Member, bob: Member, attached: bool) -> None:
    """Its author changes alt text and focus once it belongs to a post, and nobody else ever does."""
    upload = await ready_picture(db, alice)
    image = upload.replace("upload", "image")
    if not attached:
        assert await alice.refused("updateImage", imageId=image, alt="x") == ("NOT_ALLOWED", ["imageId"])
        return
    inputs = [{"uploadId": upload, "alt": "one"}, *await pictures(db, alice, 1)]
    await alice.do("post", text="", images=inputs)
    selection = "image { id alt focus { x y } }"
    changed = await alice.do("updateImage", selection, imageId=image, focus={"x": 1, "y": -0.5})
    assert changed["image"] == {"id": image, "alt": "one", "focus": {"x": 1, "y": -0.5}}
    changed = await alice.do("updateImage", selection, imageId=image, alt="")
    assert changed["image"] == {"id": image, "alt": "", "focus": {"x": 1, "y": -0.5}}
    changed = await alice.do("updateImage", selection, imageId=image, focus={"x": 0, "y": 0})
    assert changed["image"]["focus"] is None
    assert await bob.refused("updateImage", imageId=image, alt="x") == ("NOT_FOUND", ["imageId"])
    assert await alice.refused("updateImage", imageId=image, alt="x" * 5_001) == ("TOO_LONG", ["alt"])
    assert await alice.refused("updateImage", imageId=image, focus={"x": 2, "y": 0}) == ("INVALID", ["focus", "x"])
