"""Search: members by the beginning of their login or name, the most followed first."""

from typing import Any

import pytest

from resolvers import search
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from store import keys
from store.client.database import Database
from store.keys.fields import UserField
from store.search import update_magnitude
from tests.support.people import Member, crowd, sign_up
from tests.support.search import SEARCH, found
from tests.support.work import number, work_off


async def refused(member: Member, **arguments: Any) -> str:
    """Return the argument that the refusal of a search names."""
    (error,) = (await member.send(SEARCH, **arguments))["errors"]
    assert error["extensions"]["code"] == "BAD_USER_INPUT", error
    name: str = error["message"].partition(":")[0]
    return name


async def rename(member: Member, name: str) -> None:
    """Give a member another name."""
    payload = await member.do("updateProfile", name=name)
    assert not payload["userErrors"], payload


async def be_followed(db: Database, member: Member, count: int) -> None:
    """Give a member a number of followers, as far as search can tell, and commit the job that moves their names."""
    me = number(member.id)
    await db.one("HSET", keys.user(me), UserField.FOLLOWERS, count)
    await db.ask(update_magnitude(me))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("Zoë Quill", "zoë"),
        ("Zoë Quill", "ZOË QU"),
        ("Zoe\u0308 Quill", "zo\u00eb q"),
        ("Zoë Quill", "  zoe\u0308\t"),
        ("Zoë Quill", "Zoë Quill"),
        ("Zoë Quill", "@zoë"),
        ("Zoë Quill", "\uff20zoë"),
        ("@Zoë", "zoë"),
        ("@Zoë", "@zo"),
        ("Straße", "strasse"),
        ("STRASSE", "straß"),
        ("\U0001f41f fish", "\U0001f41f"),
        ("\u9b5a\u5e97", "\u9b5a"),
        ("*[(-\\", "*["),
        ("x" * 50, "x" * 40),
        ("\u00df" * 50, "\u00df" * 50),
        ("x" * 40 + "y", "X" * 40 + "Y"),
    ],
)
async def test_names(anonymous: Member, alice: Member, name: str, prefix: str) -> None:
    """A name is found by its beginning in any case, composed or not, with or without a sign of mention before it."""
    await rename(alice, name)
    assert await found(anonymous, prefix) == ["alice"]
    assert await found(alice, prefix) == ["alice"]


@pytest.mark.parametrize("prefix", ["quill", "zoe", "zoë  q", "zoë quill!", "lice", "alicea", "x" * 41 + "y", "b"])
async def test_what_is_no_beginning(anonymous: Member, alice: Member, prefix: str) -> None:
    """Text that no login or name begins with finds nothing: other letters, a later word, a longer text."""
    await rename(alice, "x" * 50 if prefix[0] == "x" else "Zoë Quill")
    page = await anonymous.ask(SEARCH, prefix=prefix)
    nothing = {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None}
    assert page == {"edges": [], "pageInfo": nothing}


async def test_logins(anonymous: Member, alice: Member, bob: Member) -> None:
    """A login is found in any case, and a member found by both login and name is listed once."""
    await bob.do("updateProfile", login="Al_Bob", name="Al")
    assert await found(anonymous, "AL") == ["alice", "Al_Bob"]
    assert await found(anonymous, "@al_") == ["Al_Bob"]
    assert await found(anonymous, "bob") == []


async def test_the_most_followed_first(
    services: Services, worker: Worker, anonymous: Member, alice: Member, bob: Member, carol: Member
) -> None:
    """Members with more followers come first, equal ones in order of sign-up; a follow counts at once."""
    for member in (alice, bob, carol):
        await rename(member, "Same")
    assert await found(anonymous, "same") == ["alice", "bob", "carol"]
    await alice.follow(carol)
    assert await found(anonymous, "same") == ["carol", "alice", "bob"]
    many = await crowd(anonymous, 9)
    for one in many:
        await one.follow(bob)
    for _ in range(2):  # before and after the worker has moved them
        assert await found(anonymous, "same") == ["bob", "carol", "alice"]
        await work_off(services.db, worker)
    assert await services.db.one("ZCARD", keys.names(1)) == 2
    for one in many:
        await one.unfollow(bob)
    for _ in range(2):
        assert await found(anonymous, "same") == ["carol", "alice", "bob"]
        await work_off(services.db, worker)
    assert not await services.db.one("EXISTS", keys.names(1))


