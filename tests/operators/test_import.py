"""Imports: a network is imported whole and once, however often the import is begun; unreadable files are refused."""

import asyncio
import contextlib
import gzip
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import verify
from resolvers.upkeep.importing import messages
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from store import account_names, accounts, follows, jobs, keys, kinds, posts, timelines
from store.client.database import Database
from store.conversations import messages as conversations
from store.secret import Secret
from store.settings import Settings
from tests.support.people import PASSWORD, Member, contents
from tests.support.servers.processes import opened, run
from tests.support.stored import empty
from tests.support.work import Crash, Fragile, crash_points, work_off

LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken userErrors { code } } }"
EDGES = [(f"fan{i}", "hub") for i in range(9)] + [("hub", "fan0"), ("fan1", "fan0"), ("fan2", "fan1"), ("Hub", "FAN0")]
TEXTS = ["good morning #tea", "asking @hub about #Tea", "a third one"]
TOTAL = 40
PHASES = ("members", "follows", "posts", "homes")


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "BATCH", 4)
    monkeypatch.setattr(imports, "FOLLOWS_BATCH", 4)
    monkeypatch.setattr(imports, "HOMES_BATCH", 3)


def written(path: Path, lines: list[str]) -> Path:
    """Return a file with some lines, packed if its name says so."""
    text = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def network(tmp_path: Path, settings: Settings) -> Network:
    """A hub that nine fans follow, who follows one of them back."""
    follows = written(tmp_path / "follows.tsv.gz", ["\t".join(edge) for edge in EDGES])
    texts = written(tmp_path / "posts.txt", TEXTS)
    return imports.read_network(follows, texts, settings, total=TOTAL, most=None, seed=1)


Done = Callable[[str, int], object]


async def load(db: Database, network: Network, done: Done = lambda *_: None, password: Secret = NO_PASSWORD) -> int:
    """Import a network like the command does; returns how many entries the homes hold."""
    members = await imports.create_members(db, network, password, lambda n: done("members", n))
    await imports.create_follows(db, network, members, lambda n: done("follows", n))
    await imports.create_posts(db, network, members, lambda n: done("posts", n))
    return await imports.create_homes(db, list(members.values()), lambda n: done("homes", n))


async def member(db: Database, login: str) -> int:
    """Return the member who has a login."""
    found = await account_names.holder(db, keys.login(login))
    assert found
    return found


async def totals(db: Database, network: Network) -> dict[str, tuple[Any, ...]]:
    """Return each member's counts, texts and size of home, by login."""
    facts = {}
    for login in network.members:
        who = await member(db, login)
        user = await accounts.user(db, who)
        own = [await posts.post(db, p.id) for p in await timelines.published(db, who, below=None, above=0, count=1000)]
        texts = sorted(post.text for post in own if post)
        home = await db.one("LLEN", keys.home(who))
        assert user
        facts[login] = user.follower_count, user.following_count, user.post_count, texts, home
    return facts


async def assert_whole(db: Database, network: Network) -> None:
    """Assert that every invariant holds, every home follows rule 3, and no work is left."""
    report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
    assert report.clean, report.findings
    assert (report.unfinished_jobs, report.homes) == (0, len(network.members))
    assert await db.one("ZCARD", keys.public()) == network.total


async def test_everything_comes_in(db: Database, network: Network) -> None:
    """Members, both sides of every follow, posts with tags and mentions, and homes are there; no event is published."""
    done: Counter[str] = Counter()
    entries = await load(db, network, lambda phase, count: done.update({phase: count}))
    assert (len(network.members), network.edges, network.total) == (10, 12, TOTAL)
    assert done == {"members": 10, "follows": 12, "posts": TOTAL, "homes": 10}
    hub, fan = await member(db, "hub"), await member(db, "fan0")
    assert set(await follows.following(db, hub)) == {fan}
    assert len(await timelines.after(db, kinds.FOLLOWERS.key(hub), 0, 100)) == 9
    facts = await totals(db, network)
    assert facts["fan0"][:2] == (2, 1)
    assert entries == sum(home for *_, home in facts.values())
    assert await db.one("ZCARD", keys.hashtag("tea")) == sum(t != TEXTS[2] for f in facts.values() for t in f[3])
    asking = next(p for p in await _posts(db, hub) if p.text == TEXTS[1])
    assert (asking.mentioned, asking.hashtags) == ((hub,), ("tea",))
    assert not await db.one("EXISTS", keys.events())
    await assert_whole(db, network)


async def test_messages(db: Database, network: Network) -> None:
    """Messages are dealt out to conversations whose members follow each other, and an import that goes on adds none."""
    members = await imports.create_members(db, network, NO_PASSWORD, lambda _: None)
    await imports.create_follows(db, network, members, lambda _: None)
    dealt = messages.deal(network.following, network.texts, 50, network.seed)
    assert sum(map(len, dealt.values())) == 50
    for _ in range(2):
        done = Counter[str]()
        await messages.create(db, dealt, members, lambda count, done=done: done.update(all=count))  # type: ignore[misc]
        assert done["all"] == 50
        found = await db.ask(*(conversations.of_members_command([members[one] for one in pair]) for pair in dealt))
        sizes = await db.ask(*(("ZCARD", kinds.MESSAGES.key(int(one))) for one in found))
        assert sizes == [len(texts) for texts in dealt.values()]
    report = await verify.verify(db, homes=0, seed=1, progress=lambda _: None)
    assert (report.findings, report.unfinished_jobs) == ([], 0)


async def _posts(db: Database, who: int) -> list[Any]:
    found = await timelines.published(db, who, below=None, above=0, count=1000)
    return [await posts.post(db, entry.id) for entry in found]


