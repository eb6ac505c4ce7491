"""Every kind of key in the key table is damaged in every way: `verify` finds it, and `repair` heals it."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from resolvers.jobs.worker import Worker
from resolvers.upkeep import verify
from store.client.database import Database
from store.media.objects import Media
from store.settings import Settings
from tests.support.damage.exceptions import NEVER_STORED, NOT_FOUND, NOT_HEALED, Rows, is_in
from tests.support.damage.generated import KINDS
from tests.support.damage.trial import Outcome, Trial
from tests.support.damage.village import settle
from tests.support.people import Member
from tests.support.slow import slow
from tests.support.stored import find

pytestmark = slow

VILLAGES = 6  # damages that are tried at a time
PARTS = 4  # of the key table, for several cores


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Three followers make a big author."""
    return replace(settings, big_author=3)


@pytest.fixture
async def trial(db: Database, anonymous: Member, worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Trial:
    """Some villages whose scores are computed. Files of pictures stay, because only keys are put back."""
    if db.is_cluster:
        pytest.skip("the keys of one server are put back; test_verify damages those of a cluster")

    async def stay(*_: object) -> None:
        pass

    monkeypatch.setattr(Media, "remove", stay)
    made = Trial(db, worker, [await settle(db, anonymous, worker, str(i)) for i in range(VILLAGES)])
    await db.ask(*(("DEL", key) for key in await find(db, "rescore:*")))
    await verify.repair(db, (await made.look()).findings)
    await made.begin()
    return made


@pytest.mark.parametrize("part", range(PARTS))
async def test_damages(trial: Trial, part: int) -> None:
    """Each damage to each kind of key is found and healed, unless the tables of exceptions say why not.

    No damage stops `verify` or `repair`. A kind of key that no village has is in a table, too.
    """
    assert (await trial.look(homes_too=True)).clean
    some = list(KINDS.values())[part::PARTS]
    stored = [kind for kind in some if trial.has(kind)]
    assert {kind.name for kind in some} - {kind.name for kind in stored} == {
        kind.name for kind in some if is_in(NEVER_STORED, kind.name)
    }
    shared = [kind for kind in stored if trial.is_of_site(kind)]
    loud = [kind for kind in shared if not is_in(NOT_FOUND, kind.name, "lost key")]  # these are damaged together
    found: dict[tuple[str, str], Outcome] = {}
    for kinds in [*([kind] for kind in stored if kind not in loud), loud]:
        found |= await trial.run(*kinds)
    assert _exceptions(found, lambda one: one.is_found) == _expected(found, NOT_FOUND)
    assert _exceptions(found, lambda one: one.is_healed) <= _expected(found, NOT_FOUND, NOT_HEALED)


def _exceptions(found: dict[tuple[str, str], Outcome], is_right: Callable[[Outcome], bool]) -> set[tuple[str, str]]:
    return {name for name, outcome in found.items() if not is_right(outcome)}


def _expected(found: dict[tuple[str, str], Outcome], *tables: Rows) -> set[tuple[str, str]]:
    return {name for name in found if any(is_in(table, *name) for table in tables)}