async def test_a_hundred_at_most(
    monkeypatch: pytest.MonkeyPatch, services: Services, worker: Worker, anonymous: Member
) -> None:
    """The most followed are found, however many there are and in all magnitudes."""
    monkeypatch.setattr(search, "MOST", 4)
    many = sorted(await crowd(anonymous, 12), key=lambda member: number(member.id))
    followers = [0, 100, 12, 7, 15, 16, 13, 8, 40, 3, 14, 5]
    for one, count in zip(many, followers, strict=True):
        await be_followed(services.db, one, count)
    # Fewer followers by less than a quarter: behind the most followed of the magnitude below, and still above them.
    followers[5] = 13
    await be_followed(services.db, many[5], followers[5])
    await work_off(services.db, worker)
    assert await services.db.one("ZCARD", keys.names(2)) == 1
    ranked = sorted(range(12), key=lambda place: -followers[place])
    wanted = [many[place].login for place in ranked]
    assert await found(anonymous, "one") == wanted[:4]
    monkeypatch.undo()
    assert await found(anonymous, "ONE", first=100) == wanted


async def test_many_of_one_magnitude(monkeypatch: pytest.MonkeyPatch, anonymous: Member) -> None:
    """When a magnitude has more members than are read, the first by name are found."""
    monkeypatch.setattr(search, "READ", 3)
    for login in ("ad", "ac", "ab", "aa"):
        await sign_up(anonymous, login)
    assert sorted(await found(anonymous, "a")) == ["aa", "ab", "ac"]


async def test_pages(anonymous: Member, alice: Member) -> None:
    """However names and followers change, the pages follow the first ranking, without members no longer found."""
    many = sorted(await crowd(anonymous, 6), key=lambda member: number(member.id))
    ranked = [member.login for member in many]
    page = await alice.ask(SEARCH, prefix="one", first=2)
    assert page["pageInfo"]["hasPreviousPage"] is False
    logins = [edge["node"]["login"] for edge in page["edges"]]
    await alice.follow(many[5], many[0])
    await many[3].do("updateProfile", login="other", name="Other")
    while page["pageInfo"]["hasNextPage"]:
        page = await alice.ask(SEARCH, prefix=" ONE", first=2, after=page["pageInfo"]["endCursor"])
        assert page["pageInfo"]["hasPreviousPage"] is True
        logins += [edge["node"]["login"] for edge in page["edges"]]
    assert logins == [login for login in ranked if login != ranked[3]]
    assert await found(alice, "one") == [ranked[place] for place in (0, 5, 1, 2, 4)]


@pytest.mark.parametrize(
    "prefix",
    ["", "  ", "@", "\uff20@", "\u200b", "a\x00", "a\nb", "\x07", "a\u202eb", "x" * 51, "x" * 5_000, "e\u0301" * 51],
)
async def test_no_prefix(alice: Member, prefix: str) -> None:
    """A prefix that is blank, only a sign of mention, longer than a name, or impossible in a name is bad input."""
    assert await refused(alice, prefix=prefix) == "prefix"


async def test_no_page(anonymous: Member, alice: Member, bob: Member) -> None:
    """A wrong number, and a cursor that is malformed, of another search or another list, are bad input."""
    for member in (alice, bob):
        await rename(member, "Same")
    for first in (0, -1, 101):
        assert await refused(anonymous, prefix="same", first=first) == "first"
    end = (await anonymous.ask(SEARCH, prefix="same", first=1))["pageInfo"]["endCursor"]
    assert await found(anonymous, "Same", after=end) == ["bob"]
    assert await refused(anonymous, prefix="sam", after=end) == "after"
    another = end.replace("users", "important-home")
    for after in ("", "x", end[:-1], end + "0", end.upper(), "followers.00000000000001", another):
        assert await refused(anonymous, prefix="same", after=after) == "after", after


async def test_round_trips(services: Services, anonymous: Member, alice: Member) -> None:
    """A search takes at most four round trips, however many it finds, and a later page two.

    A text that is new takes one more.
    """
    await crowd(anonymous, 12)
    await found(alice, "one")
    for prefix in ("one", "one1", "nobody"):
        services.db.round_trips = 0
        page = await alice.ask(SEARCH, prefix=prefix, first=5)
        assert services.db.round_trips <= 4
    page = await alice.ask(SEARCH, prefix="one", first=5)
    services.db.round_trips = 0
    assert len(await found(alice, "one", first=5, after=page["pageInfo"]["endCursor"])) == 5
    assert services.db.round_trips <= 2
