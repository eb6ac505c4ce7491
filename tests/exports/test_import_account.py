"""Reading an export back: the member has the same id, posts and timelines; files that were changed are refused."""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolvers.accounts import set_role
from resolvers.archives import archive
from resolvers.jobs.worker import Worker
from resolvers.operation.services import Services
from resolvers.operation.tokens import NO_PASSWORD
from resolvers.upkeep import import_account, verify
from resolvers.upkeep.imports import ImportRefused
from store import accounts, keys
from store.client.database import Database
from store.records import Role
from store.secret import Secret
from store.settings import Settings
from tests.support.exports.archives import Archive, export
from tests.support.people import PASSWORD, Member, contents, log_in, make_private, sign_up
from tests.support.stored import empty
from tests.support.work import Crash, Fragile, crash_points, number, work_off

TIMELINE = """query($login: String!) { user(login: $login) {
    id login name bio postCount isPrivate createdAt pinnedPost { ... on Node { id } }
    timeline(first: 100) { nodes {
        ... on Status { id text createdAt hashtags location { latitude longitude } isHidden inReplyTo { id }
                        conversation(first: 10) { nodes { ... on Node { id } } } replyCount repostCount quoteCount }
        ... on Repost { id text createdAt hashtags isHidden original { ... on Node { id } } quoteCount }
    } } } }"""


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ENTRIES_PER_FILE", 3)
    monkeypatch.setattr(import_account, "BATCH", 2)


async def assert_clean(db: Database) -> None:
    """Assert that verify finds nothing."""
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert (report.findings, report.unfinished_jobs) == ([], 0)


async def restore(db: Database, path: Path, services: Services) -> str:
    return await import_account.load(db, path, await services.passwords.hash(Secret(PASSWORD)))


async def some_posts(alice: Member) -> None:
    """Let alice make posts of each kind that depends on nobody else."""
    first = await alice.post("first #tea @alice @nobody", location={"latitude": 1.5, "longitude": -2.25})
    answer = await alice.post("an answer", inReplyToId=first)
    await alice.post("an answer to it", inReplyToId=answer)
    quote = await alice.repost(first, "a quote #tea")
    await alice.repost(answer)
    await alice.repost(quote, "a quote of a quote")
    hidden = await alice.post("hidden #tea")
    await alice.do("hidePost", postId=hidden)
    hidden_answer = await alice.post("a hidden answer", inReplyToId=first)
    await alice.do("hidePost", postId=hidden_answer)
    await alice.do("pinPost", postId=quote)
    await alice.do("updateProfile", bio="two\nlines", name="Alice Ünlü")


async def test_timelines(
    db: Database, worker: Worker, services: Services, anonymous: Member, alice: Member, tmp_path: Path
) -> None:
    """In an empty store, profile, home, tags and the public timeline are the same as before, and verify is clean."""
    await some_posts(alice)
    await work_off(db, worker)
    pages = """{ publicTimeline(first: 50) { nodes { ... on Node { id } } }
                 hashtag(name: "tea") { timeline(first: 50) { nodes { ... on Node { id } } } } }"""
    before = await alice.ask(TIMELINE, login="alice"), await alice.home(), await anonymous.ask(pages)
    assert len(before[1]) == 7
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)

    line = await restore(db, path, services)

    assert line == "alice is here, with 8 posts; 0 that depend on others were left out"
    again = await log_in(anonymous, "alice")
    assert again.id == alice.id
    assert (await again.ask(TIMELINE, login="alice"), await again.home(), await anonymous.ask(pages)) == before
    await work_off(db, worker)
    await assert_clean(db)
    newest = await again.post("and on it goes")
    assert (await again.home())[0] == newest
    await assert_clean(db)


async def test_left_out(
    db: Database, worker: Worker, services: Services, anonymous: Member, alice: Member, bob: Member, tmp_path: Path
) -> None:
    """Quotes of others and answers to others come back; their plain reposts, and posts in groups, do not."""
    theirs = await bob.post("theirs")
    await alice.repost(theirs)
    quote = await alice.repost(theirs, "my quote of it")
    answer = await alice.post("my answer", inReplyToId=theirs)
    group = (await alice.do("createGroup", "group { id }", name="Birds", kind="PUBLIC"))["group"]["id"]
    await alice.post("in the group", groupId=group)
    await alice.follow(bob)
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    assert await restore(db, path, services) == "alice is here, with 2 posts; 2 that depend on others were left out"
    again = await log_in(anonymous, "alice")
    assert await again.home() == [answer, quote]
    query = "query($id: ID!) { node(id: $id) { ... on Repost { text original { id } } } }"
    assert await again.ask(query, id=quote) == {"text": "my quote of it", "original": None}
    assert (await again.ask(TIMELINE, login="alice"))["postCount"] == 2
    await work_off(db, worker)
    await assert_clean(db)


