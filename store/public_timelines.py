"""Timelines that everybody reads: the public one and one for each hashtag. Each has a ranking."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import StatusField

BATCH = 500  # posts added to a list in one step


async def is_announced(db: Database, post: int) -> bool:
    """Return whether the site's stream had a post: its author was neither private nor suspended when it was made."""
    return not await db.one("HEXISTS", keys.status(post), StatusField.UNANNOUNCED)


def public_lists() -> tuple[str, str]:
    """Return the keys of the public timeline, sorted by id, and of its ranking, sorted by score."""
    return keys.public(), keys.important_public()


def hashtag_lists(tag: str) -> tuple[str, str]:
    """Return the keys of a hashtag's posts, sorted by id, and of their ranking, sorted by score."""
    return keys.hashtag(tag), keys.important_hashtag(tag)


def add_commands(db: Database, post: int, hashtags: Sequence[str], score: float) -> list[Command]:
    """Return the commands that add a post to the public timeline, to those of its tags, and to their rankings."""
    return [list_command(db, listed, [(post, score)]) for listed in keys.ranked_lists(hashtags)]


def list_command(db: Database, listed: tuple[str, str], scored: Iterable[tuple[int, float]]) -> Command:
    """Return the command that adds posts to the public timeline or a tag's, and their scores to its ranking."""
    timeline, ranking = listed
    return script(
        "add_to_timeline",
        timeline=timeline,
        ranking=ranking,
        timeline_size=db.settings.public_size if timeline == keys.public() else db.settings.hashtag_size,
        ranking_size=db.settings.important_size,
        scored=[part for one in scored for part in one],
    )


class PublicPost(Struct, frozen=True):
    """A post to be listed in public timelines, with the score for their rankings."""

    id: int
    hashtags: Sequence[str]
    score: float


async def list_all(db: Database, posts: Sequence[PublicPost]) -> None:
    """Add posts to the public timeline, to those of their tags, and to the rankings. One round trip."""
    scored: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for post in posts:
        for listed in keys.ranked_lists(post.hashtags):
            scored[listed].append((post.id, post.score))
    await db.ask(
        *(
            list_command(db, listed, new[i : i + BATCH])
            for listed, new in scored.items()
            for i in range(0, len(new), BATCH)
        )
    )


def remove_commands(post: int, hashtags: Sequence[str]) -> list[Command]:
    """Return the commands that remove a post from the public timeline and its ranking, then from each tag's."""
    return [("ZREM", key, post) for listed in keys.ranked_lists(hashtags) for key in listed]
