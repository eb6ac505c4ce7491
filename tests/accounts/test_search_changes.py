"""After any changes to members, a search finds what a look at all of them would."""

import random
from dataclasses import dataclass, field
from unicodedata import normalize

import pytest

from resolvers.jobs import name_index
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.upkeep import verify
from store import accounts, keys
from store.client.database import Database
from store.ids import partition
from store.keys.fields import UserField
from store.settings import Settings
from tests.support.people import PASSWORD, Member, crowd, sign_up
from tests.support.search import found
from tests.support.slow import few
from tests.support.stored import exist
from tests.support.work import Turns, number, work_off

STEPS = 90
STEPS_BETWEEN_CHECKS = 15
NAMES = ("Anna", "ann", "ANNE Of Cleves", "\u00c5nn", "A\u030ange", "@ann", "One", "on\u00e9", "\u00df", "SS", "x" * 50)
PREFIXES = ("a", "an", "ann", "anne o", "\u00e5", "o", "one", "one1", "@o", "s", "ss", "x" * 45, "zed")


@dataclass
class Someone:
    """A member as the plain computation knows them."""

    member: Member
    login: str
    name: str
    followers: set[str] = field(default_factory=set)  # their ids


def plain(people: dict[str, Someone], prefix: str) -> list[str]:
    """Return the logins a search must find: by the beginning of folded names, most followers first, then oldest."""

    def folded(text: str) -> str:
        return normalize("NFC", normalize("NFC", text).casefold()).lstrip("@\uff20")

    wanted = folded(prefix)
    matching = [p for p in people.values() if any(folded(t).startswith(wanted) for t in (p.login, p.name))]
    return [p.login for p in sorted(matching, key=lambda p: (-len(p.followers), number(p.member.id)))]


async def change(lot: random.Random, people: dict[str, Someone], anonymous: Member, turn: int) -> None:
    """Apply one random change to a member."""
    someone, other = lot.sample(list(people.values()), 2)
    me, them = someone.member, other.member
    match lot.choice(["name", "login", "follow", "follow", "follow", "unfollow", "remove", "leave", "join"]):
        case "name":
            someone.name = lot.choice(NAMES)
            await me.do("updateProfile", name=someone.name)
        case "login":
            someone.login = f"{lot.choice(['an', 'Oner', 'z'])}{turn}"
            await me.do("updateProfile", login=someone.login)
        case "follow":
            chosen = lot.sample(list(people.values()), min(6, len(people)))
            await me.follow(*(p.member for p in chosen if p is not someone))
            for p in chosen:
                p.followers |= {me.id} - {p.member.id}
        case "unfollow":
            await me.unfollow(them)
            other.followers.discard(me.id)
        case "remove":
            await me.do("removeFollowers", userIds=[them.id])
            someone.followers.discard(them.id)
        case "leave" if len(people) > 8:
            await me.do("deleteAccount", password=PASSWORD)
            del people[me.id]
            for p in people.values():
                p.followers.discard(me.id)
        case _:
            made = await sign_up(anonymous, f"new{turn}")
            people[made.id] = Someone(made, made.login, made.login.title())


@pytest.mark.parametrize("seed", few(range(3)))
async def test_a_search_is_what_a_look_at_all_finds(
    services: Services, anonymous: Member, worker: Worker, seed: int
) -> None:
    """After any changes, before and after a worker has done the rest, a search finds what its description says."""
    lot = random.Random(seed)  # noqa: S311  an order of steps, no secret
    many = await crowd(anonymous, 14)
    people = {one.id: Someone(one, one.login, one.login.title()) for one in many}
    for turn in range(STEPS):
        await change(lot, people, anonymous, turn)
        if turn % STEPS_BETWEEN_CHECKS == 0:
            for prefix in PREFIXES:
                assert await found(anonymous, prefix, first=100) == plain(people, prefix), (seed, turn, prefix)
    await work_off(services.db, worker)
    for prefix in PREFIXES:
        assert await found(anonymous, prefix, first=100) == plain(people, prefix), (seed, prefix)
    report = await verify.verify(services.db, homes=None, seed=1, progress=lambda _: None)
    assert report.clean, report.findings
    assert {int(member) for member in await services.db.one("HKEYS", keys.indexed())} == {*map(number, people)}


@pytest.mark.parametrize("seed", few(range(12), 0, 1, 2))
async def test_changes_at_once(settings: Settings, db: Database, alice: Member, seed: int) -> None:
    """When names change while others are being indexed, the index has the last one and no other."""
    turns, me = Turns(settings, seed), number(alice.id)

    async def rename(name: str) -> None:
        await accounts.update(turns, me, profile={UserField.NAME: name}, names={"name": name})
        await name_index.index(turns, [me])

    await turns.together(*(rename(name) for name in ("Ada", "Bea", "Cat")), name_index.index(turns, [me]))
    name = str(await db.one("HGET", keys.user(me), UserField.NAME)).lower()
    assert await db.one("ZRANGE", keys.names(0), 0, -1) == sorted([f"alice\0{me}", f"{name}\0{me}"])


async def test_an_account_that_goes_while_it_is_indexed(settings: Settings, db: Database, alice: Member) -> None:
    """Nothing of a deleted account returns to the index."""
    for seed in range(6):
        turns, me = Turns(settings, seed), number(alice.id)
        await turns.together(_delete(turns, me), name_index.index(turns, [me]))
        assert not await exist(db, keys.names(0), keys.indexed())
        await db.one("HSET", keys.user(me), UserField.LOGIN, "alice", UserField.NAME, "Alice")


async def _delete(db: Database, member: int) -> None:
    await db.one("DEL", keys.user(member))
    await name_index.index(db, [member])


async def test_a_sign_up_leaves_nothing_to_do(db: Database, alice: Member) -> None:
    """The index has a new member when the sign-up is answered, with nothing left to a worker."""
    assert not await db.one("XLEN", keys.jobs(partition(number(alice.id))))
    assert await db.one("HGET", keys.indexed(), number(alice.id)) == "0\0alice"
