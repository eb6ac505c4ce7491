"""Keeps the index of names equal to the members' own records."""

from collections.abc import Sequence

from resolvers.jobs.step import Budget, step
from resolvers.operation.inputs import batches
from resolvers.rules import names
from store import jobs, search
from store.client.database import Database
from store.ids import PARTITIONS
from store.records.job_bodies import NameIndexing
from store.records.jobs import Job

BATCH = 500  # members indexed by one script


async def index(db: Database, members: Sequence[int]) -> None:
    """Make the index equal to members' records, and remove members who no longer exist.

    The loop, or the job of the change itself, finds changes between reading a record and writing the index.
    """
    states = await wanted(db, members)
    while states:
        writes = [search.write(dict(some)) for some in batches(states.items(), BATCH)]
        replies = (await db.ask(*writes, *map(search.read_state, states)))[len(writes) :]
        now = {member: _state(reply) for member, reply in zip(states, replies, strict=True)}
        states = {member: state for member, state in now.items() if state != states[member]}


async def wanted(db: Database, members: Sequence[int]) -> dict[int, str]:
    """Return each member's index entry as it should be, '' for a member who no longer exists."""
    replies = await db.ask(*map(search.read_state, members))
    return {member: _state(reply) for member, reply in zip(members, replies, strict=True)}


def _state(reply: Sequence[str | None]) -> str:
    login, name, magnitude = reply
    return "" if login is None else search.state(int(magnitude or 0), names.indexed(login, name or ""))


@step(NameIndexing)
async def move(db: Database, job: Job[NameIndexing], _: Budget) -> None:
    """Run the job of a member whose follower count has reached another magnitude."""
    await index(db, [job.body.member])


async def catch_up(db: Database) -> None:
    """Run all pending index jobs in batches, after many follows were made at once."""
    for p in range(PARTITIONS):
        async for found in jobs.waiting(db, p):
            moves = {job.id: job.body.member for job in found if isinstance(job.body, NameIndexing)}
            for batch in batches(dict.fromkeys(moves.values()), BATCH):
                await index(db, batch)
            await db.ask(*map(jobs.finish, moves))
