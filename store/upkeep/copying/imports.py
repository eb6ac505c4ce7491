"""Imports: members and posts written in batches, without events or deliveries, and how far an import has come."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct

from store import account_names, accounts, jobs, keys, kinds
from store.accounts import AccountDraft
from store.client.database import Database, script
from store.conversations import messages
from store.ids import PARTITIONS
from store.posts import PostDraft, create_command
from store.public_timelines import list_command
from store.records.lists import read_pairs
from store.secret import Secret


class NewMember(Struct, frozen=True):
    """A member to be created, whose login is reserved."""

    id: int
    login: str
    email: str


async def holders(db: Database, logins: Sequence[str]) -> dict[str, int]:
    """Return who holds or has reserved each of some logins. One round trip."""
    found = await db.ask(*(("GET", keys.login(login)) for login in logins))
    return {login: int(holder) for login, holder in zip(logins, found, strict=True) if holder}


async def reserve(db: Database, logins: Sequence[str]) -> dict[str, int]:
    """Reserve logins for new ids in random partitions; returns these. Two round trips."""
    chosen = [random.randrange(PARTITIONS) for _ in logins]  # noqa: S311  spreads load, keeps no secret
    minted = await db.ask(*(script("mint", minted=keys.minted(p), partition=p) for p in chosen))
    members = dict(zip(logins, map(int, minted), strict=True))
    life = db.settings.reservation_seconds
    await db.ask(*(("SET", keys.login(login), member, "NX", "EX", life) for login, member in members.items()))
    return members


async def create(db: Database, members: Sequence[NewMember], password: Secret) -> list[int]:
    """Create members with one password hash; returns the jobs (ids) that make their names permanent. One round trip."""
    made = await db.ask(
        *(
            accounts.create_command(new.id, AccountDraft(new.login, new.login, new.email, password, is_verified=True))
            for new in members
        )
    )
    return [int(job) for job, _ in filter(None, made)]


async def keep_names(db: Database, members: Sequence[NewMember], names: Sequence[int]) -> None:
    """Make the names of new members permanent, and finish the jobs for that. One round trip."""
    await db.ask(
        *(account_names.keep_name(keys.login(new.login), new.id) for new in members),
        *(("SET", keys.email(new.email), new.id) for new in members),
        *map(jobs.finish, names),
    )


async def published(db: Database, source: str) -> Counter[int]:
    """Return how many posts earlier runs of an import have created for each author. One round trip."""
    replies = await db.ask(*(("HGETALL", keys.imported(p, source)) for p in range(PARTITIONS)))
    return Counter({int(m): int(count) for reply in replies for m, count in read_pairs(reply).items()})


async def publish(db: Database, source: str, drafts: Mapping[int, Sequence[PostDraft]]) -> list[int]:
    """Create posts by some authors, and count each in the same step; returns their ids in order. One round trip."""
    made = await db.ask(*(create_command(db, draft, source) for own in drafts.values() for draft in own))
    return [int(reply[0]) for reply in made]


async def message_counts(db: Database, sets: Sequence[Sequence[int]]) -> list[int]:
    """Return how many messages the conversation of each set of members has, 0 without one. Two round trips."""
    found = await db.ask(*map(messages.of_members_command, sets))
    listed = [kinds.MESSAGES.key(int(one)) for one in found if one]
    counts = iter(await db.ask(*(("ZCARD", key) for key in listed)))
    return [int(next(counts)) if one else 0 for one in found]


class NewPost(Struct, frozen=True):
    """A post to be listed in public timelines, with the score for their rankings."""

    id: int
    hashtags: Sequence[str]
    score: float


async def list_publicly(db: Database, posts: Sequence[NewPost]) -> None:
    """Add posts to the public timeline, to those of their tags, and to the rankings. One round trip."""
    scored: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for post in posts:
        for listed in keys.ranked_lists(post.hashtags):
            scored[listed].append((post.id, post.score))
    await db.ask(*(list_command(db, listed, new) for listed, new in scored.items()))
