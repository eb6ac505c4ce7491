"""Fills an empty store with a small invented community: for trying Perch out only, since its password is public.

Everything is written by the functions that serve the API, so what holds for members' own posts holds here too.
"""

from __future__ import annotations

import asyncio
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from resolvers.accounts import create_member
from resolvers.jobs import dispatch, name_index
from resolvers.operation.context import Services
from resolvers.rules.text import hashtags, mentions
from store import accounts, follows, keys, likes_and_comments, posts
from store.client.database import Database
from store.ids import PARTITIONS
from store.likes_and_comments import CommentDraft
from store.posts import Draft
from store.secret import Secret

SEED = 7  # the same community every time; ids differ, as they carry time and partition
FOLLOWED_LEAST, FOLLOWED_MOST = 5, 20  # members that one follows; the guide follows the most
ROUND = 12  # posts published before the others answer, like and pass them on
REPOSTS = (0, 0, 0, 0, 1, 1, 2, 4)  # how often a post is passed on: one of these, each as likely
# How much likelier one member follows another for each thing that speaks for them; a stranger's weight is 1.
SHARED_CIRCLE, POPULAR, FOLLOWS_BACK = 12, 8, 10


@dataclass(frozen=True, slots=True)
class Login:
    """How to sign in to the demo."""

    login: str
    password: str


@dataclass(frozen=True, slots=True)
class Person:
    """A member to be created, as the data file has them; `posts` are those that nobody answers."""

    login: str
    name: str
    bio: str
    circles: list[str]
    posts: list[str]
    popular: bool = False


@dataclass(frozen=True, slots=True)
class DemoText:
    """A post, quote or comment, with what is said below it; `answers` are posts of their own."""

    by: str
    text: str
    replies: tuple[DemoText, ...] = ()
    quotes: tuple[DemoText, ...] = ()
    answers: tuple[DemoText, ...] = ()


@dataclass(frozen=True, slots=True)
class Community:
    """All that the data file says."""

    login: Login
    people: tuple[Person, ...]
    posts: tuple[DemoText, ...]


async def fill(services: Services) -> Login | None:
    """Fill an empty store and return how to sign in; returns None, and writes nothing, where there is any member."""
    if await _has_members(services.db):
        return None
    community = read()
    crowd = Crowd(services.db, await _sign_up(services, community))
    await crowd.follow(community)
    await name_index.catch_up(services.db)
    # Shuffled, so that everybody posts now and then and not all at once.
    order = _chance("order").sample(community.posts, len(community.posts))
    for start in range(0, len(order), ROUND):
        some = order[start : start + ROUND]
        ids = await asyncio.gather(*(crowd.publish(words) for words in some))
        await asyncio.gather(*(crowd.react(words, post) for words, post in zip(some, ids, strict=True)))
    return community.login


def read() -> Community:
    """Return the community of the data file."""
    raw = tomllib.loads(resources.files(__package__).joinpath("demo.toml").read_text("utf-8"))
    people = [Person(**member) for member in raw["members"]]
    words = [DemoText(person.login, text) for person in people for text in person.posts]
    words += [_words(thread) for thread in raw["threads"]]
    return Community(Login(raw["guide"], raw["password"]), tuple(people), tuple(words))


def _words(raw: Mapping[str, Any]) -> DemoText:
    below = (tuple(_words(part) for part in raw.get(kind, ())) for kind in ("replies", "quotes", "answers"))
    return DemoText(raw["by"], raw["text"], *below)


async def _has_members(db: Database) -> bool:
    # Whatever creates a member commits a job in the member's partition, whose stream stays once that is done. So this
    # is one round trip, and unlike DBSIZE it does not take the counters of a rate limit for members.
    return any(await db.ask(*(("EXISTS", keys.jobs(p)) for p in range(PARTITIONS))))


def _chance(about: str) -> random.Random:
    # One for each decision: what is decided does not depend on the order in which work done together gets on.
    return random.Random(f"{SEED} {about}")  # noqa: S311  arranges the demo, keeps no secret


