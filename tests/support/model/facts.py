"""Posts and comments in plain memory, and the home that follows from posts and follows."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

ANYBODY = ""  # a viewer without a token
SOON = float(os.environ.get("PERCH_MODEL_LIFT", "0.0001"))  # h after which reposts lift posts: after some steps


@dataclass(frozen=True, slots=True)
class Post:
    """A status, a quote (text and original) or a plain repost (original and no text)."""

    id: int
    author: str
    text: str = ""
    original: int | None = None
    answers: int | None = None
    root: int | None = None  # the first post of the conversation, for a reply
    group: int | None = None  # in which it was posted
    answered: str | None = None  # who wrote the post that it answers
    pictures: tuple[str, ...] = ()  # their alt texts

    @property
    def is_plain(self) -> bool:
        return not self.text

    @property
    def tags(self) -> list[str]:
        return [word[1:] for word in self.text.split() if word.startswith("#")]


@dataclass(frozen=True, slots=True)
class Line:
    """An entry of a home timeline: its post, its place, and its reposters."""

    post: int
    place: int
    sources: tuple[str, ...]


def home(member: str, following: Collection[str], posts: Iterable[Post], lift: int) -> list[Line]:
    """Return a home, newest first: posts by a member and those they follow, and what these reposted.

    Each post is listed once. It begins at its own id if its author is the member or followed, else at the first repost.
    Each repost that is more than `lift` later lifts it; none does if that is 0. The reposters since then come first.
    A post in a group is listed for its reposts alone.
    """
    reposts: dict[int, list[Post]] = defaultdict(list)
    for post in sorted(posts, key=lambda p: p.id):
        if post.is_plain and post.original and post.author in following:
            reposts[post.original].append(post)
    lines = []
    for post in posts:
        is_source = not post.group and (post.author == member or post.author in following)
        sources = [*([post] if is_source else []), *reposts[post.id]]
        if post.is_plain or not sources:
            continue
        place = sources[0].id
        for source in sources:
            if lift and source.id - place > lift:
                place = source.id
        last = [repost.author for repost in reposts[post.id] if repost.id >= place]
        lines.append(Line(post.id, place, (*last, *(r.author for r in reposts[post.id] if r.id < place))))
    return sorted(lines, key=lambda line: -line.place)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on a post."""

    id: int
    post: int
    author: str
    text: str
    answers: int | None = None