async def test_beside_others(
    db: Database, worker: Worker, services: Services, alice: Member, bob: Member, tmp_path: Path
) -> None:
    """After a deletion, an export comes back into the same store, beside the posts that it names."""
    theirs = await bob.post("theirs @alice")
    mine = await alice.post("mine to @bob")
    await alice.repost(mine)
    answer = await alice.post("my answer", inReplyToId=theirs)
    await alice.repost(theirs, "my quote")
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await alice.do("deleteAccount", password=PASSWORD)
    with pytest.raises(ImportRefused, match="still being deleted"):
        await restore(db, path, services)
    await work_off(db, worker)
    await restore(db, path, services)
    await work_off(db, worker)
    await assert_clean(db)
    counts = "replyCount quoteCount replies(first: 5) { nodes { id } }"
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Status {{ {counts} }} }} }}"
    assert await bob.ask(query, id=theirs) == {
        "replyCount": 1,
        "quoteCount": 1,
        "replies": {"nodes": [{"id": answer}]},
    }


async def test_states(
    db: Database, worker: Worker, services: Services, anonymous: Member, alice: Member, tmp_path: Path
) -> None:
    """A private member's posts are in no public list, and no role, session or follower comes back."""
    await alice.post("for my followers #tea")
    await make_private(alice)
    await set_role(db, "alice", Role.ADMIN)
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    await restore(db, path, services)
    await work_off(db, worker)
    await assert_clean(db)
    assert await anonymous.ask("{ publicTimeline(first: 5) { nodes { ... on Node { id } } } }") == {"nodes": []}
    found = await accounts.credentials(db, number(alice.id))
    assert found
    assert found.role is Role.MEMBER
    assert not await db.one("EXISTS", keys.sessions(number(alice.id)))


async def test_no_password(db: Database, services: Services, anonymous: Member, alice: Member, tmp_path: Path) -> None:
    """Without a password nobody logs in, and the same file can be read again; with one it cannot."""
    await some_posts(alice)
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    await import_account.load(db, path, NO_PASSWORD)
    before = await contents(db)
    await import_account.load(db, path, NO_PASSWORD)
    different = {key for key, value in (await contents(db)).items() if before.get(key) != value}
    assert {key for key in different if not key.startswith("minted:")} == set()
    payload = await anonymous.do("logIn", "accessToken", identifier="alice", password=PASSWORD)
    assert payload["userErrors"][0]["code"] == "WRONG_CREDENTIALS"
    await restore(db, path, services)
    with pytest.raises(ImportRefused, match="has the account of alice already"):
        await restore(db, path, services)
    assert (await log_in(anonymous, "alice")).id == alice.id


async def test_interrupted(
    db: Database,
    settings: Settings,
    worker: Worker,
    services: Services,
    anonymous: Member,
    alice: Member,
    tmp_path: Path,
) -> None:
    """An import that dies at any call is whole when it is run again."""
    await some_posts(alice)
    before = await alice.ask(TIMELINE, login="alice")
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    deaths = 0
    for calls in crash_points():
        await empty(db)
        fragile = Fragile(settings, calls)
        with contextlib.suppress(Crash):
            await import_account.load(fragile, path, NO_PASSWORD)
        await fragile.close()
        if not fragile.has_died:
            break
        deaths += 1
        await restore(db, path, services)
        again = await log_in(anonymous, "alice")
        await work_off(db, worker)
        assert await again.ask(TIMELINE, login="alice") == before
        await assert_clean(db)
    assert deaths > 10


# ---------------------------------------------------------------- files that are refused


