"""What the API has to answer, from facts in plain memory: no timeline is kept, all are pulled when asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Post:
    """A status, a quote (text and original) or a plain repost (original and no text)."""

    id: int
    author: str
    text: str = ""
    original: int | None = None
    answers: int | None = None
    root: int | None = None  # the post that began the conversation, where this one answers any

    @property
    def is_plain(self) -> bool:
        return not self.text

    @property
    def tags(self) -> list[str]:
        return [word[1:] for word in self.text.split() if word.startswith("#")]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a home timeline: what stands there, at which id, and who passed it on."""

    post: int
    place: int
    sources: tuple[str, ...]


def home(member: str, following: Collection[str], posts: Iterable[Post]) -> list[Line]:
    """Return a home, newest first: what a member and those they follow wrote, and what these passed on.

    Each post once, at its own id where its author is the member or followed, else at the first repost's.
    """
    sources: dict[int, list[Post]] = defaultdict(list)
    for post in sorted(posts, key=lambda p: p.id):
        if post.is_plain and post.original and post.author in following:
            sources[post.original].append(post)
    lines = []
    for post in posts:
        brought = sources[post.id]
        if post.is_plain:
            continue
        if post.author == member or post.author in following:
            place = post.id
        elif brought:
            place = brought[0].id
        else:
            continue
        lines.append(Line(post.id, place, tuple(repost.author for repost in brought)))
    return sorted(lines, key=lambda line: -line.place)


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark below a post."""

    id: int
    post: int
    author: str
    text: str
    answers: int | None = None


@dataclass
class Model:
    """All facts, and what follows from them."""

    members: list[str] = field(default_factory=list)
    follows: dict[tuple[str, str], None] = field(default_factory=dict)  # follower, followed; oldest first
    posts: dict[int, Post] = field(default_factory=dict)
    likes: dict[tuple[str, int], None] = field(default_factory=dict)  # member, post; oldest first
    favourites: dict[tuple[str, int], None] = field(default_factory=dict)  # member, post; oldest first
    remarks: dict[int, Comment] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)

    # ---- what happens

    def follow(self, follower: str, member: str) -> None:
        self.follows.setdefault((follower, member))

    def unfollow(self, follower: str, member: str) -> None:
        self.follows.pop((follower, member), None)

    def leave(self, member: str) -> None:
        while mine := next((p.id for p in self.posts.values() if p.author == member), None):
            self.delete(mine)
        self.follows = {edge: None for edge in self.follows if member not in edge}
        self.likes = {like: None for like in self.likes if like[0] != member}
        self.favourites = {kept: None for kept in self.favourites if kept[0] != member}
        self.remarks = {c.id: c for c in self.remarks.values() if c.author != member}
        self.members.remove(member)

    def publish(self, post: Post) -> None:
        self.posts[post.id] = post

    def delete(self, post: int) -> None:
        del self.posts[post]
        self.hidden.discard(post)
        for repost in [p for p in self.posts.values() if p.is_plain and p.original == post]:
            del self.posts[repost.id]
        self.likes = {like: None for like in self.likes if like[1] != post}
        self.favourites = {kept: None for kept in self.favourites if kept[1] != post}
        self.remarks = {c.id: c for c in self.remarks.values() if c.post != post}

    def like(self, member: str, post: int) -> None:
        self.likes.setdefault((member, self.stands_for(post)))

    def unlike(self, member: str, post: int) -> None:
        self.likes.pop((member, self.stands_for(post)), None)

    # ---- what follows from it

    def stands_for(self, post: int) -> int:
        """Return what actions on a post go to."""
        found = self.posts[post]
        return found.original if found.is_plain and found.original else post

    def repost_of(self, member: str, original: int) -> int | None:
        """Return a member's plain repost of a post."""
        mine = (p.id for p in self.posts.values() if p.is_plain and p.author == member and p.original == original)
        return next(mine, None)

    def sees(self, viewer: str, post: int) -> bool:
        """Return whether a post is there for a viewer; what is hidden is so for its author alone."""
        found = self.posts.get(post)
        if found is None or (post in self.hidden and found.author != viewer):
            return False
        return not found.is_plain or found.original is None or self.sees(viewer, found.original)

    def home(self, member: str) -> list[Line]:
        lines = home(member, self.following(member), self.posts.values())
        return [line for line in lines if self.sees(member, line.post)]

    def following(self, member: str) -> list[str]:
        return [followed for follower, followed in reversed(self.follows) if follower == member]

    def followers(self, member: str) -> list[str]:
        return [follower for follower, followed in reversed(self.follows) if followed == member]

    def profile(self, member: str, viewer: str | None = None) -> list[int]:
        """Return what a member has published, as a viewer sees it, or all of it that is not hidden."""
        mine = sorted((p.id for p in self.posts.values() if p.author == member), reverse=True)
        return [post for post in mine if (self.sees(viewer, post) if viewer else post not in self.hidden)]

    def public(self) -> list[int]:
        return sorted((p.id for p in self.posts.values() if not p.is_plain and p.id not in self.hidden), reverse=True)

    def tagged(self, tag: str) -> list[int]:
        return [post for post in self.public() if tag in self.posts[post].tags]

    def liked_by(self, post: int) -> list[str]:
        return [member for member, liked in reversed(self.likes) if liked == self.stands_for(post)]

    def comments(self, post: int) -> list[Comment]:
        found = [c for c in self.remarks.values() if c.post == self.stands_for(post)]
        return sorted(found, key=lambda c: -c.id)

    def kept_by(self, member: str) -> list[int]:
        """Return the favourites that a member sees, newest first."""
        return [post for who, post in reversed(self.favourites) if who == member and self.sees(member, post)]

    def replies(self, post: int) -> list[int]:
        """Return what answers a post, oldest first."""
        answered = self.stands_for(post)
        return sorted(p.id for p in self.posts.values() if p.answers == answered and p.id not in self.hidden)

    def conversation(self, viewer: str, post: int) -> list[int]:
        """Return the conversation of a post, oldest first: a hidden answer stands in its own for its author."""
        root = self.posts[post].root or post
        found = {p.id for p in self.posts.values() if p.root == root and p.id not in self.hidden} | {root, post}
        return sorted(thing for thing in found if self.sees(viewer, thing))

    def passed_on(self, post: int, *, plain: bool) -> list[int]:
        """Return the plain reposts or the quotes of a post, newest first."""
        original = self.stands_for(post)
        found = (p.id for p in self.posts.values() if p.original == original and p.is_plain == plain)
        return sorted((thing for thing in found if thing not in self.hidden), reverse=True)
