"""Reading an export back: the member has the same id, posts and timelines."""

import contextlib
from pathlib import Path

import pytest

from resolvers.accounts import set_role
from resolvers.archives import archive
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import verify
from resolvers.upkeep.importing import account
from resolvers.upkeep.importing.network import ImportRefused
from store import accounts, keys
from store.client.database import Database
from store.credentials.records import Role
from store.keys.fields import CredentialsField
from store.secret import Secret
from store.settings import Settings
from tests.support.exports.archives import export
from tests.support.mails import sent, to
from tests.support.people import PASSWORD, Member, contents, log_in, make_private
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
    monkeypatch.setattr(account, "BATCH", 2)


async def assert_clean(db: Database) -> None:
    """Assert that verify finds nothing."""
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert (report.findings, report.unfinished_jobs) == ([], 0)


async def restore(db: Database, path: Path, services: Services) -> str:
    return await account.load(db, path, await services.passwords.hash(Secret(PASSWORD)))


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


@pytest.mark.parametrize("is_verified", [True, False])
async def test_verified_address(
    db: Database, services: Services, anonymous: Member, alice: Member, tmp_path: Path, is_verified: bool
) -> None:
    """The address is verified only if the export says that it was; otherwise the member can ask for a link to it."""
    if is_verified:
        await db.one("HSET", keys.credentials(number(alice.id)), CredentialsField.VERIFIED, "1")
    path = (await export(alice)).kept(tmp_path / "alice.zip")
    await empty(db)
    await restore(db, path, services)
    again = await log_in(anonymous, "alice")
    assert await again.ask("{ viewer { isEmailVerified } }") == {"isEmailVerified": is_verified}
    assert (await again.do("resendVerification"))["userErrors"] == []
    mails = await sent(services, services.settings)
    assert [mail["Subject"] for mail in to(mails, "alice@example.org")] == (
        [] if is_verified else ["Is this your address?"]
    )


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
    await account.load(db, path, NO_PASSWORD)
    before = await contents(db)
    await account.load(db, path, NO_PASSWORD)
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
            await account.load(fragile, path, NO_PASSWORD)
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
