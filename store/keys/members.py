"""Keys of members, and keys of a partition's jobs."""

from store.ids import partition
from store.keys.declaring import of_partition, owned_by

_member = owned_by("member")

minted = of_partition("minted")
"""string: clock and sequence of the newest id made in the partition"""
jobs = of_partition("jobs")
"""stream: work committed in the partition and not yet finished everywhere; group `workers`"""
progress = of_partition("progress")
"""hash: job → how far it has come; only while it runs in batches"""
dead_jobs = of_partition("dead_jobs")
"""zset: job set aside after too many failures → since when (ms); it stays in `jobs`, delivered to nobody"""
user = _member("user")
"""hash: profile, counters and pinned post of a member; never e-mail, password, sessions"""
credentials = _member("credentials")
"""hash: e-mail and whether it is verified, password hash, role, suspension, second factor"""
mail_tokens = _member("mail_tokens")
"""hash: purpose → digest of the one token sent for it by mail, address, and expiry (ms); expires with the last"""
outbox = of_partition("outbox")
"""zset: mail of the partition that is not sent yet → when it is due, or when its lease ends (ms since 1970)"""
mails = of_partition("mails")
"""hash: mail in `outbox` → its kind, member, address, what its link is made of, and how often it was put off"""


def reset_mail(address: str) -> str:
    """string: a password reset was requested for an address, which a member may have or not; expires in an hour"""
    return f"reset-mail:{{{address}}}"


sessions = _member("sessions")
"""hash: session → hashes of its refresh tokens, times, user agent, address; at most `SESSIONS_PER_MEMBER`"""
exports = _member("exports")
"""hash: session → digest and expiry (ms) of the link to its export; `made` → day and how many; expires in a day"""
export_stream = _member("export_stream")
"""string: random id of the export that is being sent to a member; expires in half a minute unless renewed"""


def rate(member: int, minute: int) -> str:
    """string: how many requests a member has sent in one minute; expires after it"""
    return f"rate:{{{partition(member)}}}:{member}:{minute}"


def address_rate(address: str, minute: int) -> str:
    """string: how many anonymous requests an address has sent in one minute; expires after it"""
    return f"rate:{{{address}}}:{minute}"


def attempts(kind: str, subject: str, window: int) -> str:
    """string: log-ins tried for an identifier, by an address or device; codes, sign-ups, resets, mails; expires"""
    return f"attempts:{kind}:{{{subject}}}:{window}"


def log_in_turns(identifier: str) -> str:
    """zset: network that may try the identifier once more → from when on (ms); at most 1,000; expires"""
    return f"log-in-turns:{{{identifier}}}"


known_addresses = _member("known_addresses")
"""zset: keyed hash of an address the member logged in from → when (ms); at most `KNOWN_ADDRESSES`; expires"""


def writes(member: int, hour: int) -> str:
    """hash: kind of write → how many of it the member made in one hour (since 1970); expires"""
    return f"writes:{{{partition(member)}}}:{member}:{hour}"


def texts(member: int, day: int) -> str:
    """hash: digest of a text → where the member sent it on a day (since 1970), at most `SAME_TEXT_TARGETS`; expires"""
    return f"texts:{{{partition(member)}}}:{member}:{day}"


def login(name: str) -> str:
    """string: lower-cased login → member; expires while reserved or given up, lasts once the member exists"""
    return f"login:{{{name}}}"


def email(address: str) -> str:
    """string: lower-cased e-mail address → member; expires while reserved, lasts once the member exists"""
    return f"email:{{{address}}}"


former_logins = _member("former_logins")
"""zset: login given up → when (s), so that it is deleted with the account; expired ones go at the next change"""


def names(magnitude: int) -> str:
    """zset: folded login or name, a zero byte, member; all score 0; magnitude 0: below 8 followers, 1: below 16, …"""
    return f"names:{{names}}:{magnitude}"


def indexed() -> str:
    """hash: member → magnitude and names under which `names` has them, all that there are; in its slot"""
    return "indexed:{names}"


