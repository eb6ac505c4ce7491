"""Viewers cannot name an unseen entity: mutations answer as if it did not exist, and change nothing."""

from typing import Any

import pytest

from store import posts
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member, contents
from tests.support.visibility.audience import ANONYMOUS, SELF, Audience, Entities, audience, roomy
from tests.support.visibility.sightings import ids_in, operation
from tests.support.visibility.sights import CELLS, MEMBER, SUSPENDED, Cell
from tests.support.visibility.writes import MENTION, WRITES, Write
from tests.support.work import number

LONG_AGO = 1 << 40  # subtracted from an id: three days earlier, before anything existed
INDEXES = "discussed:"  # of posts commented on: a left-over entry names too much, and is harmless


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for all mutations in one request."""
    return roomy(settings)


def made_up(site: Audience, cell: Cell) -> Entities:
    """Return ids of missing entities of the same types and partitions, beside the friend's real ones."""
    false = {name: _other(it) for name, it in site.own(cell).items() if name != "login"}
    return {**site.shared, **false}


def _other(identity: str) -> str:
    return f"{identity.partition('_')[0]}_{number(identity) - LONG_AGO:014x}"


def acts(*named: Write) -> list[str]:
    """Return mutations, each for every entity that it accepts."""
    return [write.text.replace("$it", f"${entity}") for write in named for entity in write.entities.split()]


async def compare(site: Audience, cell: Cell, fields: list[str]) -> list[tuple[str, Any, Any]]:
    """Return mutations, each with its answers for the entities of a cell and for invented ones."""
    document, viewer = operation("mutation", fields), site.viewer(cell)
    false, real = await viewer.send(document, **made_up(site, cell)), await viewer.send(document, **site.named(cell))
    assert false.get("errors") == real.get("errors"), cell
    answers = [[answer["data"] and answer["data"][f"f{n}"] for n in range(len(fields))] for answer in (real, false)]
    return list(zip(fields, *answers, strict=True))


async def remembered(db: Database) -> dict[str, Any]:
    """Return all relevant contents of the store."""
    return {key: value for key, value in (await contents(db)).items() if not key.startswith(INDEXES)}


def can_act(cell: Cell) -> bool:
    """Return whether the viewer may do anything."""
    return cell.relation not in {ANONYMOUS, SUSPENDED} and not (cell.relation == SELF and cell.state.suspended)


async def test_what_is_not_seen(db: Database, anonymous: Member) -> None:
    """A mutation of an unseen entity answers exactly as for a missing one, and changes nothing."""
    site = await audience(db, anonymous)
    before = await remembered(db)
    for cell in CELLS:
        refused = acts(*(write for write in WRITES if not write.can_name(cell)))
        for act, found, expected in await compare(site, cell, refused) if refused else ():
            assert found == expected, f"{cell}: {act}"
    assert await remembered(db) == before


async def test_what_is_seen(db: Database, anonymous: Member) -> None:
    """A mutation of a visible entity answers otherwise than for a missing one."""
    site = await audience(db, anonymous)
    for cell in CELLS:
        taken = acts(*(write for write in WRITES if write.can_name(cell) and write.is_harmless(cell)))
        for act, found, not_found in await compare(site, cell, taken) if taken and can_act(cell) else ():
            assert found != not_found, f"{cell}: {act}"


async def test_names_in_a_text(db: Database, anonymous: Member) -> None:
    """A post mentions the members its author sees, and has the others' names as plain text."""
    site = await audience(db, anonymous)
    document = operation("mutation", [MENTION.text])
    for cell in CELLS:
        entities = site.entities[cell.state]
        if can_act(cell):
            named = [entities["member"]] * MEMBER.is_seen(cell)
            status = (await site.viewer(cell).ask(document, logins=f"@{entities['login']}"))["status"]
            assert list(ids_in(status["mentions"])) == named, cell
            # The mention is not stored for others either, who may see the member.
            kept = await posts.post(db, number(status["id"]))
            assert kept
            assert kept.mentioned == tuple(map(number, named)), cell
