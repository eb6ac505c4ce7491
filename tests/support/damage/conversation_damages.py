"""Damages to conversations, their messages, and the entries of their participants."""

from store import keys
from store.conversations.messages import digest_of
from store.ids import partition
from store.keys.fields import ConversationField
from tests.support.damage.site import GHOST, Damage, Site


def _holder(site: Site) -> str:
    return keys.conversation_of(partition(site.talk), digest_of({site.ann, site.ben, site.cat}))


def _talk(site: Site) -> str:
    return keys.conversation(site.talk)


CONVERSATIONS = [
    Damage("conversation of members that is gone", _holder, lambda s: [("SET", _holder(s), GHOST), ("DEL", _talk(s))]),
    Damage("message that is gone", _talk, lambda s: [("DEL", keys.message(s.message))]),
    Damage("last message that is gone", _talk, lambda s: [("DEL", keys.message(s.last))]),
    Damage(
        "message that is listed for another member",
        _talk,
        lambda s: [("ZADD", keys.sent(s.talk, s.cat), GHOST, GHOST)],
    ),
    Damage(
        "messages of no conversation",
        lambda _: keys.messages(GHOST),
        lambda _: [("ZADD", keys.messages(GHOST), GHOST, GHOST)],
    ),
    Damage(
        "sent messages of no conversation",
        lambda s: keys.sent(GHOST, s.ann),
        lambda s: [("ZADD", keys.sent(GHOST, s.ann), GHOST, GHOST)],
    ),
    Damage(
        "deleted messages of no conversation",
        lambda _: keys.deleted_messages(GHOST),
        lambda s: [("ZADD", keys.deleted_messages(GHOST), GHOST, f"{GHOST}:{s.ann}")],
    ),
    Damage("conversation that is gone", lambda s: keys.message(s.message), lambda s: [("DEL", _talk(s))]),
    Damage("unread conversation of a muted member", _talk, lambda s: [("ZADD", keys.muted(s.ben), 1, s.ann)]),
    Damage("unread conversation that is not", _talk, lambda s: [("SREM", keys.unread_conversations(s.ben), s.talk)]),
    Damage(
        "conversation whose newest change was lost",
        _talk,
        lambda s: [("HSET", _talk(s), ConversationField.VERSION, 1)],
    ),
    Damage(
        "entry of a change that was lost",
        _talk,
        lambda s: [("HSET", keys.conversation_state(s.ben), s.talk, f"{1 << 52}:{s.last}:0:3")],
    ),
    Damage(
        "entry of a change that was not applied",
        _talk,
        lambda s: [("HSET", keys.conversation_state(s.ben), s.talk, f"{s.message}:{s.message}:0:3")],
    ),
    Damage(
        "entry of a member who has left",
        _talk,
        lambda s: [("HSET", _talk(s), ConversationField.PARTICIPANTS, f"{s.ann}:{s.talk} {s.ben}:{s.talk} {s.cat}:0")],
    ),
    Damage(
        "entry of a conversation of others",
        lambda s: keys.conversations(s.dan),
        lambda s: [("ZADD", keys.conversations(s.dan), s.last, s.talk)],
    ),
    Damage(
        "unread conversation that is gone",
        lambda s: keys.conversations(s.dan),
        lambda s: [("SADD", keys.unread_conversations(s.dan), GHOST)],
    ),
    Damage(
        "conversations of nobody",
        lambda _: keys.conversations(GHOST),
        lambda _: [("ZADD", keys.conversations(GHOST), GHOST, GHOST)],
    ),
    Damage(
        "message log of nobody",
        lambda _: keys.message_log(GHOST),
        lambda _: [("ZADD", keys.message_log(GHOST), GHOST, "floor")],
    ),
    Damage("participant without an account", _talk, lambda s: [("DEL", keys.user(s.cat), keys.credentials(s.cat))]),
]
