"""The sections of an export: a table of contents. A new kind of data is one line here, and a function that reads it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from resolvers.archives import account, messages, pictures, posts, relationships, reports
from resolvers.archives.naming import Written
from resolvers.archives.relationships import members_in
from resolvers.archives.viewing import Export
from resolvers.reading import hydrate
from store.exports import lists

Read = Callable[[Export], AsyncIterator[list[Written]]]


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `name` is that of its files, and `keys` are the kinds of keys in `store.keys` that it covers."""

    name: str
    title: str
    read: Read  # yields a page of entries at a time
    keys: tuple[str, ...]


PROFILE, POSTS = "profile", "posts"  # sections that are read back

SECTIONS = (
    Section(PROFILE, "Profile", account.profile, ("user", "credentials", "home_read")),
    Section("sessions", "Sessions", account.open_sessions, ("sessions",)),
    Section("former-logins", "Logins given up", account.former_logins, ("former_logins",)),
    Section(POSTS, "Posts", posts.posts, ("profile", "reposted", "hidden")),
    Section("pictures", "Pictures", pictures.pictures, ("images",)),
    Section("comments", "Comments", posts.comments, ("discussed",)),
    Section("likes", "Likes", posts.likes, ("liked",)),
    Section("favourites", "Favourites", posts.favourites, ("favourites",)),
    Section("following", "Following", members_in(lists.FOLLOWING), ("following",)),
    Section("followers", "Followers", members_in(lists.FOLLOWERS), ("followers",)),
    Section("asked-to-follow", "Requests to follow others", members_in(lists.REQUESTED), ("requested",)),
    Section("follow-requests", "Requests by others", members_in(lists.REQUESTS), ("requests",)),
    Section("blocked", "Blocked members", members_in(lists.BLOCKED, hydrate.to_block), ("blocked",)),
    Section("muted", "Muted members", members_in(lists.MUTED), ("muted",)),
    Section("groups", "Groups", relationships.groups, ("memberships", "invited")),
    Section("conversations", "Conversations", messages.conversations, ("conversations", "conversation_state")),
    Section("messages", "Messages", messages.messages, ("sent",)),
    Section("notifications", "Notifications", messages.notifications, ("notifications", "notification_state")),
    Section("reports", "Reports", reports.reports, ()),
)

# Why the other kinds of a member's keys are in no section.
NOT_EXPORTED = {
    "exports": "a digest of a link that is about to expire",
    "export_stream": "only while an export is sent",
    "rate": "a count that expires in two minutes",
    "writes": "counts that expire in an hour",
    "texts": "digests of texts, which expire in a day",
    "mail_tokens": "digests of tokens in mails, which expire",
    "known_addresses": "keyed hashes, from which nobody can read an address",
    "blocked_by": "others' blocks, which the member cannot see",
    "banned_from": "others' bans, which name nobody; a group that bans the member refuses to let them join",
    "unblocked": "a marker of an ended block, which expires in a day",
    "unfollowed": "a marker of an ended follow, which expires in a day",
    "unfollowed_prefix": "the beginning of such a marker",
    "home": "computed from follows and posts",
    "newest": "a part of the home",
    "home_state": "a part of the home",
    "sources": "a part of the home",
    "candidates": "a part of the home",
    "mentions": "an index of others' posts and comments; notifications name them",
    "withdrawn_notifications": "notifications that were taken back",
    "idempotency": "digests of requests, which expire in a day",
    "notifications_channel": "a channel, which holds nothing",
    "messaged": "digests of requests, which expire in a day",
    "unread_conversations": "computed from read marks and messages",
    "left_conversation": "a marker of a conversation that was left, which expires in a day",
    "message_log": "changes for live subscribers, which expire",
    "messages_channel": "a channel, which holds nothing",
    "uploaded": "a count that expires in a day",
    "processing_time": "a count that expires in an hour",
}
