"""Fills an empty store with a small invented community. Its password is public, so use it only to try Perch out.

The functions that serve the API write everything, so the demo's data keeps the same rules as members' own.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

import msgspec
from msgspec import Struct

from resolvers.accounts import create_member
from resolvers.jobs import dispatch, name_index
from resolvers.process.services import Services
from resolvers.rules.text import hashtags, mentions
from resolvers.upkeep.demo import groups as demo_groups
from resolvers.upkeep.demo import moderation
from resolvers.upkeep.demo import pictures as demo_pictures
from resolvers.upkeep.demo.groups import Club
from resolvers.upkeep.demo.moderation import Complaint
from store import accounts, follows, likes_and_comments, posts
from store.client.database import Database
from store.conversations import entries
from store.conversations import messages as conversations
from store.keys.fields import UserField
from store.likes_and_comments import CommentDraft
from store.posts import PostDraft
from store.refusals import accepted
from store.secret import Secret
from store.upkeep import scanning

SEED = 7  # The same community every time. Only ids differ, as they contain time and partition.
FOLLOWED_LEAST, FOLLOWED_MOST = 5, 20  # Follows per member. The guide has the most.
ROUND = 12  # Posts published before others reply to them, like them and repost them.
REPOSTS = (0, 0, 0, 0, 1, 1, 2, 4)  # The reposts of a post are one of these numbers, each equally likely.
# Weights that make one member more likely to follow another; a stranger's weight is 1.
SHARED_CIRCLE, POPULAR, FOLLOWS_BACK = 12, 8, 10


@dataclass(frozen=True, slots=True)
class Login:
    """The login and password of the demo."""

    login: str
    password: str


@dataclass(frozen=True, slots=True)
class Person:
    """A member to be created, as in the data file; `posts` are those that get no replies."""

    login: str
    name: str
    bio: str
    circles: list[str]
    posts: list[str]
    popular: bool = False


@dataclass(frozen=True, slots=True)
class DemoText:
    """A post, quote or comment. `replies` are the comments below it, `answers` are reply posts."""

    by: str
    text: str
    replies: "tuple[DemoText, ...]" = ()
    quotes: "tuple[DemoText, ...]" = ()
    answers: "tuple[DemoText, ...]" = ()
    pictures: tuple[str, ...] = ()  # their alt texts


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: who takes part, and login and text of each message. `unread` of them the guide has not read."""

    people: list[str]
    messages: list[list[str]]
    unread: int = 0


class Community(Struct, frozen=True):
    """The whole content of the data file."""

    guide: str  # login of the member as whom one tries Perch out
    password: str  # of everybody
    moderator: str
    members: tuple[Person, ...]
    threads: tuple[DemoText, ...]
    talks: tuple[Talk, ...]
    groups: tuple[Club, ...]
    complaints: tuple[Complaint, ...]

    @property
    def posts(self) -> list[DemoText]:
        """All posts, those of the members that get no replies first."""
        return [*(DemoText(one.login, text) for one in self.members for text in one.posts), *self.threads]


async def fill(services: Services) -> Login | None:
    """Fill an empty store and return how to log in. If there is any member, write nothing and return None."""
    if await scanning.has_members(services.db):
        return None
    community = read()
    ids = await _sign_up(services, community)
    known = [person.login for person in community.members if person.popular or person.login == community.guide]
    await demo_pictures.portray(services.db, {login: ids[login] for login in known}, community.guide)
    crowd = Crowd(services.db, ids)
    await crowd.follow(community)
    await name_index.catch_up(services.db)
    # Shuffled, so that each member's posts are spread over time.
    order = _chance("order").sample(community.posts, len(community.posts))
    for start in range(0, len(order), ROUND):
        some = order[start : start + ROUND]
        made = await asyncio.gather(*(crowd.publish(words) for words in some))
        await asyncio.gather(*(crowd.react(words, post) for words, post in zip(some, made, strict=True)))
    for talk in community.talks:
        await crowd.talk(talk, community.guide)
    await demo_pictures.send(services.db, ids, community.talks[0].people, "The weir at six twenty")
    for club in community.groups:
        await demo_groups.gather(services.db, ids, club)
    await moderation.moderate(services.db, ids, community.moderator, community.complaints)
    return Login(community.guide, community.password)


