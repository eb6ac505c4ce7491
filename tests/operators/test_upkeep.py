"""Upkeep on the command line: homes rebuilt, and everything bounded trimmed to its bound."""

from pathlib import Path
from unittest.mock import ANY

import pytest

from store import keys
from store.client.database import Database
from store.homes import stored as homes
from store.ids import partition
from tests.support.people import Member, sign_up
from tests.support.servers.processes import opened, perch, run, visiting
from tests.support.work import number

POSTS = 15


async def fill(anonymous: Member) -> tuple[Member, list[str]]:
    """Return a member who follows another, with the posts of that one, newest first."""
    alice, bob = await sign_up(anonymous, "alice"), await sign_up(anonymous, "bob")
    await alice.follow(bob)
    return alice, [await bob.post(f"post {i} #tea") for i in range(POSTS)][::-1]


async def stored(db: Database, member: Member) -> list[int]:
    """Return the entries of a home, newest first."""
    return [entry.entity for entry in await homes.home(db, number(member.id))]


async def test_a_home_is_rebuilt(tmp_path: Path) -> None:
    """Beside a server, `rebuild-home` repairs a damaged home; a repetition changes nothing."""
    async with opened(tmp_path) as db, perch(tmp_path, "serve") as running:
        async with visiting(await running.url()) as anonymous:
            alice, posts = await fill(anonymous)
            await db.one("LREM", keys.home(number(alice.id)), 1, number(posts[3]))
            for _ in range(2):
                output = f"the home of ALICE has {POSTS} entries"
                assert await run(tmp_path, "rebuild-home", "ALICE") == (0, output, ANY)
                assert await stored(db, alice) == [number(post) for post in posts]
            assert await alice.home() == posts
        assert await running.stop() == 0


async def test_nobodys_home(tmp_path: Path) -> None:
    """`rebuild-home` of an unknown login is one clear line and status 1."""
    async with opened(tmp_path):
        status, out, err = await run(tmp_path, "rebuild-home", "nobody", log_level="ERROR")
        assert (status, out, err) == (1, "", "perch: no member has the login 'nobody'")


@pytest.mark.parametrize(
    ("limits", "output", "left"),
    [
        ({}, "0 entries of homes, 0 entries of public and hashtags, 0 idle homes", POSTS),
        ({"home_size": 10, "home_slack": 1}, "5 entries of homes, 0 entries of public and hashtags, 0 idle homes", 10),
        ({"public_size": 10}, "0 entries of homes, 5 entries of public and hashtags, 0 idle homes", POSTS),
        ({"hashtag_size": 12}, "0 entries of homes, 3 entries of public and hashtags, 0 idle homes", POSTS),
    ],
)
async def test_trim(tmp_path: Path, limits: dict[str, int], output: str, left: int) -> None:
    """`trim` brings homes, public, hashtags and what ranks them to limits that were lowered.

    A home that is cut can be read on.
    """
    async with opened(tmp_path) as db, perch(tmp_path, "serve") as running:
        async with visiting(await running.url()) as anonymous:
            alice, posts = await fill(anonymous)
            # Bob's own home is as long as his follower's, and is trimmed with it.
            await db.one(*homes.drop_home(number((await alice.ask('{ user(login: "bob") { id } }'))["id"])))
            assert await run(tmp_path, "trim", **limits) == (0, f"let go of {output}", ANY)
            assert await stored(db, alice) == [number(post) for post in posts[:left]]
            assert await alice.home() == posts
            assert await run(tmp_path, "trim", **limits) == (
                0,
                "let go of 0 entries of homes, 0 entries of public and hashtags, 0 idle homes",
                ANY,
            )
            assert (await run(tmp_path, "verify", **limits))[0] == 0
        assert await running.stop() == 0


async def test_trim_lets_go_of_idle_homes(tmp_path: Path) -> None:
    """`trim` drops the home of a member who has been away, and the next read has all of it."""
    async with opened(tmp_path) as db, perch(tmp_path, "serve") as running:
        async with visiting(await running.url()) as anonymous:
            alice, posts = await fill(anonymous)
            member = number(alice.id)
            await db.one("ZADD", keys.active(partition(member)), homes.today() - 14, member)
            status, out, _ = await run(tmp_path, "trim")
            assert (status, out.rpartition(", ")[2]) == (0, "1 idle homes")
            assert await homes.floor(db, member) is None
            assert await alice.home() == posts
        assert await running.stop() == 0
