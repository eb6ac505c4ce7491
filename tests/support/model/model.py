"""The API's right answers, from facts in plain memory. No timeline is stored: each is computed when asked for."""

from dataclasses import dataclass, field, replace

from tests.support.model.facts import ANYBODY, Comment, Line, Post, home
from tests.support.model.group_facts import Group


@dataclass
class Model:
    """All facts, and what follows from them."""

    lift: int  # of `bounds.lift`
    members: list[str] = field(default_factory=list)
    follows: dict[tuple[str, str], int] = field(default_factory=dict)  # follower, followed → ordinal of the follow
    posts: dict[int, Post] = field(default_factory=dict)
    likes: dict[tuple[str, int], None] = field(default_factory=dict)  # member, post; oldest first
    favourites: dict[tuple[str, int], None] = field(default_factory=dict)  # member, post; oldest first
    remarks: dict[int, Comment] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    pins: dict[str, int] = field(default_factory=dict)  # member → a status or quote of their own
    private: set[str] = field(default_factory=set)
    suspended: set[str] = field(default_factory=set)
    requests: dict[tuple[str, str], int] = field(default_factory=dict)  # as `follows`: approval keeps the ordinal
    blocks: dict[tuple[str, str], None] = field(default_factory=dict)  # blocker, blocked; oldest first
    mutes: dict[tuple[str, str], None] = field(default_factory=dict)  # muter, muted; oldest first

    groups: dict[int, Group] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)  # verified address of a member who has one

    # ---- changes

    def follow(self, follower: str, member: str) -> None:
        """Follow a member, or request to follow a private one."""
        if (follower, member) not in {*self.follows, *self.requests}:
            edges = self.requests if member in self.private else self.follows
            edges[follower, member] = 1 + max((*self.follows.values(), *self.requests.values()), default=0)

    def unfollow(self, follower: str, member: str) -> None:
        self.follows.pop((follower, member), None)
        self.requests.pop((follower, member), None)

    def remove_follower(self, member: str, follower: str) -> None:
        self.follows.pop((follower, member), None)

    def approve(self, member: str, follower: str) -> None:
        if edge := self.requests.pop((follower, member), None):
            self.follows[follower, member] = edge

    def reject(self, member: str, follower: str) -> None:
        self.requests.pop((follower, member), None)

    def block(self, member: str, other: str) -> None:
        self.blocks.setdefault((member, other))
        self.unfollow(member, other)
        self.unfollow(other, member)

    def unblock(self, member: str, other: str) -> None:
        self.blocks.pop((member, other), None)

    def mute(self, member: str, other: str) -> None:
        self.mutes.setdefault((member, other))

    def unmute(self, member: str, other: str) -> None:
        self.mutes.pop((member, other), None)

    def open_up(self, member: str) -> None:
        """Make a member public, and approve all requests."""
        self.private.discard(member)
        for follower in [asking for asking, asked in self.requests if asked == member]:
            self.approve(member, follower)

    def leave(self, member: str) -> None:
        while mine := next((p.id for p in self.posts.values() if p.author == member), None):
            self.delete(mine)
        for pairs in (self.follows, self.requests, self.blocks):
            for pair in [pair for pair in pairs if member in pair]:
                del pairs[pair]
        # Who mutes a member whose account is deleted still mutes the messages that stay.
        self.mutes = {pair: None for pair in self.mutes if pair[0] != member}
        self.likes = {like: None for like in self.likes if like[0] != member}
        self.favourites = {kept: None for kept in self.favourites if kept[0] != member}
        self.remarks = {c.id: c for c in self.remarks.values() if c.author != member}
        for number, group in list(self.groups.items()):
            if not group.bequeath(member):
                self.disband(number)
        self.members.remove(member)
        self.private.discard(member)
        self.suspended.discard(member)

    def disband(self, group: int) -> None:
        """Delete a group with its posts."""
        del self.groups[group]
        while found := next((p.id for p in self.posts.values() if p.group == group), None):
            self.delete(found)

    def publish(self, post: Post) -> None:
        self.posts[post.id] = post

    def delete(self, post: int) -> None:
        del self.posts[post]
        self.hidden.discard(post)
        self.pins = {member: pinned for member, pinned in self.pins.items() if pinned != post}
        for repost in [p for p in self.posts.values() if p.is_plain and p.original == post]:
            del self.posts[repost.id]
        self.likes = {like: None for like in self.likes if like[1] != post}
        self.favourites = {kept: None for kept in self.favourites if kept[1] != post}
        self.remarks = {c.id: c for c in self.remarks.values() if c.post != post}

    def like(self, member: str, post: int) -> None:
        self.likes.setdefault((member, self.target_of(post)))

    def unlike(self, member: str, post: int) -> None:
        self.likes.pop((member, self.target_of(post)), None)

    # ---- permissions

    def meets(self, viewer: str, member: str) -> bool:
        """Return whether a member exists for a viewer."""
        barred = member in self.suspended or (member, viewer) in self.blocks
        return member in self.members and (viewer == member or not barred)

    def sees_words_of(self, viewer: str, member: str) -> bool:
        """Return whether a viewer sees a member's comments and likes."""
        return self.meets(viewer, member) and (viewer, member) not in self.blocks

    def wants(self, viewer: str, member: str) -> bool:
        """Return whether a member's activity belongs into a viewer's timelines."""
        return self.sees_words_of(viewer, member) and (viewer, member) not in self.mutes

    def is_let_in(self, viewer: str, member: str) -> bool:
        """Return whether a viewer sees a member's followers and follows."""
        is_let_in = (viewer, member) in self.follows and viewer not in self.suspended
        return (member not in self.private or viewer == member or is_let_in) and self.meets(viewer, member)

    def opens(self, viewer: str, group: int) -> bool:
        """Return whether a viewer sees what is in a group."""
        return self.groups[group].is_open_to(viewer, counts=viewer not in self.suspended)

    def sees(self, viewer: str, post: int) -> bool:
        """Return whether a post exists for a viewer; a hidden one does for its author alone."""
        found = self.posts.get(post)
        if found is None or (post in self.hidden and found.author != viewer):
            return False
        if found.group and not self.opens(viewer, found.group):
            return False
        if not self.sees_words_of(viewer, found.author) or not self.is_let_in(viewer, found.author):
            return False
        return not found.is_plain or found.original is None or self.sees(viewer, found.original)

    def sees_comment(self, viewer: str, comment: int | None) -> bool:
        """Return whether a comment exists for a viewer."""
        found = self.remarks.get(comment or 0)
        return found is not None and self.sees_words_of(viewer, found.author) and self.sees(viewer, found.post)

    @property
    def filters(self) -> bool:
        """Whether anything is invisible to, or unwanted by, anybody."""
        return any((self.hidden, self.private, self.suspended, self.blocks, self.mutes, self.groups))

    # ---- lists and counts; without a viewer they are complete, as they are counted

    def target_of(self, post: int) -> int:
        """Return the post to which actions on a post apply."""
        found = self.posts[post]
        return found.original if found.is_plain and found.original else post

    def repost_of(self, member: str, original: int) -> int | None:
        """Return a member's plain repost of a post."""
        mine = (p.id for p in self.posts.values() if p.is_plain and p.author == member and p.original == original)
        return next(mine, None)

    def home(self, member: str) -> list[Line]:
        """Return a home as its owner sees it. Places do not depend on what the owner sees."""
        shown = []
        for line in home(member, self.following(member), self.posts.values(), self.lift):
            author = self.posts[line.post].author
            sources = tuple(s for s in line.sources if self.wants(member, s) and self.is_let_in(member, s))
            has_author = author == member or (member, author) in self.follows
            post = self.posts[line.post]
            is_told = has_author and not post.group and not self._is_between_strangers(member, post)
            if (is_told or sources) and self.sees(member, line.post) and self.wants(member, author):
                shown.append(replace(line, sources=sources))
        return shown

    def _is_between_strangers(self, member: str, reply: Post) -> bool:
        """Return whether a post answers somebody whom its author is not, and a member neither is nor follows."""
        known = {member, *self.following(member)}
        return reply.answered not in {None, reply.author, *known} and reply.author != member

    def following(self, member: str, viewer: str | None = None) -> list[str]:
        found = sorted((edge, followed) for (follower, followed), edge in self.follows.items() if follower == member)
        return self._listed(member, viewer, [followed for _, followed in reversed(found)])

    def followers(self, member: str, viewer: str | None = None) -> list[str]:
        found = sorted((edge, follower) for (follower, followed), edge in self.follows.items() if followed == member)
        return self._listed(member, viewer, [follower for _, follower in reversed(found)])

    def _listed(self, member: str, viewer: str | None, others: list[str]) -> list[str]:
        if viewer is None:
            return others
        return [other for other in others if self.is_let_in(viewer, member) and self.meets(viewer, other)]

    def asking(self, member: str) -> list[str]:
        """Return the members who have requested to follow a member, as that member sees them."""
        found = sorted((edge, follower) for (follower, asked), edge in self.requests.items() if asked == member)
        return [follower for _, follower in reversed(found) if self.meets(member, follower)]

    def can_be_blocked(self, other: str) -> bool:
        """Return whether others can block a member, also those whom that member blocks."""
        return other in self.members and other not in self.suspended

    def blocked(self, member: str) -> list[str]:
        return [other for who, other in reversed(self.blocks) if who == member and self.can_be_blocked(other)]

    def muted(self, member: str) -> list[str]:
        return [other for who, other in reversed(self.mutes) if who == member and self.meets(member, other)]

    def profile(self, member: str, viewer: str | None = None) -> list[int]:
        """Return a member's posts and reposts as a viewer sees them, or without a viewer all that are not hidden."""
        mine = sorted((p.id for p in self.posts.values() if p.author == member), reverse=True)
        return [post for post in mine if (post not in self.hidden if viewer is None else self.sees(viewer, post))]

    def public(self, viewer: str = ANYBODY) -> list[int]:
        """Return the public timeline as a viewer sees and wants it."""
        open_to_all = (p for p in self.posts.values() if not p.is_plain and not p.group and self.sees(ANYBODY, p.id))
        wanted = (p.id for p in open_to_all if self.sees(viewer, p.id) and self.wants(viewer, p.author))
        return sorted(wanted, reverse=True)

    def tagged(self, tag: str, viewer: str = ANYBODY) -> list[int]:
        return [post for post in self.public(viewer) if tag in self.posts[post].tags]

    def liked_by(self, post: int, viewer: str | None = None) -> list[str]:
        found = [member for member, liked in reversed(self.likes) if liked == self.target_of(post)]
        return [member for member in found if viewer is None or self.sees_words_of(viewer, member)]

    def comments(self, post: int, viewer: str | None = None) -> list[Comment]:
        found = [c for c in self.remarks.values() if c.post == self.target_of(post)]
        return sorted((c for c in found if viewer is None or self.sees_comment(viewer, c.id)), key=lambda c: -c.id)

    def kept_by(self, member: str) -> list[int]:
        """Return the favourites that a member sees, newest first."""
        return [post for who, post in reversed(self.favourites) if who == member and self.sees(member, post)]

    def replies(self, post: int, viewer: str | None = None) -> list[int]:
        """Return the replies to a post, oldest first."""
        answered = self.target_of(post)
        found = [p.id for p in self.posts.values() if p.answers == answered and p.id not in self.hidden]
        return sorted(reply for reply in found if viewer is None or self.sees(viewer, reply))

    def conversation(self, post: int, viewer: str) -> list[int]:
        """Return a post's conversation, oldest first. A hidden reply is in its own conversation for its author."""
        root = self.posts[post].root or post
        found = {p.id for p in self.posts.values() if p.root == root and p.id not in self.hidden} | {root, post}
        return sorted(post_id for post_id in found if self.sees(viewer, post_id))

    def passed_on(self, post: int, *, plain: bool, viewer: str | None = None) -> list[int]:
        """Return the plain reposts or the quotes of a post, newest first."""
        original = self.target_of(post)
        found = [p.id for p in self.posts.values() if p.original == original and p.is_plain == plain]
        shown = [post_id for post_id in found if post_id not in self.hidden]
        return sorted((t for t in shown if viewer is None or self.sees(viewer, t)), reverse=True)
