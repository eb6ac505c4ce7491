"""Every mutation that takes the id of another member's entity, and which viewers must be able to name it.

If you add such a mutation, add a line here: the coverage test names it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.people import USER_ERRORS
from tests.support.visibility.audience import ANONYMOUS, SELF
from tests.support.visibility.paths import BLOCKING, BLOCKS, FOLLOWING, HEARD, MUTING, OWN, TOGETHER, WITHIN, Only
from tests.support.visibility.sights import BLOCKABLE, MEMBER, POSTS, PRIVATE_TALK, REPOSTS, WORDS, Cell, Kind

TAKE_AWAY = {"unrepost", "deletePost", "hidePost", "unhidePost", "deleteComment", "deleteMessage", "leaveConversation"}
MODERATED = {"deletePost", "deleteComment"}


@dataclass(frozen=True)
class Write:
    """A mutation that names an entity: `$it` in its input is each of these, other names are entities of the scene."""

    mutation: str
    input: str
    selection: str
    entities: str
    kind: Kind
    ends: Only | None = None  # cells in which it can be named though it is not seen
    only: Only | None = None  # the only cells in which it can be named at all

    def can_name(self, cell: Cell) -> bool:
        """Return whether the viewer can name the entities; in other cells they must seem not to exist."""
        if self.only is not None and not self.only.holds(cell):
            return False
        return self.kind.is_seen(cell) or (self.ends is not None and self.ends.holds(cell))

    @property
    def text(self) -> str:
        """The mutation's field, with its selection."""
        return f"{self.mutation}(input: {{ {self.input} }}) {{ {self.selection} {USER_ERRORS} }}"

    def is_harmless(self, cell: Cell) -> bool:
        """Return whether it leaves the entities in place; deletions by an author or a moderator don't."""
        if cell.relation == "moderator":
            return self.mutation not in MODERATED
        return cell.relation != SELF or self.mutation not in TAKE_AWAY


FOLLOWS = Only("a follow, or a request, can be ended", lambda cell: cell.relation in {*FOLLOWING, "requested"})
MUTES = Only("a mute can be ended", lambda cell: cell.relation in MUTING)
BLOCK = Only("a block can be ended", lambda cell: cell.relation in BLOCKING)
KEPT = Only("a favourite can be given up, seen or not", lambda cell: cell.relation != ANONYMOUS)
WRITABLE = Only("nobody writes to a suspended member", lambda cell: not cell.state.suspended)
ASKED = Only("a request can be turned away", lambda cell: cell.relation not in {ANONYMOUS, SELF, *BLOCKS})


def _of_posts() -> Iterator[Write]:
    by_id, reposted = "postId: $it", "repost { id } original { id }"
    for mutation, given, selection in (
        ("like", by_id, "post { id }"),
        ("unlike", by_id, "post { id }"),
        ("comment", f'{by_id}, text: "so?"', "comment { id } post { id }"),
        ("repost", by_id, reposted),
        ("unrepost", by_id, "post { id }"),
        ("repost", f'{by_id}, text: "see"', reposted),
        ("favourite", by_id, "post { id }"),
        ("post", 'text: "yes", inReplyToId: $it', "status { id inReplyTo { id } }"),
        ("hidePost", by_id, "post { id }"),
        ("unhidePost", by_id, "post { id }"),
        ("pinPost", by_id, "post { id }"),
        ("unpinPost", by_id, "post { id }"),
        ("deletePost", by_id, "author { id }"),
    ):
        yield Write(mutation, given, selection, "status quote_of_status pals_repost", POSTS)
        yield Write(mutation, given, selection, "repost_of_status", REPOSTS)
    yield Write("unfavourite", by_id, "post { id }", "status", POSTS, KEPT)
    yield Write("unfavourite", by_id, "post { id }", "quote_of_status pals_repost", POSTS)
    yield Write("unfavourite", by_id, "post { id }", "repost_of_status", REPOSTS)


def _of_pictures() -> Iterator[Write]:
    yield Write("updateImage", 'imageId: $it, alt: "a wren"', "image { id }", "status_image", POSTS, only=OWN)
    yield Write("updateImage", 'imageId: $it, alt: "a wren"', "image { id }", "avatar_image", MEMBER, only=OWN)


def _of_comments() -> Iterator[Write]:
    answer = 'postId: $friend_status, text: "so?", replyToId: $it'
    yield Write("comment", answer, "comment { id } post { id }", "comment_on_status", WORDS)
    yield Write("deleteComment", "commentId: $it", "post { id }", "comment_on_status", WORDS)
    yield Write("deleteComment", "commentId: $it", "post { id }", "own_comment pals_comment", POSTS)


def _of_members() -> Iterator[Write]:
    for mutation, ends in (
        ("mute", None),
        ("unmute", MUTES),
        ("approveFollowRequests", None),
        ("rejectFollowRequests", ASKED),
        ("removeFollowers", None),
        ("follow", None),
        ("unfollow", FOLLOWS),
        ("unblock", BLOCK),
    ):
        yield Write(mutation, "userIds: [$it]", "users { id }", "member", MEMBER, ends)


def _reports() -> Iterator[Write]:
    given, selection = "subjectId: $it, reason: SPAM", "report { id subject { ... on Node { id } } }"
    yield Write("report", given, selection, "member", MEMBER)
    yield Write("report", given, selection, "status quote_of_status pals_repost own_comment", POSTS)
    yield Write("report", given, selection, "repost_of_status", REPOSTS)
    yield Write("report", given, selection, "comment_on_status", WORDS)
    for message, only in (("message", HEARD), ("pair_message", TOGETHER), ("pals_message", OWN)):
        yield Write("report", given, selection, message, PRIVATE_TALK, only=only)


INVITE = Write("inviteToGroup", "groupId: $friend_group, userIds: [$it]", "group { id }", "member", MEMBER)


def _of_conversations() -> Iterator[Write]:
    message = "message { id } conversation { id }"
    yield Write("startConversation", 'userIds: [$it], text: "hi"', message, "member", WORDS, only=WRITABLE)
    by_id = "conversationId: $it"
    for mutation, given, selection in (
        ("sendMessage", f'{by_id}, text: "hi"', message),
        ("markConversationRead", by_id, "conversation { id }"),
        ("leaveConversation", by_id, "conversation { id }"),
    ):
        yield Write(mutation, given, selection, "talk", PRIVATE_TALK, only=WITHIN)
        yield Write(mutation, given, selection, "pair", PRIVATE_TALK, only=TOGETHER)
        yield Write(mutation, given, selection, "pals_talk", PRIVATE_TALK, only=OWN)


def _of_messages() -> Iterator[Write]:
    for message, only in (("message", HEARD), ("pair_message", TOGETHER), ("pals_message", OWN)):
        yield Write("deleteMessage", "messageId: $it", "conversation { id }", message, PRIVATE_TALK, only=only)


MARK_READ = Write("markNotificationsRead", "upToId: $it", "viewer { user { id } }", "notification", MEMBER, only=OWN)
# Reports come first, because later mutations leave conversations.
WRITES = (
    *_reports(),
    *_of_posts(),
    *_of_pictures(),
    *_of_comments(),
    *_of_members(),
    *_of_messages(),
    *_of_conversations(),
    INVITE,
    MARK_READ,
    Write("block", "userIds: [$it]", "users { id }", "member", BLOCKABLE),  # last: it hides what the others name
)
# Mentions name members by login, and an invisible member's login must match nobody.
MENTION = Write("post", "text: $logins", "status { id mentions { id } }", "member", MEMBER)
