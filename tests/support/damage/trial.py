"""Tries damages: does them, has them found and repaired, and puts the store back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from resolvers.homes import build
from resolvers.jobs.worker import Worker
from resolvers.upkeep import verify
from resolvers.upkeep.verify import VerifyReport
from store.client.database import Database
from store.homes import stored
from store.keys.table import Described
from tests.support.damage.generated import Damage, content, damages
from tests.support.damage.village import Village
from tests.support.work import Photo, photograph, put_back, work_off

ROUNDS = 5  # of repair: one may reveal another finding
GHOST = 4_242 << 12  # an id that nobody and nothing has
OF_HOMES = {"home", "newest", "home_state", "sources", "candidates"}


@dataclass
class Outcome:
    """What became of one damage."""

    is_found: bool
    is_healed: bool = False
    left: list[str] = field(default_factory=list)  # findings about it after all repairs


class Trial:
    """A store with several villages, in each of which one damage is tried at a time."""

    def __init__(self, db: Database, worker: Worker, villages: Sequence[Village]) -> None:
        self._db, self._worker, self._villages = db, worker, villages
        self._kept: Photo = {}
        self._held: dict[str, Any] = {}

    async def begin(self) -> None:
        """Remember the store as it is now."""
        self._kept = await photograph(self._db)
        names = [name.decode() for name in self._kept]
        self._held = await content(self._db, names)

    async def look(self, *, homes_too: bool = False) -> VerifyReport:
        """Return verify's report. Homes are compared only if they are what is damaged: that takes most of the time."""
        return await verify.verify(self._db, homes=None if homes_too else 0, seed=1, progress=lambda _: None)

    async def run(self, *kinds: Described) -> dict[tuple[str, str], Outcome]:
        """Return the outcome of each damage to some kinds of keys, by both. Different kinds are damaged together."""
        lanes = {kind.name: self._lanes(kind) for kind in kinds}
        rounds = max((len(some[0]) for some in lanes.values()), default=0)
        found: dict[tuple[str, str], Outcome] = {}
        for i in range(rounds):
            tried = [
                (name, offered[i * len(some) + lane])
                for name, some in lanes.items()
                for lane, offered in enumerate(some)
                if i * len(some) + lane < len(offered)
            ]
            if tried:
                found |= await self._try(tried, is_of_home=bool(lanes.keys() & OF_HOMES))
        return found

    def has(self, kind: Described) -> bool:
        """Return whether the store has any key of a kind."""
        return bool(self._lanes(kind))

    def is_of_site(self, kind: Described) -> bool:
        """Return whether all villages share the keys of a kind."""
        return len(self._lanes(kind)) == 1

    def _lanes(self, kind: Described) -> list[list[Damage]]:
        """Return the damages to a key of a kind in each village, or to the site's one."""
        keys = [max(some, key=self._size) for village in self._villages if (some := self._of(kind, village.keys))]
        keys = keys or sorted(self._of(kind, self._held), key=self._size)[-1:]
        return [list(damages(kind.kind, key, self._held[key], GHOST + i)) for i, key in enumerate(keys)]

    def _of(self, kind: Described, keys: Iterable[str]) -> list[str]:
        return [key for key in keys if key in self._held and kind.pattern.fullmatch(key)]

    def _size(self, key: str) -> tuple[int, int, str]:
        """Return the sort key of a key: the one with most to lose comes last, first of all the one of a long home."""
        home = self._held.get(f"home:{key.partition(':')[2]}", ())
        return len(home), len(self._held[key]), key

    async def _try(self, tried: Sequence[tuple[str, Damage]], *, is_of_home: bool) -> dict[tuple[str, str], Outcome]:
        keys = [damage.key for _, damage in tried]
        before = await self._seen(keys, is_of_home=is_of_home)
        await put_back(self._db, self._kept)
        await self._db.ask(*(command for _, damage in tried for command in damage.commands))
        report = await self.look(homes_too=is_of_home)
        found = {(kind, damage.name): Outcome(bool(_about(damage, report))) for kind, damage in tried}
        if any(finding.repair for finding in report.findings):
            report = await self._repaired(report, is_of_home=is_of_home)
        after = await self._seen(keys, is_of_home=is_of_home)
        for kind, damage in tried:
            found[kind, damage.name].is_healed = after.get(damage.key) == before[damage.key]
            found[kind, damage.name].left = _about(damage, report)
        await put_back(self._db, self._kept)
        return found

    async def _repaired(self, report: VerifyReport, *, is_of_home: bool) -> VerifyReport:
        for _ in range(ROUNDS):
            if not await verify.repair(self._db, report.findings):
                break
            await work_off(self._db, self._worker)
            report = await self.look(homes_too=is_of_home)
        return report

    async def _seen(self, keys: Sequence[str], *, is_of_home: bool) -> dict[str, Any]:
        """Return what some keys hold; of keys of homes, what their members read."""
        if not is_of_home:
            return await content(self._db, keys)
        found = {}
        for key in keys:
            await build.read(self._db, member := int(key.rpartition(":")[2]))
            found[key] = await stored.home(self._db, member)
        return found


def _about(damage: Damage, report: VerifyReport) -> list[str]:
    texts = [f"{finding.key}: {finding.message}" for finding in report.findings]
    return [text for text in texts if any(word in text for word in damage.about)]