following = _member("following")
"""zset: followed member → id of the edge; at most `MAX_FOLLOWING`"""
followers = _member("followers")
"""zset: follower → id of the edge, the same as in the follower's `following`"""
requests = _member("requests")
"""zset: who asks to follow a private member → id of the edge, the same that it will have as a follow"""
requested = _member("requested")
"""zset: private member asked to be followed → id of the edge; with `following` at most `MAX_FOLLOWING`"""
blocked = _member("blocked")
"""zset: blocked member → id of the block; at most `MAX_BLOCKED`"""
blocked_by = _member("blocked_by")
"""zset: who blocks the member → id of the block, the same as in the other's `blocked`"""
muted = _member("muted")
"""zset: muted member → id of the mute; at most `MAX_BLOCKED`"""


def unblocked(member: int, other: int) -> str:
    """string: id of the newest ended block by this other, so that an older one cannot return; expires in a day"""
    return f"unblocked:{{{partition(member)}}}:{member}:{other}"


def unfollowed(member: int, follower: int) -> str:
    """string: id of the newest ended edge from this follower, so that an older one cannot return; expires in a day"""
    return unfollowed_prefix(member) + str(follower)


def unfollowed_prefix(member: int) -> str:
    return f"unfollowed:{{{partition(member)}}}:{member}:"


profile = _member("profile")
"""zset: own post → its id; in a group `post:group`, a plain repost `id:original:author`, 0 for one in a group"""
home = _member("home")
"""list: status or quote, as `post:repost` where a plain repost added it; sorted by the id that did, newest last"""
newest = _member("newest")
"""string: at most 8 newest posts, not in `home` yet, after an id that no entry of it is above; 17 bytes each"""
home_state = _member("home_state", stem="homestate")
"""hash: floor, the highest id ever trimmed from the home, 0 while complete; while it is built, that and changes"""
sources = _member("sources")
"""hash: post → plain reposts above the floor, as `repost:author`, oldest first; after `post:0` if one lifted it"""
candidates = _member("candidates")
"""zset: `post:repost` that big authors' reposts of the post may make its place in the home → that repost"""
home_read = _member("home_read")
"""string: place of the newest home entry marked read; it never falls"""
active = of_partition("active")
"""zset: member with a home → day on which it was last read; idle ones lose it after `HOME_IDLE_DAYS`"""
unmerged = of_partition("unmerged")
"""string: random, another one each time that a home of the partition loses what an ended follow had added"""
home_draft = _member("home_draft")
"""list: posts of a home that an import is about to write; expires in a minute"""


def big() -> str:
    """zset: member with so many followers that readers pull their posts → job that made them so"""
    return "big:{big}"


def big_version() -> str:
    """string: how often the set of big authors has changed"""
    return "big-version:{big}"


reposted = _member("reposted")
"""hash: original → own plain repost of it"""
liked = _member("liked")
"""zset: post → its id; an index of likes that may name too much, the truth is `likes`"""
hidden = _member("hidden")
"""zset: own posts that are hidden → their own id"""
discussed = _member("discussed")
"""zset: post commented on → its id; an index that may name too much, the truth is `commenters`"""
favourites = _member("favourites")
"""zset: post favourited, known to the member alone → id of the favourite; at most `MAX_FAVOURITES`"""
notifications = _member("notifications")
"""zset: `KIND:actor:post or group:comment`, 0 for none, or `LIKE:0:post:day` → id; newest `NOTIFICATIONS_KEPT`"""
withdrawn_notifications = _member("withdrawn_notifications")
"""zset: withdrawn notification → id of the withdrawal; newest `NOTIFICATIONS_KEPT`"""
notification_state = _member("notification_state")
"""hash: read, the highest notification marked read; floor, the highest id ever trimmed from the two above"""
mentions = _member("mentions")
"""zset: posts that name a member, and comments as `comment:its post` → their own id; newest `MENTIONS_KEPT`"""


def idempotency(member: int, mutation: str, key: str) -> str:
    """string: digest of the input and the result of a mutation with this key; expires in a day"""
    return f"idempotency:{{{partition(member)}}}:{member}:{mutation}:{key}"


notifications_channel = _member("notifications_channel", stem="notifications")
"""The Pub/Sub channel on which changes to a member's notifications are published."""


def jobs_channel() -> str:
    """Return the Pub/Sub channel that announces work for any worker. No script publishes on it."""
    return "jobs"


def sessions_channel() -> str:
    """Return the Pub/Sub channel that announces ended sessions. No script publishes on it."""
    return "sessions"
