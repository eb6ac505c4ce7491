"""What an export contains: all of the member's data, and nothing of others that the member could not see."""

import inspect

import pytest

from resolvers import accounts
from resolvers.archives import archive, viewing
from resolvers.archives.sections import NOT_EXPORTED, SECTIONS
from resolvers.jobs.worker import Worker
from store.client.database import Database
from store.credentials.records import Role
from store.keys import groups, members, messaging, pictures, posts
from tests.support.exports.archives import Archive, export
from tests.support.moderation.acts import appoint, report, resolve
from tests.support.people import PASSWORD, Member, make_private
from tests.support.work import work_off


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "BATCH", 2)
    monkeypatch.setattr(archive, "ENTRIES_PER_FILE", 3)


async def send(member: Member, text: str, *others: Member) -> str:
    payload = await member.do(
        "startConversation", "conversation { id }", userIds=[other.id for other in others], text=text
    )
    assert payload["userErrors"] == [], payload
    identity: str = payload["conversation"]["id"]
    return identity


def texts(found: Archive, section: str) -> list[str]:
    return [entry["text"] for entry in found.entries(section)]


def of_posts(found: Archive, section: str) -> list[str]:
    return [entry["post"]["text"] for entry in found.entries(section)]


def logins(found: Archive, section: str) -> list[str]:
    return [entry["member"]["login"] for entry in found.entries(section)]