def test_posts_follow_followers(network: Network) -> None:
    """Posts are dealt in proportion to followers, the same way with the same seed, differently with another."""
    many = replace(network, total=6_000)
    dealt = Counter(author for author, _ in many.dealt())
    assert {name: round(count / 500) for name, count in dealt.items()} == {"hub": 9, "fan0": 2, "fan1": 1}
    assert list(many.dealt()) == list(many.dealt()) != list(replace(many, seed=2).dealt())
    assert [text for _, text in network.dealt()] == [TEXTS[i % 3] for i in range(TOTAL)]


async def test_again(db: Database, network: Network) -> None:
    """A repeated import changes nothing at all."""
    await load(db, network)
    before = await contents(db)
    await load(db, network)
    after = await contents(db)
    assert {key: value for key, value in after.items() if value != before.get(key)} == {}
    assert after.keys() == before.keys()


@pytest.mark.parametrize("phase", PHASES)
async def test_interrupted(db: Database, network: Network, phase: str) -> None:
    """An import interrupted in the middle of a phase and run again ends like one without a break."""
    await load(db, network)
    wanted = await totals(db, network)
    await empty(db)
    seen: Counter[str] = Counter()

    def interrupt(now: str, _: int) -> None:
        seen[now] += 1
        if now == phase and seen[now] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await load(db, network, interrupt)
    await load(db, network)
    assert await totals(db, network) == wanted
    await assert_whole(db, network)


async def test_died_anywhere(db: Database, network: Network, services: Services, settings: Settings) -> None:
    """If an import dies, before a call or halfway through, the worker and the next import complete it."""
    await load(db, network)
    wanted = await totals(db, network)
    for calls in crash_points(step=3):
        await empty(db)
        fragile = Fragile(settings, calls, halfway=calls % 6 == 3)
        with contextlib.suppress(Crash):
            await load(fragile, network)
        await fragile.close()
        await work_off(db, Worker(db))
        await load(db, network)
        assert await totals(db, network) == wanted, f"died at call {calls}"
        await assert_whole(db, network)
        if not fragile.has_died:
            assert calls > 40
            return


async def test_some_members(db: Database, tmp_path: Path, settings: Settings) -> None:
    """`--members` imports the members with the most follows, and the follows among them."""
    follows = written(tmp_path / "follows.tsv", ["\t".join(edge) for edge in EDGES])
    network = imports.read_network(follows, None, settings, total=None, most=3, seed=1)
    assert network.members == ["fan0", "fan1", "hub"]
    assert network.following == {"fan0": ["hub"], "fan1": ["hub", "fan0"], "hub": ["fan0"]}
    await load(db, network)
    await assert_whole(db, network)


async def test_nobody_follows(db: Database, tmp_path: Path, settings: Settings) -> None:
    """Without any follow left nobody can be dealt a post: members are imported without."""
    follows, texts = written(tmp_path / "f.tsv", ["ann\tben", "Ann\tann"]), written(tmp_path / "p.txt", TEXTS)
    network = imports.read_network(follows, texts, settings, total=10, most=1, seed=1)
    assert (len(network.members), network.edges, network.total) == (1, 0, 0)
    await load(db, network)
    await assert_whole(db, network)


async def test_a_live_site(db: Database, network: Network, services: Services, anonymous: Member) -> None:
    """With a password imported members log in, and a post by the most followed one is in a follower's home."""
    await load(db, network, password=await services.passwords.hash(Secret(PASSWORD)))
    hub, fan = [await _logged_in(anonymous, login) for login in ("hub", "fan7")]
    post = await hub.post("from now on by ourselves")
    assert (await fan.home())[0] == post
    await assert_whole(db, replace(network, total=network.total + 1))


async def _logged_in(anonymous: Member, login: str) -> Member:
    payload = await anonymous.ask(LOG_IN, input={"identifier": login, "password": PASSWORD})
    assert not payload["userErrors"]
    return Member(anonymous.client, payload["accessToken"], login=login)


async def test_without_a_password(db: Database, network: Network, services: Services, anonymous: Member) -> None:
    """Without a password nobody can log in as an imported member."""
    await load(db, network)
    for password in (PASSWORD, NO_PASSWORD.reveal(), ""):
        assert await anonymous.refused("logIn", identifier="hub", password=password) == ("WRONG_CREDENTIALS", None)
    assert await jobs.backlog(db) == (0, 0)


async def test_the_command(tmp_path: Path) -> None:
    """The command counts imported entities, phase by phase; a refused file is one line and status 1."""
    follows = written(tmp_path / "follows.tsv.gz", ["\t".join(edge) for edge in EDGES])
    texts = written(tmp_path / "posts.txt", TEXTS)
    files = ["--follows", str(follows), "--posts", str(texts), "--posts-total", "20"]
    (status, out, _), refused = await asyncio.gather(
        run(tmp_path / "data", "import", *files, "--members", "3", "--password", PASSWORD),
        run(tmp_path / "none", "import", "--follows", str(tmp_path / "missing")),
    )
    assert status == 0
    rows = [line.split()[:2] for line in out.splitlines()[1:]]
    assert rows[:3] == [["members", "3"], ["follows", "4"], ["posts", "20"]]
    assert refused[:2] == (1, "")
    assert refused[2].startswith(f"perch: {tmp_path / 'missing'}: ")
    assert "\n" not in refused[2]
    async with opened(tmp_path / "data") as db:
        report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
        assert (report.clean, report.homes, await db.one("ZCARD", keys.public())) == (True, 3, 20)