def read() -> Community:
    """Return the community of the data file."""
    return msgspec.toml.decode(resources.files(__package__).joinpath("demo.toml").read_bytes(), type=Community)


def _chance(about: str) -> random.Random:
    # One generator per decision, so that decisions don't depend on the order in which concurrent tasks run.
    return random.Random(f"{SEED} {about}")  # noqa: S311  arranges the demo, keeps no secret


async def _sign_up(services: Services, community: Community) -> dict[str, int]:
    """Create all members with one password, which is hashed once; returns ids by login."""
    hashed = await services.passwords.hash(Secret(community.password))

    async def password_hash() -> Secret:
        return hashed

    async def create(person: Person) -> tuple[str, int]:
        email = f"{person.login}@example.org"
        member = await create_member(
            services.db, login=person.login, name=person.name, email=email, password_hash=password_hash
        )
        await accounts.update(services.db, member, profile={UserField.BIO: person.bio})
        return person.login, member

    return dict(await asyncio.gather(*map(create, community.members)))


class Crowd:
    """The demo's members: they follow, post, and react to each other's posts."""

    def __init__(self, db: Database, ids: Mapping[str, int]) -> None:
        self._db = db
        self._ids = ids
        self._followers: dict[str, list[str]] = {login: [] for login in ids}

    async def follow(self, community: Community) -> None:
        """Have each member follow others, chosen by shared circles, popularity, and who already follows them."""
        chosen: dict[str, list[str]] = {}
        for person in community.members:
            is_guide = person.login == community.guide
            count = FOLLOWED_MOST if is_guide else _chance(person.login).randint(FOLLOWED_LEAST, FOLLOWED_MOST)
            chosen[person.login] = self._choose(person, community.members)[:count]
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
        # Exponential delays with these rates give the order of a weighted sample without replacement.
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
        """Publish a post, a quote or plain repost of `original`, or a reply to `reply_to`; returns its id.

        `whose` is the login of the author of the original, or of the post replied to.
        """
        draft = PostDraft(
            author=self._ids[words.by],
            text=words.text,
            mentions=tuple(self._ids[login] for login in mentions(words.text) if login in self._ids),
            hashtags=hashtags(words.text),
            images=await demo_pictures.wanted(self._db, self._ids[words.by], words.pictures),
            original=original,
            original_author=self._ids[whose] if original else None,
            reply_to=reply_to,
            reply_to_author=self._ids[whose] if reply_to else None,
            root=root or None,
        )
        _, post, job = accepted(await posts.create(self._db, draft))
        await dispatch.finish(self._db, job)
        return post

    async def react(self, words: DemoText, post: int, root: int = 0) -> None:
        """Have others like, repost, comment on, quote and answer a post, then react to the quotes and answers."""
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

    async def talk(self, talk: Talk, guide: str) -> None:
        """Have members talk with each other; all have read everything, but the guide what is unread."""
        ids = [self._ids[login] for login in talk.people]
        sent = []
        for login, text in talk.messages:
            said = accepted(
                await conversations.start(self._db, ids, conversations.MessageDraft(self._ids[login], text, ids))
            )
            if said.job:
                await dispatch.finish(self._db, said.job)
            sent.append(said.id)
        (found,) = await self._db.ask(conversations.of_members_command(ids))
        for login in talk.people:
            read = sent[: len(sent) - talk.unread] if login == guide else sent
            await entries.mark_read(self._db, self._ids[login], int(found), read[-1])

    async def _comment(self, words: DemoText, post: int, reply_to: int | None) -> None:
        draft = CommentDraft(post, self._ids[words.by], words.text, reply_to)
        _, comment, _ = accepted(await likes_and_comments.create_comment(self._db, draft))
        for reply in words.replies:
            await self._comment(reply, post, comment)