async def test_everything(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """An export has each kind of data that the member has, and names others as the member sees them."""
    await alice.do("updateProfile", login="alice_a", bio="I <b>bird</b>")
    await alice.follow(bob)
    await carol.follow(alice)
    await make_private(carol)
    await bob.do("follow", userIds=[carol.id])
    theirs = await bob.post("theirs @alice_a")
    mine = [await alice.post(f"mine {number} #tea") for number in range(4)]
    quote = await alice.repost(theirs, "my quote")
    await alice.repost(theirs)
    answer = await alice.post("my answer", inReplyToId=theirs)
    await alice.do("hidePost", postId=mine[1])
    await alice.do("pinPost", postId=mine[0])
    for post in (theirs, mine[0]):
        await alice.do("like", postId=post)
        await alice.do("favourite", postId=post)
        for word in ("one", "two", "three"):
            await alice.do("comment", postId=post, text=word)
    await alice.do("mute", userIds=[carol.id])
    group = (await alice.do("createGroup", "group { id }", name="Birds", kind="PRIVATE"))["group"]["id"]
    in_group = await alice.post("in the group", groupId=group)
    talk = await send(alice, "hello bob", bob)
    await bob.do("sendMessage", conversationId=talk, text="hello alice")
    await work_off(db, worker)

    found = await export(alice)

    (profile,) = found.entries("profile")
    assert {name: profile[name] for name in ("id", "login", "name", "bio", "email", "isPrivate", "pinnedPostId")} == {
        "id": alice.id,
        "login": "alice_a",
        "name": "Alice",
        "bio": "I <b>bird</b>",
        "email": "alice@example.org",
        "isPrivate": False,
        "pinnedPostId": mine[0],
    }
    assert len(found.entries("sessions")) == 1
    assert [entry["login"] for entry in found.entries("former-logins")] == ["alice"]
    own = {entry["id"]: entry for entry in found.entries("posts")}
    assert [*own][:4] == mine
    assert [entry["kind"] for entry in own.values()] == [*["status"] * 4, "quote", "repost", "status", "status"]
    assert own[mine[1]]["isHidden"]
    assert own[quote]["original"]["text"] == "theirs @alice_a"
    assert own[answer]["inReplyTo"]["id"] == theirs
    assert own[in_group]["group"] == {"id": group, "name": "Birds"}
    assert sorted(texts(found, "comments")) == sorted(["one", "two", "three"] * 2)
    assert of_posts(found, "likes") == of_posts(found, "favourites") == ["theirs @alice_a", "mine 0 #tea"]
    assert (logins(found, "following"), logins(found, "followers"), logins(found, "muted")) == (
        ["bob"],
        ["carol"],
        ["carol"],
    )
    assert [(entry["name"], entry["role"]) for entry in found.entries("groups")] == [("Birds", "OWNER")]
    assert [[one["login"] for one in entry["participants"]] for entry in found.entries("conversations")] == [
        sorted(["alice_a", "bob"], key=lambda login: {"alice_a": alice.id, "bob": bob.id}[login])
    ]
    first, second = found.entries("messages")
    assert [(one["sender"]["login"], one["text"]) for one in (first, second)] == [
        ("alice_a", "hello bob"),
        ("bob", "hello alice"),
    ]
    assert found.entries("conversations")[0]["readUpToId"] is None
    await alice.do("markConversationRead", conversationId=talk, upToId=first["id"])
    assert (await export(alice)).entries("conversations")[0]["readUpToId"] == first["id"]
    assert {entry["kind"] for entry in found.entries("notifications")} == {"MENTION"}
    asked = await export(bob)
    assert logins(asked, "asked-to-follow") == ["carol"]
    assert logins(await export(carol), "follow-requests") == ["bob"]


async def test_no_secrets(db: Database, alice: Member) -> None:
    """An export has no password, no token and no hash of either."""
    (hashed,) = [await db.one("HGET", key, "password") for key in [members.credentials(int(alice.id[5:], 16))]]
    whole = (await export(alice)).whole()
    secrets = [PASSWORD, hashed, alice.refresh_token, alice.token or "", alice.device_token]
    assert [one for one in secrets if one in whole] == []
    assert "$argon2" not in whole


async def test_unseen_content(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """Posts, members and messages that the member no longer sees are left out; the member's own words stay."""
    secret = await bob.post("bob's secret words")
    for mutation in ("like", "favourite"):
        await alice.do(mutation, postId=secret)
    await alice.do("comment", postId=secret, text="my remark")
    await alice.repost(secret, "my quote")
    await alice.repost(secret)
    await alice.follow(bob)
    await send(carol, "carol's message", alice, bob)
    await work_off(db, worker)
    before = (await export(alice)).whole()
    assert "bob's secret words" in before
    assert "carol's message" in before

    await bob.do("block", userIds=[alice.id])
    await alice.do("block", userIds=[carol.id])
    await work_off(db, worker)

    found = await export(alice)
    assert [text for text in ("bob's secret words", "carol's message", "Bob") if text in found.whole()] == []
    assert [len(found.entries(section)) for section in ("likes", "favourites", "following", "messages")] == [0] * 4
    assert texts(found, "comments") == ["my remark"]
    assert texts(found, "posts") == ["my quote", ""]


async def test_private_and_suspended(db: Database, worker: Worker, alice: Member, bob: Member, carol: Member) -> None:
    """A moderator's export shows no suspended member either, and a private one shows only what they let see."""
    private, suspended = await bob.post("private words"), await carol.post("suspended words")
    for post in (private, suspended):
        await alice.do("favourite", postId=post)
    await accounts.set_role(db, "alice", Role.MODERATOR)
    await make_private(bob)
    await accounts.set_suspension(db, "carol", suspended=True)
    assert (await export(alice)).entries("favourites") == []


async def test_deleted_members(db: Database, worker: Worker, alice: Member, bob: Member) -> None:
    """Messages of a deleted member stay, without a sender."""
    await send(bob, "good bye", alice)
    await bob.do("deleteAccount", password=PASSWORD)
    await work_off(db, worker)
    assert [(entry["sender"], entry["text"]) for entry in (await export(alice)).entries("messages")] == [
        (None, "good bye")
    ]


async def test_reports(
    db: Database, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """An export has the reports that the member made, and whether they are resolved, but no decision."""
    mona = await appoint(db, anonymous, "mona")
    post = await bob.post("spam")
    await report(alice, post, note="my very own note")
    await report(alice, bob.id, "ABUSE")
    resolved = await report(carol, post, note="carol's own note")
    await resolve(mona, resolved, "DELETE_CONTENT", note="the moderator's note")
    await work_off(db, worker)
    found = await export(alice)
    assert [
        (entry["subjectId"], entry["reason"], entry["note"], entry["isResolved"]) for entry in found.entries("reports")
    ] == [(bob.id, "ABUSE", "", False), (post, "SPAM", "my very own note", True)]
    assert [text for text in ("carol's own note", "the moderator's note", "DELETE") if text in found.whole()] == []
    assert (await export(bob)).entries("reports") == []


async def test_pages(alice: Member) -> None:
    """The pages show texts as they are, link each other, and load nothing from elsewhere."""
    for number in range(4):
        await alice.post(f"<script>alert({number})</script> & more")
    found = await export(alice)
    assert '<a href="pages/posts-1.html">Posts</a>: 4' in found.text("index.html")
    first, second = found.text("pages/posts-1.html"), found.text("pages/posts-2.html")
    assert ('href="posts-2.html"' in first, 'href="posts-1.html"' in second) == (True, True)
    assert "&lt;script&gt;alert(0)&lt;/script&gt; &amp; more" in first
    assert [
        word for word in ("<script", "http://", "https://", "src=") if word in found.text("index.html") + first
    ] == []
    assert found.names()[-1] == "export.json"


async def test_nothing(alice: Member) -> None:
    """A new member's export has every section, most of them empty."""
    found = await export(alice)
    filled = {section.name for section in SECTIONS if found.entries(section.name)}
    assert filled == {"profile", "sessions"}


def test_every_key_is_decided() -> None:
    """Each kind of key that names a member is in a section, or on the list of what is not exported, with a reason."""
    kinds = {
        name
        for module in (members, messaging, groups, pictures, posts)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if "member" in inspect.signature(function).parameters
    }
    exported = {key for section in SECTIONS for key in section.keys}
    of_posts = {"commented"}  # digests of requests below a post, which expire in a day
    assert kinds - exported - NOT_EXPORTED.keys() - of_posts == set()
    assert exported | NOT_EXPORTED.keys() <= kinds
    assert not exported & NOT_EXPORTED.keys()
