"""Imports of groups: each is made once, however often the import is begun."""

from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep import verify
from resolvers.upkeep.importing import groups
from resolvers.upkeep.importing import network as imports
from resolvers.upkeep.importing.network import Network
from store.client.database import Database
from tests.support.people import contents


async def test_groups(db: Database) -> None:
    """Groups have their owners' followers as members, and posts; an import that goes on adds none."""
    following = {f"fan{i}": ["hub", f"fan{i // 2}"] for i in range(1, 9)}
    logins = ["hub", *(f"fan{i}" for i in range(9))]
    network = Network("network", logins, following, ["good morning #tea", "a second one"], total=0, seed=1)
    members = await imports.create_members(db, network, NO_PASSWORD, lambda _: None)
    await imports.create_follows(db, network, members, lambda _: None)
    kept = None
    for _ in range(2):
        new = groups.deal(network.following, network.texts, 5, network.seed)
        await groups.create(db, network.name, new, members, lambda _: None)
        found = [key for key in await contents(db) if key.startswith("group")]
        sizes = {key: await db.one("ZCARD", key) for key in found if key.startswith(("group-mem", "group-time"))}
        assert len(sizes) == 10
        assert {size for key, size in sizes.items() if key.startswith("group-time")} == {groups.POSTS}
        assert kept in (None, sizes)
        kept = sizes
        report = await verify.verify(db, homes=None, seed=1, progress=lambda _: None)
        assert (report.findings, report.unfinished_jobs) == ([], 0)