def changed(found: Archive, name: str, change: Callable[[Any], Any] | None) -> bytes:
    """Return an archive in which one file of JSON is changed, or missing."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as written:
        for one in found.names():
            if one != name:
                written.writestr(one, found.text(one))
            elif change:
                written.writestr(one, json.dumps(change(json.loads(found.text(one)))))
    return made.getvalue()


def of_post(**fields: Any) -> Callable[[Any], Any]:
    """Return a change of the first post."""
    return lambda entries: [{**entries[0], **fields}, *entries[1:]]


def of_profile(**fields: Any) -> Callable[[Any], Any]:
    """Return a change of the profile."""
    return lambda entries: [{**entries[0], **fields}]


POSTS, PROFILE = "data/posts-1.json", "data/profile-1.json"
REFERENCE = {"id": "status_1fffffffffffff", "authorId": "user_00000000000001"}
WRONG: list[tuple[str, Callable[[Any], Any] | None, str]] = [
    ("export.json", None, "export.json is missing, so this is no whole export"),
    ("export.json", lambda found: {**found, "version": 2}, "not of an export that this version of Perch reads"),
    ("export.json", lambda found: {**found, "sections": []}, "Expected `object`, got `array` - at `$.sections`"),
    (POSTS, None, "posts-1.json is missing"),
    (POSTS, lambda _: {}, "Expected `array`, got `object`"),
    (POSTS, of_post(id="user_00000000000001"), "is no id of a status"),
    (POSTS, of_post(id="status_00000000000011"), "this is not a post of the member"),
    (POSTS, lambda entries: entries[::-1], "posts must be oldest first"),
    (POSTS, lambda entries: entries + entries[-1:], "posts must be oldest first"),
    (POSTS, of_post(text=""), "must not be blank"),
    (POSTS, of_post(text="x" * 501), "must be at most 500 characters"),
    (POSTS, of_post(text="a\x00b"), "must not contain the"),
    (POSTS, of_post(text=7), "Expected `str`, got `int`"),
    (POSTS, of_post(location={"latitude": 91, "longitude": 0}), "latitude: must be from -90 to 90"),
    (POSTS, of_post(original=REFERENCE), "a post names only older ones"),
    (POSTS, of_post(inReplyTo={**REFERENCE, "id": "x"}), "is no id of a status"),
    (PROFILE, lambda _: [], "data/profile-1.json"),
    (PROFILE, of_profile(login="a b"), "only a-z, A-Z, 0-9 and _ are allowed"),
    (PROFILE, of_profile(login="x" * 21), "only a-z, A-Z, 0-9 and _ are allowed"),
    (PROFILE, of_profile(email="nobody"), "@-sign"),
    (PROFILE, of_profile(email="a@b.org\nBcc: c@d.org"), "data/profile-1.json"),
    (PROFILE, of_profile(name="a\nb"), "must not contain"),
    (PROFILE, of_profile(bio="x" * 201), "must be at most 200 characters"),
    (PROFILE, of_profile(id="user_1fffffffffffff"), "it is newer than the clock of this store"),
    (PROFILE, of_profile(messagesFrom="SOME"), "Invalid enum value"),
    (PROFILE, of_profile(pinnedPostId="pin"), "is no id of a status"),
]


@pytest.mark.parametrize(("name", "change", "message"), WRONG, ids=[f"{n} {m}"[:60] for n, _, m in WRONG])
async def test_wrong_files(
    db: Database, alice: Member, tmp_path: Path, name: str, change: Callable[[Any], Any] | None, message: str
) -> None:
    """A changed file is refused with the file and the rule, and changes nothing."""
    for text in ("one", "two"):
        await alice.post(text)
    path = tmp_path / "alice.zip"
    path.write_bytes(changed(await export(alice), name, change))
    await empty(db)
    with pytest.raises(ImportRefused) as refused:
        await import_account.load(db, path, NO_PASSWORD)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    assert {key for key in await contents(db) if not key.startswith("minted")} == set()


@pytest.mark.parametrize("data", [b"", b"no archive", None], ids=["empty", "text", "missing"])
async def test_no_archive(db: Database, tmp_path: Path, data: bytes | None) -> None:
    """A file that is no ZIP, or that is missing, is refused."""
    path = tmp_path / "alice.zip"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ImportRefused, match=r"alice\.zip"):
        await import_account.load(db, path, NO_PASSWORD)


async def test_cut_off(db: Database, alice: Member, tmp_path: Path) -> None:
    """An archive whose end is missing is refused."""
    path = Archive((await export(alice)).data[:-30]).kept(tmp_path / "alice.zip")
    with pytest.raises(ImportRefused, match="not a zip file"):
        await import_account.load(db, path, NO_PASSWORD)


@pytest.mark.parametrize("taken", ["login", "e-mail address"])
async def test_taken_names(db: Database, anonymous: Member, alice: Member, tmp_path: Path, taken: str) -> None:
    """An account whose login or e-mail address somebody else has is refused, and theirs stays as it is."""
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    other = await sign_up(anonymous, "alice")
    if taken == "login":
        await other.do("changeEmail", email="other@example.org", currentPassword=PASSWORD)
    else:
        await other.do("updateProfile", login="other")
        await db.one("DEL", keys.login("alice"))
    before = await contents(db)
    with pytest.raises(ImportRefused, match=f"another member has this {taken}"):
        await import_account.load(db, path, NO_PASSWORD)
    after = await contents(db)
    assert {
        key for key in before | after if before.get(key) != after.get(key) and not key.startswith("minted")
    } == set()


async def test_posts_of_another(db: Database, alice: Member, tmp_path: Path) -> None:
    """A file that claims somebody else's post, in the same partition, is refused and leaves the post alone."""
    post = await alice.post("mine")
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    await db.one("HSET", keys.status(number(post)), "author", "16", "text", "theirs")
    with pytest.raises(ImportRefused, match="another member has one of the posts"):
        await import_account.load(db, path, NO_PASSWORD)
    assert await db.one("HGET", keys.status(number(post)), "text") == "theirs"
    await db.one("DEL", keys.status(number(post)))
