"""Reading an export back: files that were changed, and accounts that are there already, are refused."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolvers.archives import archive
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.importing import account
from resolvers.upkeep.importing.network import ImportRefused
from store import keys
from store.client.database import Database
from tests.support.exports.archives import Archive, export
from tests.support.people import Member, contents, sign_up
from tests.support.stored import empty
from tests.support.work import number


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "ENTRIES_PER_FILE", 3)
    monkeypatch.setattr(account, "BATCH", 2)


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
    (PROFILE, of_profile(isEmailVerified="yes"), "Expected `bool`, got `str`"),
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
        await account.load(db, path, NO_PASSWORD)
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
        await account.load(db, path, NO_PASSWORD)


async def test_cut_off(db: Database, alice: Member, tmp_path: Path) -> None:
    """An archive whose end is missing is refused."""
    path = Archive((await export(alice)).data[:-30]).kept(tmp_path / "alice.zip")
    with pytest.raises(ImportRefused, match="not a zip file"):
        await account.load(db, path, NO_PASSWORD)


@pytest.mark.parametrize("taken", ["login", "e-mail address"])
async def test_taken_names(db: Database, anonymous: Member, alice: Member, tmp_path: Path, taken: str) -> None:
    """An account whose login or e-mail address somebody else has is refused, and theirs stays as it is."""
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    other = await sign_up(anonymous, "alice")
    if taken == "login":
        await db.one("DEL", keys.email("alice@example.org"))
    else:
        await other.do("updateProfile", login="other")
        await db.one("DEL", keys.login("alice"))
    before = await contents(db)
    with pytest.raises(ImportRefused, match=f"another member has this {taken}"):
        await account.load(db, path, NO_PASSWORD)
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
        await account.load(db, path, NO_PASSWORD)
    assert await db.one("HGET", keys.status(number(post)), "text") == "theirs"
    await db.one("DEL", keys.status(number(post)))
