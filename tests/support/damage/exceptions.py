"""Damages that `verify` does not find, or that `repair` cannot undo, each with the reason.

A row has names of keys, patterns of damages and the reason. Spaces separate the names, and commas the patterns. A
damage that is not found is not healed, either.
"""

from collections.abc import Sequence
from fnmatch import fnmatch

Rows = Sequence[tuple[str, str, str]]

ANY = "*"
NEVER_STORED: Rows = [
    ("reset_mail exports export_stream rate address_rate attempts log_in_turns writes", ANY, "expires"),
    ("texts idempotency commented messaged snapshot uploaded message_log given_up processing_time", ANY, "expires"),
    ("unblocked unfollowed withdrawn left_conversation home_draft", ANY, "expires"),
    ("progress dead_jobs rescore", ANY, "only while there is work"),
    ("layout processes imported", ANY, "only in stores of other layouts, of a running Perch, or after an import"),
    ("absent acknowledged slot", ANY, "holds nothing"),
    ("candidates", ANY, "only where big authors' reposts were merged; compared with the home"),
    ("unmerged", ANY, "any value is right"),
]
NOT_FOUND: Rows = [
    ("minted", "lost key, wrong value", "the clock gives the next id"),
    ("jobs", "lost key", "what the lost job had to do is found"),
    ("mail_tokens", "lost*", "a token may be used up or expire at any time"),
    ("outbox", "wrong value", "nothing else says when a mail is due"),
    ("sessions", "lost*, extra entry", "a session may end at any time"),
    ("known_addresses former_logins", "lost*, extra entry, malformed value, wrong value", "they expire by themselves"),
    ("tag_uses", "lost*, extra entry, malformed value, wrong value", "it expires"),
    ("taken", "lost key, malformed value, wrong value", "it expires once the reservation is settled"),
    ("removed_text", "lost key", "it expires"),
    ("originals", "lost*, extra entry, wrong value", "its entries expire"),
    ("home_state", "wrong value floor", "a home without older posts may have any lower floor"),
    ("active", "extra entry, wrong value", "the next look for idle homes removes it; nothing else has the day"),
    ("liked discussed memberships", "extra entry", "such an index may name too much"),
    ("memberships", "wrong value", "the id of an entry only orders them"),
    ("muted", "extra entry", "members who are gone may stay in it"),
    ("muted favourites notification_state", "lost*, wrong value*", "the only copy"),
    ("home_read", "lost key, wrong value", "the only copy"),
    ("likes group_members", "wrong value", "the only copy"),
    ("group_requests", "lost*, wrong value", "the only copy: the member's index may name too much"),
    ("report_messages", "lost key", "the only copy"),
    ("user", "lost entry pinned, malformed value private", "the only copy; the value of a flag says nothing"),
    ("status", "lost entry hashtags, lost entry latitude, lost entry longitude", "the only copy"),
    ("status comment", "lost entry mentions, wrong value mentions", "the only copy"),
    ("image", "wrong value owner, wrong value size", "the only copy"),
    ("report", "lost entry note", "the only copy"),
    ("case", "wrong value author, lost entry resolver, wrong value resolver", "the only copy"),
    ("notifications", "lost*, wrong value", "a full list drops some, and blocks and mutes keep some out"),
    ("withdrawn_notifications deleted_messages group_changes", "lost*, extra entry, wrong value", "for subscribers"),
    ("events event_ids", "lost*, extra entry, malformed value, wrong value", "for subscribers"),
    ("big_version", "lost key, wrong value", "the next change makes it differ from what is cached"),
]
NOT_HEALED: Rows = [
    ("minted", "wrong type, malformed value", "the clock gives the next id"),
    ("jobs", "wrong type", "what the lost job had to do is healed instead"),
    ("user", "lost key, wrong type, lost entry *, wrong value pinned", "the only copy"),
    ("status comment conversation message image group report case promotion", ANY, "the only copy"),
    ("credentials likes", ANY, "the only copy"),
    ("sessions known_addresses former_logins muted home_read favourites mail_tokens taken", ANY, "the only copy"),
    ("originals", "wrong type, malformed value", "its entries expire"),
    ("notifications withdrawn_notifications notification_state deleted_messages group_changes", ANY, "the only copy"),
    ("group_requests big_version report_messages removed_text tag_uses events event_ids", ANY, "the only copy"),
    ("following requested blocked", "lost*, wrong*, malformed value", "it is the truth, and the other side follows it"),
    ("group_members group_roles group_invitations group_banned", "lost*, wrong*, malformed value", "it is the truth"),
    ("memberships big", "lost*, wrong*, malformed value", "the entry gets another id"),
    ("outbox", "lost*, wrong type, malformed value", "the mails are due at once"),
    ("mails", "lost*, wrong type, extra entry", "a mail without a record cannot be sent; one with a record is"),
    ("moderation_log moderation_act log_head", ANY, "nobody changes the log, and `repair` does not"),
]


def is_in(rows: Rows, key: str, damage: str = "") -> bool:
    """Return whether a damage to a key is an exception."""
    return any(
        key in keys.split() and any(fnmatch(damage, pattern) for pattern in patterns.split(", "))
        for keys, patterns, _ in rows
    )
