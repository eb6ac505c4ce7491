"""Keeps the index of names as the members' own records are."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.jobs.step import Budget, Outcome, text
from resolvers.operation.inputs import batches
from resolvers.rules import names
from store import jobs, search
from store.client.database import Database
from store.ids import PARTITIONS
from store.records import Job

BATCH = 500  # members indexed per round trip


async def index(db: Database, members: Sequence[int]) -> None:
    """Have the index say of members what their records say, and nothing of those who are gone.

    What changes between the look and the write is found by the next look, of this call or of the change's own job.
    """
    states = await wanted(db, members)
    while states:
        _, *replies = await db.ask(search.write(states), *map(search.read_state, states))
        now = {member: _state(reply) for member, reply in zip(states, replies, strict=True)}
        states = {member: state for member, state in now.items() if state != states[member]}


async def wanted(db: Database, members: Sequence[int]) -> dict[int, str]:
    """Return what the index should have of members, '' for those who are gone."""
    replies = await db.ask(*map(search.read_state, members))
    return {member: _state(reply) for member, reply in zip(members, replies, strict=True)}


def _state(reply: Sequence[str | None]) -> str:
    login, name, magnitude = reply
    return "" if login is None else search.state(int(magnitude or 0), names.indexed(login, name or ""))


async def move(db: Database, job: Job, _: Budget) -> Outcome:
    """Do the job of a member whose followers have come to another magnitude."""
    await index(db, [int(text(job, "member"))])
    return Outcome.DONE


async def catch_up(db: Database) -> None:
    """Do all jobs that move members at once, after many follows at a time."""
    for p in range(PARTITIONS):
        async for found in jobs.waiting(db, p):
            moves = [job for job in found if job.kind == "index"]
            for batch in batches(dict.fromkeys(int(text(job, "member")) for job in moves), BATCH):
                await index(db, batch)
            await db.ask(*(jobs.finish(job) for job in moves))
