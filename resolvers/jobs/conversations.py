"""The jobs of conversations: they bring each participant's entry up to the conversation's state.

A step reads the state again, and an entry takes only a newer version. So it does not matter in which order changes are
applied, nor how often.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from resolvers.jobs import pictures
from resolvers.jobs.step import Budget, Part, in_parts, run_part, step
from store.client.database import Database
from store.conversations import entries, messages
from store.conversations.records import Conversation, Participant, State
from store.records.job_bodies import ConversationChange, Departure
from store.records.jobs import Job
from store.records.lists import read_pairs


@dataclass(slots=True)
class _Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    begun: int = 0  # runs
    succeeded: int = 0  # newest run that has


class Coalescing:
    """Runs work that brings a subject up to its newest state, once at a time per subject.

    Callers who come while it runs share the next run.
    """

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def run(self, subject: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        """Return once a run that began after this call has succeeded; raises the error of the caller's own run."""
        turn = self._turns.setdefault(subject, _Turn())
        turn.callers += 1
        enough = turn.begun + 1
        try:
            async with turn.lock:
                if turn.succeeded < enough:
                    turn.begun += 1
                    run = turn.begun
                    await work()
                    turn.succeeded = run
        finally:
            turn.callers -= 1
            if not turn.callers:
                del self._turns[subject]


_RUNS: WeakKeyDictionary[Database, Coalescing] = WeakKeyDictionary()


@step(ConversationChange)
async def deliver(db: Database, job: Job[ConversationChange], budget: Budget) -> None:
    """Apply a new or deleted message for all participants."""
    await update(db, job.body.conversation, budget)
    await pictures.end_messaged(db, job.body.message, job.body.images)


async def update(db: Database, conversation: int, budget: Budget) -> None:
    """Bring the entries of all participants up to a conversation's state; two round trips.

    While messages are sent faster than this is done, one run serves several of them.
    """

    async def apply() -> None:
        state = await messages.state(db, conversation)
        if state:  # else it has ended, and the job of each departure removes one entry
            await _apply(db, state, state.participants, budget)

    await _RUNS.setdefault(db, Coalescing()).run(conversation, apply)


@step(Departure)
async def leave(db: Database, job: Job[Departure], budget: Budget) -> None:
    """Remove the entry of a participant who has left, and the messages of a conversation that has ended."""
    conversation = job.body.conversation
    state = await messages.state(db, conversation)
    if state is None:
        state = State(conversation, job.id, (Participant(job.body.member, 0),))
    await _apply(db, state, state.participants, budget)
    if job.body.ended:
        await in_parts(db, job, budget, _clear(db, job.body))


async def _clear(db: Database, ended: Departure) -> AsyncGenerator[Part]:
    """Remove the messages of a conversation that has ended."""
    while True:
        for message, packed in await messages.oldest_pictures(db, ended.conversation):
            await pictures.end_messaged(db, message, packed)
        if await messages.clear(db, ended.conversation, ended.ended):
            return
        yield "", messages.CLEARED_AT_ONCE


async def _apply(db: Database, state: State, participants: Iterable[Participant], budget: Budget) -> None:
    wanted = list(participants)
    budget.left -= len(wanted)
    replies = await db.ask(*(entries.apply_command(db, state, participant) for participant in wanted))
    for participant, reply in zip(wanted, replies, strict=True):
        if reply is None:  # their account was deleted while they were added
            await leave_for(db, state.id, participant.member, budget)


async def leave_for(db: Database, conversation: int, member: int, budget: Budget) -> None:
    """Remove a member whose account is deleted from a conversation."""
    await run_part(db, await messages.leave(db, conversation, member), budget)


async def leave_all(db: Database, member: int) -> AsyncIterator[int]:
    """Remove a member whose account is deleted from all their conversations; yields how many each batch had."""
    while (found := (await entries.scan(db, member))[1]) and (yielded := len(found)):
        for conversation in found:
            await leave_for(db, conversation, member, Budget(float("inf")))
        yield yielded


async def after_change(
    db: Database, job: Job, member: int, others: Collection[int], budget: Budget
) -> AsyncGenerator[Part]:
    """Apply blocks or mutes, or their ends, to the conversations that the members share.

    A block ends a conversation of two for both. In larger ones, the blocking member does not see the other's messages.
    The messages of a muted member count as read.
    """
    if not job.cursor:
        pairs = await db.ask(*(messages.of_members_command({member, other}) for other in others))
        for pair in pairs:
            if pair:
                await update(db, int(pair), budget)
    cursor = job.cursor or "0"
    while True:
        cursor, found = await entries.scan(db, member, cursor)
        larger = [conversation for conversation, size in found.items() if size > 2]  # noqa: PLR2004  pairs are done
        await _update_shared(db, member, set(others), larger, budget)
        if cursor == "0":
            return
        yield cursor, 0


async def show_again(db: Database, member: int, blockers: Collection[int]) -> None:
    """Count what members see again of one whom they blocked, and whose account is deleted, in their conversations."""
    for blocker in blockers:
        cursor = ""
        while cursor != "0":
            cursor, found = await entries.scan(db, blocker, cursor or "0")
            await _update_shared(db, blocker, {member}, found, Budget(float("inf")))


async def _update_shared(db: Database, member: int, others: set[int], found: Collection[int], budget: Budget) -> None:
    """Apply blocks and mutes for the member whose they are to those conversations that one of the others is in."""
    replies = await db.ask(*map(messages.conversation_command, found))
    for conversation, reply in zip(found, replies, strict=True):
        budget.left -= 1
        record = Conversation.read(conversation, reply if isinstance(reply, dict) else read_pairs(reply))
        if record and others.intersection(record.members):
            state = await messages.state(db, conversation)
            if state:
                await _apply(db, state, [one for one in state.participants if one.member == member], budget)
