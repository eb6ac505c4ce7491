"""Keys of conversations and messages, and of what a participant's own partition has about them."""

from store.ids import partition


def conversation_of(p: int, digest: str) -> str:
    """string: conversation of a set of members; the digest of the set decides the partition"""
    return f"conversation-of:{{{p}}}:{digest}"


def conversation(conversation: int) -> str:
    """hash: participants, each with the id above which they see messages, 0 once they have left; newest change"""
    return f"conversation:{{{partition(conversation)}}}:{conversation}"


def messages(conversation: int) -> str:
    """zset: message of a conversation → its own id"""
    return f"messages:{{{partition(conversation)}}}:{conversation}"


def message(message: int) -> str:
    """hash: a message; in the partition of its conversation"""
    return f"message:{{{partition(message)}}}:{message}"


def sent(conversation: int, member: int) -> str:
    """zset: message of a conversation by one participant → its own id, so that unread ones are counted exactly"""
    return sent_prefix(conversation) + str(member)


def sent_prefix(conversation: int) -> str:
    return f"sent:{{{partition(conversation)}}}:{conversation}:"


def deleted_messages(conversation: int) -> str:
    """zset: deleted message, as `message:its sender` → id of the deletion; newest 100"""
    return f"deleted-messages:{{{partition(conversation)}}}:{conversation}"


def messaged(p: int, subject: str, member: int, key: str) -> str:
    """string: digest of the input and the message that an idempotency key of a sender has made; expires in a day"""
    return f"messaged:{{{p}}}:{subject}:{member}:{key}"


def conversations(member: int) -> str:
    """zset: conversation that the member sees → newest message that they see in it"""
    return f"conversations:{{{partition(member)}}}:{member}"


def conversation_state(member: int) -> str:
    """hash: conversation → `version:other:read:size`: its change that was applied last, newest message by others, …"""
    return f"conversation-state:{{{partition(member)}}}:{member}"


def unread_conversations(member: int) -> str:
    """set: conversation in which a message by somebody else, who is not muted, is newer than the member's read mark"""
    return f"unread-conversations:{{{partition(member)}}}:{member}"


def left_conversation(member: int, conversation: int) -> str:
    """string: change by which a member left a conversation, so that an older one cannot list it; expires in a day"""
    return f"left-conversation:{{{partition(member)}}}:{member}:{conversation}"


def message_log(member: int) -> str:
    """zset: change for live subscribers → its id; newest `MESSAGE_EVENTS_KEPT`, and the floor; expires when unused"""
    return f"message-log:{{{partition(member)}}}:{member}"


def messages_channel(member: int) -> str:
    """Return the Pub/Sub channel on which changes to a member's message log are published."""
    return f"messages:{{{partition(member)}}}:{member}"
