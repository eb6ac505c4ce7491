"""The jobs of imports, each just committed in a small site."""

from collections.abc import Awaitable, Callable

from store.client.database import Database
from store.posts import PostDraft
from store.records.jobs import Job
from store.secret import Secret
from store.upkeep.copying import imports as stored
from tests.support.scene import Scene


async def _members(db: Database, _: Scene) -> Job | None:
    members = await stored.reserve(db, ["new"])
    (job,) = await stored.create(db, members, "example.org", Secret("a hash"))
    return job


async def _follows(db: Database, s: Scene) -> Job | None:
    # Nothing of dan's waits to be delivered. Otherwise homes would depend on which job a worker takes first.
    (job,) = await stored.follow(db, {s.cat: [s.dan]})
    return job


async def _posts(db: Database, s: Scene) -> Job | None:
    (job,) = await stored.publish(db, "source", {s.ann: [PostDraft(s.ann, "news #tea", hashtags=("tea",))]})
    return job


IMPORT_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "imported members": _members,
    "imported follows": _follows,
    "imported posts": _posts,
}