async def _sign_up(services: Services, community: Community) -> dict[str, int]:
    """Create all members with one password, which is hashed once; returns their ids by login."""
    hashed = await services.passwords.hash(Secret(community.login.password))

    async def password_hash() -> Secret:
        return hashed

    async def create(person: Person) -> tuple[str, int]:
        email = f"{person.login}@example.org"
        member = await create_member(
            services.db, login=person.login, name=person.name, email=email, password_hash=password_hash
        )
        await accounts.update(services.db, member, profile={"bio": person.bio})
        return person.login, member

    return dict(await asyncio.gather(*map(create, community.people)))


class Crowd:
    """The members at work: they follow, post, and react to each other's posts."""

    def __init__(self, db: Database, ids: Mapping[str, int]) -> None:
        self._db = db
        self._ids = ids
        self._followers: dict[str, list[str]] = {login: [] for login in ids}

    async def follow(self, community: Community) -> None:
        """Have everybody follow some others: most of all those of their circles, the popular, and their followers."""
        chosen: dict[str, list[str]] = {}
        for person in community.people:
            is_guide = person.login == community.login.login
            count = FOLLOWED_MOST if is_guide else _chance(person.login).randint(FOLLOWED_LEAST, FOLLOWED_MOST)
            chosen[person.login] = self._choose(person, community.people)[:count]
            for login in chosen[person.login]:
                self._followers[login].append(person.login)
        pairs = [(self._ids[login], [self._ids[other] for other in followed]) for login, followed in chosen.items()]
        committed = await asyncio.gather(*(follows.follow(self._db, *pair) for pair in pairs))
        await asyncio.gather(*(dispatch.finish(self._db, job) for job, _ in committed if job))

    def _choose(self, person: Person, people: Sequence[Person]) -> list[str]:
        weights = {
            other.login: 1
            + SHARED_CIRCLE * len(set(person.circles) & set(other.circles))
            + POPULAR * other.popular
            + FOLLOWS_BACK * (other.login in self._followers[person.login])
            for other in people
            if other is not person
        }
        # Exponential delays with these rates order them as a weighted drawing without repetition does.
        chance = _chance(f"{person.login} follows")
        delays = {login: chance.expovariate(weight) for login, weight in weights.items()}
        return sorted(delays, key=delays.__getitem__)

    async def publish(
        self,
        words: DemoText,
        original: int | None = None,
        whose: str = "",
        *,
        reply_to: int | None = None,
        root: int = 0,
    ) -> int:
        """Publish a post, or a quote or plain repost of an original, or an answer; returns its id.

        The original, or the post answered, is by `whose`.
        """
        draft = Draft(
            author=self._ids[words.by],
            text=words.text,
            mentions=tuple(self._ids[login] for login in mentions(words.text) if login in self._ids),
            hashtags=hashtags(words.text),
            original=original,
            original_author=self._ids[whose] if original else None,
            reply_to=reply_to,
            reply_to_author=self._ids[whose] if reply_to else None,
            root=root or None,
        )
        _, post, job = await posts.create(self._db, draft)
        if job:
            await dispatch.finish(self._db, job)
        return post

    async def react(self, words: DemoText, post: int, root: int = 0) -> None:
        """Have the others like a post, pass it on, comment on it, quote and answer it, and react to that likewise."""
        followers, chance = self._followers[words.by], _chance(words.text)
        fans = chance.sample(followers, int(len(followers) * chance.random() ** 2))  # most posts get few
        await asyncio.gather(*(likes_and_comments.like(self._db, post, self._ids[login]) for login in fans))
        for login in fans[: chance.choice(REPOSTS)]:
            await self.publish(DemoText(login, ""), post, words.by)
        for reply in words.replies:
            await self._comment(reply, post, None)
        for quote in words.quotes:
            await self.react(quote, await self.publish(quote, post, words.by))
        for answer in words.answers:
            made = await self.publish(answer, whose=words.by, reply_to=post, root=root or post)
            await self.react(answer, made, root or post)

    async def _comment(self, words: DemoText, post: int, reply_to: int | None) -> None:
        draft = CommentDraft(post, self._ids[words.by], words.text, reply_to)
        _, comment, _ = await likes_and_comments.create_comment(self._db, draft)
        for reply in words.replies:
            await self._comment(reply, post, comment)
