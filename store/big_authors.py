"""Big authors: members with so many followers that readers pull their posts instead of having them pushed."""

from collections.abc import Collection

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import UserField

VERSION: Command = ("GET", keys.big_version())


async def mark(db: Database, member: int, job: int) -> None:
    """Add a member to the big authors, unless a newer job has removed them."""
    await db.ask(mark_command("add", member, job))


async def unmark(db: Database, member: int, job: int) -> None:
    """Remove a member from the big authors, unless a newer job has added them."""
    await db.ask(mark_command("remove", member, job))


def mark_command(step: str, member: int, job: int) -> Command:
    """Return the command of `mark`, with the step `add`, or of `unmark`, with `remove`."""
    return script("mark_big", big=keys.big(), big_version=keys.big_version(), step=step, member=member, job=job)


async def is_current(db: Database, member: int, reach: str) -> bool:
    """Return whether a member's promotion or demotion is still the newest one; `reach` is its stored text."""
    return bool(await db.one("HGET", keys.user(member), UserField.REACH) == reach)


async def finish(db: Database, member: int, reach: str, *, big: bool) -> bool:
    """Finish promoting or demoting a member; False when a newer change was committed."""
    return bool(await db.call("set_reach", member, expected=reach, state="big" if big else ""))


async def is_big(db: Database, member: int) -> bool:
    """Return whether a member is a big author, whose posts are not pushed."""
    return await pushed_until(db, member) is not None


async def pushed_until(db: Database, member: int) -> int | None:
    """Return the id after which no posts of a big author were pushed, None for all other members."""
    return _since(await db.one(*_reach(member)))


async def unpushed_since(db: Database, members: Collection[int]) -> dict[int, int]:
    """Return the big authors among some members, each with the id after which none of their posts were pushed.

    At most two round trips.
    """
    some = sorted(members)
    marked = await db.one("ZMSCORE", keys.big(), *some) if some else []
    big = [member for member, job in zip(some, marked, strict=True) if job is not None]
    since = map(_since, await db.ask(*map(_reach, big)))
    return {member: last for member, last in zip(big, since, strict=True) if last is not None}


async def big_authors(db: Database) -> tuple[str, tuple[int, ...]]:
    """Return the big authors, after the version of their set."""
    # The version is read first: a set newer than its version is only read once more.
    version, members = await db.ask(VERSION, ("ZRANGE", keys.big(), 0, -1))
    return version or "", tuple(int(member) for member in members)


async def unpushed(db: Database) -> set[int]:
    """Return the big authors except those still being promoted or demoted."""
    _, members = await big_authors(db)
    states = await db.ask(*map(_reach, members))
    return {member for member, state in zip(members, states, strict=True) if (state or "").startswith("big:")}


def _reach(member: int) -> Command:
    return ("HGET", keys.user(member), UserField.REACH)


def _since(reach: str | None) -> int | None:
    state, _, since = (reach or "").partition(":")
    return int(since) if state == "big" else None
