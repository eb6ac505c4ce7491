"""Imports messages: conversations of two, written in batches, without jobs of their own."""

import asyncio
import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from resolvers.jobs.conversations import update
from resolvers.jobs.step import Budget
from resolvers.operation.inputs import batches
from store import jobs
from store.client.database import Command, Database
from store.conversations import messages
from store.conversations.messages import MessageDraft
from store.refusals import accepted
from store.upkeep.copying import imports as stored

BATCH = 100  # Conversations per round trip.

EACH = 20  # Messages of a conversation, on average.

Dealt = Mapping[tuple[str, str], Sequence[tuple[str, str]]]  # Two members → sender and text of each message.


def deal(following: Mapping[str, Sequence[str]], texts: Sequence[str], total: int, seed: int) -> Dealt:
    """Return messages for conversations of two members of whom one follows the other, chosen by chance."""
    follows = [(follower, followed) for follower, others in following.items() for followed in others]
    chance = random.Random(f"{seed} messages")  # noqa: S311  deals out, keeps no secret
    chosen = chance.sample(follows, min(len(follows), -(-total // EACH)))
    pairs = list(dict.fromkeys((min(pair), max(pair)) for pair in chosen))
    words = itertools.cycle(texts or ["hello"])
    dealt: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for pair in itertools.islice(itertools.cycle(pairs), total):
        dealt[pair].append((chance.choice(pair), next(words)))
    return dealt


async def create(db: Database, dealt: Dealt, members: Mapping[str, int], progress: Callable[[int], object]) -> None:
    """Create the messages that earlier runs have not: a conversation with as many messages is left as it is."""
    for pairs in batches(dealt, BATCH):
        done = await stored.message_counts(db, [[members[login] for login in pair] for pair in pairs])
        commands: list[Command] = []
        for pair, count in zip(pairs, done, strict=True):
            ids = [members[login] for login in pair]
            drafts = [MessageDraft(members[sender], text, ids) for sender, text in dealt[pair][count:]]
            commands += [messages.start_command(ids, draft) for draft in drafts]
        made = [accepted(messages.read_sent(reply)) for reply in await db.ask(*commands)]
        written = [sent.job for sent in made if sent.job]
        touched = {job.body.conversation for job in written}
        await asyncio.gather(*(update(db, conversation, Budget(float("inf"))) for conversation in touched))
        await db.ask(*(jobs.finish(job.id) for job in written))
        progress(sum(len(dealt[pair]) for pair in pairs))
