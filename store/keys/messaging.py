"""Keys of conversations and messages, and of what a participant's own partition has about them."""

from store.ids import partition
from store.keys.declaring import owned_by

_conversation = owned_by("conversation")
_message = owned_by("message")
_member = owned_by("member")


def conversation_of(p: int, digest: str) -> str:
    """string: conversation of a set of members; the digest of the set decides the partition"""
    return f"conversation-of:{{{p}}}:{digest}"


conversation = _conversation("conversation")
"""hash: participants, each with the id above which they see messages, 0 once they have left; newest change"""
messages = _conversation("messages")
"""zset: message of a conversation → its own id"""
message = _message("message")
"""hash: a message; in the partition of its conversation"""


def sent(conversation: int, member: int) -> str:
    """zset: message of a conversation by one participant → its own id, so that unread ones are counted exactly"""
    return sent_prefix(conversation) + str(member)


def sent_prefix(conversation: int) -> str:
    return f"sent:{{{partition(conversation)}}}:{conversation}:"


deleted_messages = _conversation("deleted_messages")
"""zset: deleted message, as `message:its sender` → id of the deletion; newest 100"""


def messaged(p: int, subject: str, member: int, key: str) -> str:
    """string: digest of the input and the message that an idempotency key of a sender has made; expires in a day"""
    return f"messaged:{{{p}}}:{subject}:{member}:{key}"


conversations = _member("conversations")
"""zset: conversation that the member sees → newest message that they see in it"""
conversation_state = _member("conversation_state")
"""hash: conversation → `version:other:read:size`: its change that was applied last, newest message by others, …"""
unread_conversations = _member("unread_conversations")
"""set: conversation in which a message by somebody else, who is not muted, is newer than the member's read mark"""


def left_conversation(member: int, conversation: int) -> str:
    """string: change by which a member left a conversation, so that an older one cannot list it; expires in a day"""
    return f"left-conversation:{{{partition(member)}}}:{member}:{conversation}"


message_log = _member("message_log")
"""zset: change for live subscribers → its id; newest `MESSAGE_EVENTS_KEPT`, and the floor; expires when unused"""
messages_channel = _member("messages_channel", stem="messages")
"""The Pub/Sub channel on which changes to a member's message log are published."""
