"""Imports a network: members and follows from a list of edges, and posts distributed among them.

Each phase can be interrupted and run again without duplicates. Imports append no events.
"""

import asyncio
import gzip
import itertools
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from resolvers.homes import build
from resolvers.jobs import imports as import_jobs
from resolvers.jobs.worker import Worker
from resolvers.operation.inputs import batches
from resolvers.rules.text import TextRefused, hashtags, is_login, mentions, normalise
from resolvers.upkeep.demo import drawing
from resolvers.upkeep.demo.drawing import Drawing
from resolvers.upkeep.importing import groups as import_groups
from resolvers.upkeep.importing import messages as import_messages
from resolvers.upkeep.pipeline import run_all
from resolvers.upkeep.progress import Phases
from store import kinds
from store.client.database import Database
from store.pictures.images import WantedImage
from store.posts import PostDraft
from store.records.pictures import UploadPurpose
from store.secret import Secret
from store.settings import Settings
from store.upkeep.copying import imports as stored
from store.upkeep.findings import existing

BATCH = 8_000  # members or posts per round trip: some of each partition
FOLLOWS_BATCH = 200_000  # follows per round trip
DRAWINGS = 20  # different ones that an import deals out
HOMES_BATCH = 2_000  # homes written per round trip: some of each partition, and each may have a thousand entries
EMAIL_DOMAIN = "import.invalid"  # Reserved by RFC 2606, so mail to imported members goes nowhere.

Edges = dict[str, dict[str, None]]  # Follower → ordered set of followed logins.
Progress = Callable[[int], object]  # Called with the number of items done since the last call.


class ImportRefused(ValueError):
    """The files cannot be imported. The message is one line that names the file, the line and the rule."""


@dataclass(frozen=True, slots=True)
class Network:
    """The network to import: edges between logins, texts, and a name that is the same when the import is repeated."""

    name: str
    members: list[str]
    following: dict[str, list[str]]
    texts: list[str]
    total: int
    seed: int

    @property
    def edges(self) -> int:
        return sum(map(len, self.following.values()))

    def dealt(self) -> Iterator[tuple[str, str]]:
        """Yield author and text of each post. Members get posts in proportion to their followers."""
        followers = Counter(itertools.chain.from_iterable(self.following.values()))
        if not self.total:
            return iter(())
        authors = random.Random(self.seed).choices(list(followers), list(followers.values()), k=self.total)  # noqa: S311
        return zip(authors, itertools.cycle(self.texts), strict=False)


