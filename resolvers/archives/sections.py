"""The sections of an export: a table of contents. A new kind of data is one line here, and a function that reads it."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from resolvers.archives import account, messages, pictures, posts, relationships
from resolvers.archives.relationships import members_in
from resolvers.archives.viewing import Read
from resolvers.reading import hydrate
from store import kinds
from store.kinds import KeyKind, List, Owned


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `name` is that of its files, and `keys` are the kinds of keys in `store.keys` that it covers."""

    name: str
    title: str
    read: Read
    keys: tuple[str, ...]


PROFILE, POSTS = "profile", "posts"  # sections that are read back

_SECTIONS = (
    Section(PROFILE, "Profile", account.profile, ("user", "credentials", "home_read")),
    Section("sessions", "Sessions", account.open_sessions, ("sessions",)),
    Section("former-logins", "Logins given up", account.former_logins, ("former_logins",)),
    Section(POSTS, "Posts", posts.posts, ("profile", "reposted", "hidden")),
    Section("pictures", "Pictures", pictures.pictures, ("images",)),
    Section("comments", "Comments", posts.comments, ("discussed",)),
    Section("likes", "Likes", posts.likes, ("liked",)),
    Section("favourites", "Favourites", posts.posts_in(kinds.FAVOURITES, "favouritedAt"), ("favourites",)),
    Section("following", "Following", members_in(kinds.FOLLOWING), ("following",)),
    Section("followers", "Followers", members_in(kinds.FOLLOWERS), ("followers",)),
    Section("asked-to-follow", "Requests to follow others", members_in(kinds.REQUESTED), ("requested",)),
    Section("follow-requests", "Requests by others", members_in(kinds.REQUESTS), ("requests",)),
    Section("blocked", "Blocked members", members_in(kinds.BLOCKED, hydrate.to_block), ("blocked",)),
    Section("muted", "Muted members", members_in(kinds.MUTED), ("muted",)),
    Section("groups", "Groups", relationships.groups, ("memberships", "invited")),
    Section("conversations", "Conversations", messages.conversations, ("conversations", "conversation_state")),
    Section("messages", "Messages", messages.messages, ("sent",)),
    Section("notifications", "Notifications", messages.notifications, ("notifications", "notification_state")),
    Section("reports", "Reports", account.reports, ()),
)


def of_lists(lists: Iterable[List], exported: Collection[str]) -> Iterator[Section]:
    """Yield a section for each list of members or posts that a member owns, unless it is exported or has a reason."""
    readers: dict[KeyKind, Callable[[List], Read]] = {kinds.USER: members_in, kinds.STATUS: posts.posts_in}
    for one in lists:
        if one.of is kinds.USER and one.entries in readers and not one.unexported and one.name not in exported:
            title = one.name.replace("_", " ").capitalize()
            yield Section(one.name.replace("_", "-"), title, readers[one.entries](one), (one.name,))


SECTIONS = (*_SECTIONS, *of_lists(kinds.LISTS, {key for section in _SECTIONS for key in section.keys}))

# Why the other kinds of a member's keys are in no section. Those of lists are with their declarations.
NOT_EXPORTED = {
    **{kind.name: kind.unexported for kind in kinds.KINDS if isinstance(kind, Owned) and kind.unexported},
    "rate": "a count that expires in two minutes",
    "writes": "counts that expire in an hour",
    "texts": "digests of texts, which expire in a day",
    "known_addresses": "keyed hashes, from which nobody can read an address",
    "unblocked": "a marker of an ended block, which expires in a day",
    "unfollowed": "a marker of an ended follow, which expires in a day",
    "unfollowed_prefix": "the beginning of such a marker",
    "newest": "a part of the home",
    "home_draft": "a part of the home, which expires in a minute",
    "candidates": "a part of the home",
    "idempotency": "digests of requests, which expire in a day",
    "notifications_channel": "a channel, which holds nothing",
    "messaged": "digests of requests, which expire in a day",
    "left_conversation": "a marker of a conversation that was left, which expires in a day",
    "messages_channel": "a channel, which holds nothing",
    "uploaded": "a count that expires in a day",
    "processing_time": "a count that expires in an hour",
}
