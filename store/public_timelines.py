"""Timelines that everybody reads: the public one and one for each hashtag. Each has a ranking."""

from collections.abc import Iterable, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import StatusField


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


def remove_commands(post: int, hashtags: Sequence[str]) -> list[Command]:
    """Return the commands that remove a post from the public timeline and its ranking, then from each tag's."""
    return [("ZREM", key, post) for listed in keys.ranked_lists(hashtags) for key in listed]
