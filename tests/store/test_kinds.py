"""Lists are declared once, and `verify`, `repair`, `recount` and exports follow the declarations."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from resolvers.archives.sections import SECTIONS, of_lists
from resolvers.upkeep import verify
from resolvers.upkeep.verify import CHECKS, SITE_CHECKS
from store import keys, kinds
from store.client.database import Database
from store.client.lua import FOLDER
from store.ids import partition
from store.keys import fields
from store.keys.table import described
from store.kinds import List
from store.upkeep import counters, lists
from store.upkeep.findings import Finding
from tests.support.damage.site import GHOST
from tests.support.people import Member
from tests.support.work import number

# Sorted sets that a number names, and that need no declaration.
NOT_DECLARED = {
    "known_addresses": "entries are no ids, and expire by themselves",
    "former_logins": "the same",
    "candidates": "a part of the home, compared with it",
    "names": "of a magnitude, which is no id",
    "tag_uses": "of an hour, which is no id",
}

# What scripts count in a field of a record, and what is no size of a list.
COUNTED_OTHERWISE = {
    "HomeField.CHANGED": "changes while a home is built",
    "LogHeadField.COUNT": "acts that were ever logged; moderation.lists checks it",
    "ImageField.VERSION": "a version, which only rises",
    "kind": "writes in an hour, which expire",
    "author": "posts of an import, which nothing else depends on",
    "counter": "the field that a caller names, for a list or another",
}
_SIZE = re.compile(r"redis\.call\('(?:ZCARD|ZCOUNT|ZLEXCOUNT|SCARD|HLEN|LLEN)'")
_VARIABLE = re.compile(rf"local (\w+) = (?:tonumber\()?{_SIZE.pattern}")
_SET = re.compile(r"'(?:HSET|HMSET|HSETNX)', ")
_INCREMENT = re.compile(r"'HINCRBY', ")
_HOW_MANY = re.compile(r'^    (\w+) = "\w+"  # how many', re.MULTILINE)


def counted_in(text: str) -> set[str]:
    """Return the fields in which a script stores a size, or which it increments."""
    sizes = {*_VARIABLE.findall(text)}
    found = {arguments(text, call.end())[1] for call in _INCREMENT.finditer(text)}
    for call in _SET.finditer(text):
        _, *pairs = arguments(text, call.end())
        for field, value in zip(pairs[::2], pairs[1::2], strict=False):  # a call with `unpack` has no pairs
            if _SIZE.search(value) or sizes & {*re.findall(r"\w+", value)}:
                found.add(field)
    return found


def arguments(text: str, start: int) -> list[str]:
    """Return the arguments of a call in a script, from the place of one of them."""
    found, depth, begin = [], 0, start
    for at in range(start, len(text)):
        if text[at] in ",)" and not depth:
            found.append(text[begin:at].strip())
            begin = at + 1
            if text[at] == ")":
                break
        depth += (text[at] in "({[") - (text[at] in ")}]")
    return found


def declared() -> set[str]:
    """Return the counters that lists declare, as scripts write them."""
    classes = [one for _, one in inspect.getmembers(fields, inspect.isclass)]
    names = {value: f"{one.__name__}.{name}" for one in classes for name, value in vars(one).items() if name.isupper()}
    of = {kinds.USER: "UserField", kinds.STATUS: "StatusField"}
    assert names
    return {f"{of[one.of]}.{one.counter.upper()}" for one in kinds.LISTS if one.counter}


def of_entities() -> Iterator[str]:
    """Yield the names of sorted sets whose keys are named by one number."""
    for kind in described():
        parameters = inspect.signature(getattr(keys, kind.name)).parameters
        if kind.kind == "zset" and [one.annotation for one in parameters.values()] == [int] and "p" not in parameters:
            yield kind.name


def test_every_key_has_its_name() -> None:
    """Each key is declared under the name that scripts and the table of keys give it."""
    assert [name for name, key in vars(keys).items() if inspect.isfunction(key) and key.__name__ != name] == []


def test_every_list_is_declared() -> None:
    """Each sorted set that an entity owns is declared, so that it is checked, mended and exported."""
    assert set(of_entities()) - {one.name for one in kinds.LISTS} == NOT_DECLARED.keys()


def test_every_count_is_declared() -> None:
    """Each field in which a script stores how many there are is the counter of a list, or has a reason."""
    found = {field for path in FOLDER.rglob("*.lua") for field in counted_in(path.read_text("utf-8"))}
    assert {"StatusField.LIKES", "StatusField.COMMENTS", "HomeField.CHANGED"} <= found
    assert found - declared() == COUNTED_OTHERWISE.keys()


def test_every_field_that_says_how_many_is_declared() -> None:
    """Each field of a record whose comment says that it is a number of entries is the counter of a list."""
    text = Path(inspect.getfile(fields)).read_text("utf-8")
    said = {
        f"{name}.{field}"
        for name, body in re.findall(r"^class (\w+):\n(.*?)(?=^class |\Z)", text, re.MULTILINE | re.DOTALL)
        for field in _HOW_MANY.findall(body)
    }
    assert said == declared()


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("redis.call('HSET', poll, PollField.VOTES, redis.call('ZCARD', votes))", {"PollField.VOTES"}),
        ("local n = redis.call('SCARD', votes)\nredis.call('HSET', poll, PollField.VOTES, n)", {"PollField.VOTES"}),
        ("redis.call('HINCRBY', poll, PollField.VOTES, 1)", {"PollField.VOTES"}),
        ("redis.call('HINCRBY', prefix .. id, PollField.VOTES, 1)", {"PollField.VOTES"}),
        (
            "redis.call('HSET', poll, PollField.ENDS, ends, PollField.VOTES, redis.call('ZCARD', votes))",
            {"PollField.VOTES"},
        ),
        ("redis.call('HSET', poll, PollField.VOTES,\n  redis.call('ZCOUNT', votes, 1, 2))", {"PollField.VOTES"}),
        (
            "local n = tonumber(redis.call('LLEN', all))\nredis.call('HMSET', poll, PollField.VOTES, n)",
            {"PollField.VOTES"},
        ),
        ("redis.call('HINCRBY', poll, 'votes' .. option, 1)", {"'votes' .. option"}),
        ("redis.call('HSET', poll, PollField.ENDS, ends)", set()),
    ],
)
def test_what_is_found(line: str, field: set[str]) -> None:
    """A stored size is found however a script writes it, and no other field is."""
    assert counted_in(line) == field


def test_checks_of_the_site() -> None:
    """Each check of keys that no single id names is of documented kinds, which no declaration has."""
    of_site = {name for names in SITE_CHECKS for name in names}
    assert of_site <= {kind.name for kind in described()} - {kind.name for kind in kinds.KINDS}


@pytest.fixture
def votes(monkeypatch: pytest.MonkeyPatch) -> List:
    """A new list with a count: one declaration, as another feature would make it."""
    made = List(lambda post: f"votes:{{{partition(post)}}}:{post}", kinds.STATUS, entries=kinds.USER, counter="votes")
    monkeypatch.setattr(kinds, "LISTS", (*kinds.LISTS, made))
    monkeypatch.setitem(CHECKS, kinds.STATUS, (*lists.declared(kinds.STATUS),))
    return made


async def findings(db: Database, votes: List, post: int) -> list[Finding]:
    """Return what the checks of the list and of its owner find."""
    checks = [*lists.declared(votes), *lists.declared(kinds.STATUS)]
    return [finding for check in checks for finding in await check(db, [post])]


async def test_a_new_list(db: Database, alice: Member, bob: Member, votes: List) -> None:
    """A list that is only declared is checked, mended and recounted: its count, its entries and its owner."""
    post, voter = number(await alice.post("what shall we eat?")), number(bob.id)
    await db.ask(("ZADD", votes.key(post), 7, voter), ("HSET", keys.status(post), "votes", 1))
    assert not await findings(db, votes, post)
    await db.ask(("HSET", keys.status(post), "votes", 5), ("ZADD", votes.key(post), 8, GHOST))
    found = await findings(db, votes, post)
    assert [(one.key, one.message) for one in found] == [
        (votes.key(post), f"{GHOST} is gone"),
        (keys.status(post), "says 5 votes, there are 2"),
    ]
    await verify.repair(db, found)
    assert not await findings(db, votes, post)
    assert await db.one("HGET", keys.status(post), "votes") == "1"
    await db.one("HSET", keys.status(post), "votes", 3)
    assert sum(await db.ask(*counters.recount(kinds.STATUS, post))) == 1
    await db.one("ZADD", votes.key(GHOST), 7, voter)
    assert "belongs to no post" in {one.message for one in await findings(db, votes, GHOST)}
    await db.ask(("DEL", votes.key(post)), ("DEL", votes.key(GHOST)))


def test_a_new_list_is_exported() -> None:
    """A list of members that a member owns gets a section, unless its declaration says why not."""
    made = List(lambda member: f"close-friends:{member}", kinds.USER, entries=kinds.USER)
    named = made.key.__name__.replace("_", "-")
    assert [section.name for section in of_lists([made], ())] == [named]
    assert not list(of_lists([List(made.key, kinds.USER, entries=kinds.USER, unexported="a secret")], ()))
    covered = {key for section in SECTIONS for key in section.keys}
    assert not list(of_lists(kinds.LISTS, covered))
