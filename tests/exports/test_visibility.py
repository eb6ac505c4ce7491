"""Exports follow the table of visibility: in no cell does one show what its member does not see."""

from collections.abc import Iterator
from typing import Any

import pytest

from resolvers.archives.sections import SECTIONS
from resolvers.archives.viewing import Export
from resolvers.process.services import Services
from store import accounts
from store.client.database import Database
from store.settings import Settings
from tests.support.people import Member
from tests.support.visibility.audience import ANONYMOUS, SELF, audience, roomy
from tests.support.visibility.paths import PATHS
from tests.support.visibility.sights import CELLS, Cell
from tests.support.work import number

WAYS = [(entity, path) for path in PATHS for entity in path.entities.split()]
SEEN_BY_ALL = {"friend_group", "group", "friend", "pal"}  # that a group exists, and public members


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with room for everything that the site holds."""
    return roomy(settings)


def shown(value: Any) -> Iterator[str]:
    """Yield the ids of everything of which an entry shows more than ids."""
    if isinstance(value, dict):
        if "id" in value and not value.keys() <= {"id", "authorId"}:
            yield value["id"]
        for part in value.values():
            yield from shown(part)
    elif isinstance(value, list):
        for part in value:
            yield from shown(part)


async def exported(services: Services, member: Member) -> set[str]:
    """Return the ids of everything that a member's export shows."""
    user = await accounts.user(services.db, number(member.id))
    assert user
    export = Export(services, user.id, is_suspended=user.is_suspended)
    return {one for section in SECTIONS async for page in section.read(export) for one in shown(page)}


def may_show(entity: str, cell: Cell) -> bool:
    """Return whether any path of the API leads to an entity in a cell."""
    return any(path.leads(cell) for name, path in WAYS if name == entity)


async def test_no_cell_shows_more(db: Database, services: Services, anonymous: Member) -> None:
    """An export shows no member, post, comment or message that no path of the API leads its member to."""
    site = await audience(db, anonymous)
    found, failures = 0, []
    for cell in CELLS:
        if cell.relation == ANONYMOUS:
            continue
        entities, seen = site.named(cell), await exported(services, site.viewer(cell))
        for entity in {name for name, _ in WAYS} - SEEN_BY_ALL:
            if entities[entity] in seen:
                found += 1
                if not may_show(entity, cell):
                    failures.append(f"{cell}: the export shows {entity}")
    assert not failures, "\n".join(failures)
    assert found > len(CELLS)


async def test_own_entities(db: Database, services: Services, anonymous: Member) -> None:
    """A member's export shows all that they wrote, in every state of the account."""
    site = await audience(db, anonymous)
    own = ("member", "status", "late", "quote_of_status", "repost_of_status", "comment_on_status", "message")
    for cell in (one for one in CELLS if one.relation == SELF):
        entities, seen = site.named(cell), await exported(services, site.viewer(cell))
        assert [name for name in own if entities[name] not in seen] == [], cell
