"""Imports: members, follows and posts written in batches, and how far an import has come.

Each script commits to one partition, with the job that brings the changes to the others.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store import keys, kinds
from store.client.database import Command, Database, script
from store.conversations import messages
from store.credentials.records import Role
from store.ids import PARTITIONS
from store.pictures.images import write_wanted
from store.posts import PostDraft
from store.records.job_bodies import Importing
from store.records.jobs import Job, read_job
from store.records.lists import read_pairs
from store.records.posts import write_hashtags
from store.scripts.partitioned import by_partition
from store.secret import Secret

FOLLOWED = 500  # members whom one member follows by one script, at most
WRITTEN = 100  # posts of one author by one script, at most


async def holders(db: Database, logins: Sequence[str]) -> dict[str, int]:
    """Return who holds or has reserved each of some logins. One round trip."""
    found = await db.ask(*(("GET", keys.login(login)) for login in logins))
    return {login: int(holder) for login, holder in zip(logins, found, strict=True) if holder}


async def reserve(db: Database, logins: Sequence[str]) -> dict[str, int]:
    """Reserve logins for new ids in random partitions; returns who has them then. Two round trips."""
    wanted = Counter(random.randrange(PARTITIONS) for _ in logins)  # noqa: S311  spreads load, keeps no secret
    minted = await db.ask(*(script("mint", partition=p, count=count) for p, count in wanted.items()))
    fresh = dict(zip(logins, (int(member) for ids in minted for member in ids), strict=True))
    life = db.settings.reservation_seconds
    held = await db.ask(*(("SET", keys.login(name), new, "NX", "GET", "EX", life) for name, new in fresh.items()))
    return {login: int(holder or fresh[login]) for login, holder in zip(logins, held, strict=True)}


async def create(db: Database, members: Mapping[str, int], domain: str, password: Secret) -> list[Job[Importing]]:
    """Create members by their reserved logins, with one password hash and addresses in a domain. One round trip."""
    shared = {"email_domain": domain, "password_hash": password.reveal(), "role": Role.MEMBER.value}
    return await _commit(
        db,
        (
            script("import_members", partition=p, **shared, members=words)
            for p, words in by_partition((member, [login]) for login, member in members.items())
        ),
    )


async def follow(db: Database, following: Mapping[int, Sequence[int]]) -> list[Job[Importing]]:
    """Commit the follows that do not exist, by follower. One round trip."""
    parts = ((a, others[i : i + FOLLOWED]) for a, others in following.items() for i in range(0, len(others), FOLLOWED))
    return await _commit(
        db,
        (
            script("import_follows", partition=p, max_following=db.settings.max_following, follows=words)
            for p, words in by_partition(parts)
        ),
    )


async def published(db: Database, source: str) -> Counter[int]:
    """Return how many posts earlier runs of an import have created for each author. One round trip."""
    replies = await db.ask(*(("HGETALL", keys.imported(p, source)) for p in range(PARTITIONS)))
    return Counter({int(m): int(count) for reply in replies for m, count in read_pairs(reply).items()})


async def publish(db: Database, source: str, drafts: Mapping[int, Sequence[PostDraft]]) -> list[Job[Importing]]:
    """Create posts by some authors, and count each in the same step. One round trip."""
    parts = ((a, own[i : i + WRITTEN]) for a, own in drafts.items() for i in range(0, len(own), WRITTEN))
    return await _commit(
        db,
        (
            script("import_posts", partition=p, imported=keys.imported(p, source), posts=words)
            for p, words in by_partition((author, _words(own)) for author, own in parts)
        ),
    )


def _words(drafts: Sequence[PostDraft]) -> list[str]:
    return [
        word
        for draft in drafts
        for word in (
            draft.text,
            write_hashtags(draft.hashtags),
            " ".join(map(str, draft.mentions)),
            write_wanted(draft.images),
        )
    ]


async def _commit(db: Database, commands: Iterable[Command]) -> list[Job[Importing]]:
    replies: list[Any] = await db.ask(*commands)
    return [read_job(Importing, *reply) for reply in replies if reply]


async def message_counts(db: Database, sets: Sequence[Sequence[int]]) -> list[int]:
    """Return how many messages the conversation of each set of members has, 0 without one. Two round trips."""
    found = await db.ask(*map(messages.of_members_command, sets))
    listed = [kinds.MESSAGES.key(int(one)) for one in found if one]
    counts = iter(await db.ask(*(("ZCARD", key) for key in listed)))
    return [int(next(counts)) if one else 0 for one in found]