def read_network(
    follows: Path, texts: Path | None, settings: Settings, *, total: int | None, most: int | None, seed: int
) -> Network:
    """Read the files of an import. Raises ImportRefused, which names file, line and rule."""
    digest = sha256(f"{most} {total} {seed}".encode())
    following: Edges = defaultdict(dict)
    for number, line in _lines(follows):
        digest.update(line.encode())
        names = line.split("\t")
        if len(names) != 2 or not all(map(is_login, names)):  # noqa: PLR2004  follower and followed
            raise ImportRefused(f"{follows}, line {number}: two logins with a tab between them are expected")
        follower, followed = (name.lower() for name in names)
        if follower != followed:
            following[follower].setdefault(followed)
    members = {*following, *itertools.chain.from_iterable(following.values())}
    if most is not None:
        members = _largest(following, most)
        following = {a: {b: None for b in others if b in members} for a, others in following.items() if a in members}
    for name, others in following.items():
        if len(others) > settings.max_following:
            raise ImportRefused(f"{follows}: {name} follows {len(others)} members, at most {settings.max_following}")
    words = _texts(texts, settings.max_text) if texts else []
    digest.update("\n".join(words).encode())
    count = (len(words) if total is None else total) if words and any(following.values()) else 0
    return Network(
        digest.hexdigest()[:16], sorted(members), {a: list(b) for a, b in following.items()}, words, count, seed
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from ((number, line.rstrip("\n")) for number, line in enumerate(file, 1) if line.strip())
    except (OSError, UnicodeDecodeError, EOFError, zlib.error) as error:
        raise ImportRefused(f"{path}: {error}") from error


def _largest(following: Edges, most: int) -> set[str]:
    """Return the `most` members with the most edges, in and out."""
    degree = Counter(itertools.chain.from_iterable(following.values()))
    for name, followed in following.items():
        degree[name] += len(followed)
    return {name for name, _ in degree.most_common(most)}


def _texts(path: Path, limit: int) -> list[str]:
    found = []
    for _, line in _lines(path):
        try:
            found.append(normalise(line, limit=limit))
        except TextRefused:
            continue  # a text that members could not post is not imported
    if not found:
        raise ImportRefused(f"{path}: there is no line that could be a post")
    return found


async def load(
    db: Database, network: Network, password: Secret, messages: int = 0, groups: int = 0, images: int = 0
) -> str:
    """Import a whole network under progress bars; returns a table of what each phase has cost.

    `password` is the hash of the password that every imported member gets. `messages` are dealt out to conversations,
    and `groups` get the followers of their owners as members. The first `images` posts have a picture.
    """
    phases = Phases(db)
    async with phases.phase("members", len(network.members)) as bar:
        members = await create_members(db, network, password, bar.update)
    async with phases.phase("follows", network.edges) as bar:
        await create_follows(db, network, members, bar.update)
    async with phases.phase("posts", network.total) as bar:
        await create_posts(db, network, members, bar.update, images)
    if messages:
        dealt = import_messages.deal(network.following, network.texts, messages, network.seed)
        async with phases.phase("messages", messages) as bar:
            await import_messages.create(db, dealt, members, bar.update)
    if groups:
        new = import_groups.deal(network.following, network.texts, groups, network.seed)
        async with phases.phase("groups", groups) as bar:
            await import_groups.create(db, network.name, new, members, bar.update)
    while await Worker(db).run_once():
        pass  # readers pull authors who have become big, so their posts are not written to homes
    async with phases.phase("homes", len(members)) as bar:
        entries = await create_homes(db, list(members.values()), bar.update)
    return phases.report(homes=entries)


async def create_members(db: Database, network: Network, password: Secret, progress: Progress) -> dict[str, int]:
    """Create the members that do not exist yet, which their logins show; returns ids by login."""
    members: dict[str, int] = {}

    def take(found: dict[str, int]) -> None:
        members.update(found)
        progress(len(found))

    await run_all((_create(db, some, password) for some in batches(network.members, BATCH)), take)
    return members


async def _create(db: Database, logins: Sequence[str], password: Secret) -> dict[str, int]:
    """Return the members with these logins, and create those that do not exist."""
    members = await stored.holders(db, logins)
    if absent := [login for login in logins if login not in members]:
        members |= await stored.reserve(db, absent)
    # An interrupted earlier run may have left a reservation without a member: that member is created now.
    exists = await existing(db, kinds.USER, members.values())
    fresh = {login: member for login, member in members.items() if member not in exists}
    await import_jobs.finish_all(db, await stored.create(db, fresh, EMAIL_DOMAIN, password))
    return members


async def create_follows(db: Database, network: Network, members: dict[str, int], progress: Progress) -> None:
    """Create the follows that do not exist yet, without writing homes."""
    await run_all((_follow(db, some) for some in _in_batches(network.following, members)), progress)


def _in_batches(following: Mapping[str, Sequence[str]], members: Mapping[str, int]) -> Iterator[dict[int, list[int]]]:
    """Yield follows by follower, a batch at a time."""
    some: dict[int, list[int]] = {}
    size = 0
    for follower, followed in following.items():
        some[members[follower]] = [members[login] for login in followed]
        size += len(followed)
        if size >= FOLLOWS_BATCH:
            yield some
            some, size = {}, 0
    yield some


async def _follow(db: Database, following: dict[int, list[int]]) -> int:
    await import_jobs.finish_all(db, await stored.follow(db, following))
    return sum(map(len, following.values()))


async def create_posts(
    db: Database, network: Network, members: dict[str, int], progress: Progress, images: int = 0
) -> None:
    """Create the posts that earlier runs have not, the first ones with a picture.

    The step that creates a post also counts it for its author. So an author's posts are created in their order.
    """
    drawn = [await drawing.drawing(f"{network.seed} {number}") for number in range(min(images, DRAWINGS))]
    pictures = itertools.chain(itertools.islice(itertools.cycle(drawn), images), itertools.repeat(None))
    done = await stored.published(db, network.name)
    in_order = asyncio.Lock()

    async def publish(batch: Sequence[tuple[str, str, Drawing | None]]) -> int:
        async with in_order:
            drafts: dict[int, list[PostDraft]] = defaultdict(list)
            for login, text, picture in batch:
                if done[author := members[login]]:
                    done[author] -= 1
                else:
                    drafts[author].append(await _draft(db, author, text, picture, members))
            made = await stored.publish(db, network.name, drafts)
        await import_jobs.finish_all(db, made)
        return len(batch)

    dealt = ((author, text, picture) for (author, text), picture in zip(network.dealt(), pictures, strict=False))
    await run_all((publish(batch) for batch in batches(dealt, BATCH)), progress)


async def _draft(db: Database, author: int, text: str, drawn: Drawing | None, members: dict[str, int]) -> PostDraft:
    named = tuple(members[login] for login in mentions(text) if login in members)
    images = (WantedImage(await drawing.add(db, author, UploadPurpose.POST, drawn)),) if drawn else ()
    return PostDraft(author=author, text=text, mentions=named, hashtags=hashtags(text), images=images)


async def create_homes(db: Database, members: Sequence[int], progress: Progress) -> int:
    """Compute every home by rule 3 instead of delivering each post; returns the number of entries."""
    pulling, entries = build.Pulling(db), 0

    async def create(batch: Sequence[int]) -> tuple[int, int]:
        return len(batch), await build.add_to_many(db, pulling, batch)

    def take(made: tuple[int, int]) -> None:
        nonlocal entries
        entries += made[1]
        progress(made[0])

    await run_all((create(batch) for batch in batches(members, HOMES_BATCH)), take)
    return entries
