"""The kinds of keys that have one owner, and which of their owners exist."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, member

from store import keys
from store.client.database import Database


class Kind(Enum):
    """A kind of key that is named by the id of one member, post, comment, group or picture."""

    USER = member(keys.user)
    EXPORTS = member(keys.exports)
    EXPORT_STREAM = member(keys.export_stream)
    FOLLOWING = member(keys.following)
    FOLLOWERS = member(keys.followers)
    REQUESTED = member(keys.requested)
    REQUESTS = member(keys.requests)
    BLOCKED = member(keys.blocked)
    BLOCKED_BY = member(keys.blocked_by)
    PROFILE = member(keys.profile)
    REPOSTED = member(keys.reposted)
    HIDDEN = member(keys.hidden)
    FAVOURITES = member(keys.favourites)
    HOME = member(keys.home)
    HOME_STATE = member(keys.home_state)
    SOURCES = member(keys.sources)
    HOME_READ = member(keys.home_read)
    NOTIFICATIONS = member(keys.notifications)
    WITHDRAWN_NOTIFICATIONS = member(keys.withdrawn_notifications)
    NOTIFICATION_STATE = member(keys.notification_state)
    MENTIONS = member(keys.mentions)
    STATUS = member(keys.status)
    LIKES = member(keys.likes)
    REPOSTS = member(keys.reposts)
    QUOTES = member(keys.quotes)
    REPLIES = member(keys.replies)
    THREAD = member(keys.thread)
    FAVOURITERS = member(keys.favouriters)
    COMMENTS = member(keys.comments)
    COMMENTERS = member(keys.commenters)
    COMMENT = member(keys.comment)
    CONVERSATION = member(keys.conversation)
    MESSAGES = member(keys.messages)
    MESSAGE = member(keys.message)
    DELETED_MESSAGES = member(keys.deleted_messages)
    CONVERSATIONS = member(keys.conversations)
    CONVERSATION_STATE = member(keys.conversation_state)
    UNREAD_CONVERSATIONS = member(keys.unread_conversations)
    MESSAGE_LOG = member(keys.message_log)
    GROUP = member(keys.group)
    GROUP_MEMBERS = member(keys.group_members)
    GROUP_ROLES = member(keys.group_roles)
    GROUP_REQUESTS = member(keys.group_requests)
    GROUP_INVITATIONS = member(keys.group_invitations)
    GROUP_BANNED = member(keys.group_banned)
    GROUP_TIMELINE = member(keys.group_timeline)
    GROUP_CHANGES = member(keys.group_changes)
    MEMBERSHIPS = member(keys.memberships)
    INVITED = member(keys.invited)
    BANNED_FROM = member(keys.banned_from)
    REPORT = member(keys.report)
    REPORT_MESSAGES = member(keys.report_messages)
    EVIDENCE = member(keys.evidence)
    CASE = member(keys.case)
    CASE_REPORTS = member(keys.case_reports)
    MODERATION_ACT = member(keys.moderation_act)
    REMOVED_TEXT = member(keys.removed_text)
    MAIL_TOKENS = member(keys.mail_tokens)
    IMAGE = member(keys.image)
    IMAGES = member(keys.images)

    def key(self, owner: int) -> str:
        """Return the key of one owner."""
        return str(self.value(owner))


async def existing(db: Database, kind: Kind, owners: Iterable[int]) -> set[int]:
    """Return those of some owners who have a key of a kind, such as a record. One round trip."""
    wanted = list(owners)
    replies = await db.ask(*(("EXISTS", kind.key(owner)) for owner in wanted))
    return {owner for owner, exists in zip(wanted, replies, strict=True) if exists}
