"""A random site: the state by which steps choose what to do and where to crash."""

import contextlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from resolvers.jobs import dispatch
from resolvers.jobs.worker import Worker
from store.client.database import Database, Unavailable
from store.homes import bounds
from store.records.jobs import Job
from tests.support.model.model import Model
from tests.support.people import Member
from tests.support.servers.processes import until
from tests.support.transport.persistent import Outages
from tests.support.work import Fragile, work_off

LATEST_DEATH = 8  # The last call of a job at which it may crash.
TAGS = ("tea", "rain", "cats")

Result = TypeVar("Result")


@dataclass
class Life:
    """A random site: one seed gives one life. `crash` is the share of writes that die midway."""

    anonymous: Member
    db: Database
    worker: Worker
    seed: int
    crash: float = 0.0
    weights: Mapping[str, int] = field(default_factory=dict)
    model: Model = field(init=False)
    people: dict[str, Member] = field(default_factory=dict)
    signed_up: int = 0
    log: list[str] = field(default_factory=list)  # The steps done, for the report of a difference.
    ids: dict[int, str] = field(default_factory=dict)  # Global ids of all posts ever made.
    half: set[tuple[str, str]] = field(default_factory=set)  # Edges changed on one side only, because of a crash.
    unsure: set[frozenset[str]] = field(default_factory=set)  # Pairs who may see too little or too much, likewise.
    outages: Outages = field(default_factory=Outages)  # What the members' client sees of them.
    is_disturbed: bool = False  # Whether nodes die, so that any step may leave jobs to the worker.

    def __post_init__(self) -> None:
        self.model = Model(bounds.lift(self.db))
        self.lot = random.Random(self.seed)  # noqa: S311  chance that can be repeated, no secret

    async def finish_jobs(self) -> None:
        """Have the worker finish everything that crashed."""
        await self._persist(lambda: work_off(self.db, self.worker))
        self.half.clear()
        self.unsure.clear()

    # ---- outages

    async def _persist(self, act: Callable[[], Awaitable[Result]]) -> Result:
        """Do something that may be done twice, until the database is available; returns the result."""
        results: list[Result] = []

        async def is_done() -> bool:
            with contextlib.suppress(Unavailable):
                results.append(await act())
            return bool(results)

        await until(is_done)
        return results[0]

    def _is_accepted(self, payload: Mapping[str, Any]) -> bool:
        """Return whether a change was accepted: a request that was repeated may find that it has been made."""
        codes = {error["code"] for error in payload["userErrors"]}
        return codes <= ({"NOT_FOUND"} if self.outages.is_repeated else set())

    # ---- crashes

    def _crashes(self) -> bool:
        return self.lot.random() < self.crash

    async def _die_in(
        self, job: Job | None, edges: set[tuple[str, str]] | None = None, unsure: set[frozenset[str]] | None = None
    ) -> None:
        calls = self.lot.randint(0, LATEST_DEATH)
        self.log[-1] += f", crashes after {calls} calls"
        self.half |= edges or set()
        self.unsure |= unsure or set()
        if job:
            fragile = Fragile(self.db.settings, calls, halfway=self.lot.random() < 0.5)
            await dispatch.finish(fragile, job)
            await fragile.close()

    async def _meet(self, login: str, *others: str) -> None:
        """Check that what a member sees of others is what the model says."""
        if any(frozenset({login, other}) in self.unsure for other in others):
            await self.finish_jobs()

    async def _is_refused(self, me: Member, mutation: str, code: str | None, **fields: Any) -> bool:
        """If the model refuses a mutation, run it and check that it is refused."""
        if code:
            self.log[-1] += f", and is refused: {code}"
            payload = await me.do(mutation, **fields)
            self.same("the refusal", [error["code"] for error in payload["userErrors"]], [code])
        return code is not None

    def same(self, what: str, got: object, wanted: object) -> None:
        """Fail with seed and steps if an answer is not what the model says."""
        if got != wanted:
            steps = "\n  ".join(self.log)
            raise AssertionError(
                f"seed {self.seed}, step {len(self.log)}: {what}\n got:    {got}\n wanted: {wanted}\n  {steps}"
            )

    # ---- chance

    def _someone(self) -> Member:
        """Return a random member who may act."""
        return self.lot.choice([member for login, member in self.people.items() if login not in self.model.suspended])

    def _a_post(self) -> int | None:
        """Return a random post that its author does not hide. Others may or may not see it."""
        hidden = self.model.hidden
        shown = [post_id for post_id in self.model.posts if not {post_id, self.model.target_of(post_id)} & hidden]
        return self.lot.choice(shown) if shown else None

    def _words(self) -> str:
        tags = self.lot.sample(TAGS, self.lot.choice([0, 0, 1, 2]))
        return " ".join([f"words {len(self.log)}", *(f"#{tag}" for tag in tags)])

    def _log(self, what: str) -> None:
        self.log.append(what)


def tags_of(text: str) -> tuple[str, ...]:
    """Return the hashtags of a post as it is committed."""
    return tuple(word[1:] for word in text.split() if word.startswith("#"))
