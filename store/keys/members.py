"""Keys of members, and keys of a partition's jobs."""

from store.ids import partition


def minted(p: int) -> str:
    """string: clock and sequence of the newest id made in the partition"""
    return f"minted:{{{p}}}"


def jobs(p: int) -> str:
    """stream: work committed in the partition and not yet finished everywhere; group `workers`"""
    return f"jobs:{{{p}}}"


def progress(p: int) -> str:
    """hash: job → how far it has come; only while it runs in batches"""
    return f"progress:{{{p}}}"


def dead_jobs(p: int) -> str:
    """zset: job set aside after too many failures → since when (ms); it stays in `jobs`, delivered to nobody"""
    return f"dead-jobs:{{{p}}}"


def user(member: int) -> str:
    """hash: profile, counters and pinned post of a member; never e-mail, password, sessions"""
    return f"user:{{{partition(member)}}}:{member}"


def credentials(member: int) -> str:
    """hash: e-mail and whether it is verified, password hash, role, suspension, second factor"""
    return f"credentials:{{{partition(member)}}}:{member}"


def mail_tokens(member: int) -> str:
    """hash: purpose → digest of the one token sent for it by mail, address, and expiry (ms); expires with the last"""
    return f"mail-tokens:{{{partition(member)}}}:{member}"


def outbox(p: int) -> str:
    """zset: mail of the partition that is not sent yet → when it is due, or when its lease ends (ms since 1970)"""
    return f"outbox:{{{p}}}"


def mails(p: int) -> str:
    """hash: mail in `outbox` → its kind, member, address, what its link is made of, and how often it was put off"""
    return f"mails:{{{p}}}"


def reset_mail(address: str) -> str:
    """string: a password reset was requested for an address, which a member may have or not; expires in an hour"""
    return f"reset-mail:{{{address}}}"


def sessions(member: int) -> str:
    """hash: session → hashes of its refresh tokens, times, user agent, address; at most `SESSIONS_PER_MEMBER`"""
    return f"sessions:{{{partition(member)}}}:{member}"


def exports(member: int) -> str:
    """hash: session → digest and expiry (ms) of the link to its export; `made` → day and how many; expires in a day"""
    return f"exports:{{{partition(member)}}}:{member}"


def export_stream(member: int) -> str:
    """string: random id of the export that is being sent to a member; expires in half a minute unless renewed"""
    return f"export-stream:{{{partition(member)}}}:{member}"


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


def known_addresses(member: int) -> str:
    """zset: keyed hash of an address the member logged in from → when (ms); at most `KNOWN_ADDRESSES`; expires"""
    return f"known-addresses:{{{partition(member)}}}:{member}"


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


def former_logins(member: int) -> str:
    """zset: login given up → when (s), so that it is deleted with the account; expired ones go at the next change"""
    return f"former-logins:{{{partition(member)}}}:{member}"


def names(magnitude: int) -> str:
    """zset: folded login or name, a zero byte, member; all score 0; magnitude 0: below 8 followers, 1: below 16, …"""
    return f"names:{{names}}:{magnitude}"


def indexed() -> str:
    """hash: member → magnitude and names under which `names` has them, all that there are; in its slot"""
    return "indexed:{names}"


def following(member: int) -> str:
    """zset: followed member → id of the edge; at most `MAX_FOLLOWING`"""
    return f"following:{{{partition(member)}}}:{member}"


def followers(member: int) -> str:
    """zset: follower → id of the edge, the same as in the follower's `following`"""
    return f"followers:{{{partition(member)}}}:{member}"


def requests(member: int) -> str:
    """zset: who asks to follow a private member → id of the edge, the same that it will have as a follow"""
    return f"requests:{{{partition(member)}}}:{member}"


def requested(member: int) -> str:
    """zset: private member asked to be followed → id of the edge; with `following` at most `MAX_FOLLOWING`"""
    return f"requested:{{{partition(member)}}}:{member}"


def blocked(member: int) -> str:
    """zset: blocked member → id of the block; at most `MAX_BLOCKED`"""
    return f"blocked:{{{partition(member)}}}:{member}"


def blocked_by(member: int) -> str:
    """zset: who blocks the member → id of the block, the same as in the other's `blocked`"""
    return f"blocked-by:{{{partition(member)}}}:{member}"


def muted(member: int) -> str:
    """zset: muted member → id of the mute; at most `MAX_BLOCKED`"""
    return f"muted:{{{partition(member)}}}:{member}"


def unblocked(member: int, other: int) -> str:
    """string: id of the newest ended block by this other, so that an older one cannot return; expires in a day"""
    return f"unblocked:{{{partition(member)}}}:{member}:{other}"


def unfollowed(member: int, follower: int) -> str:
    """string: id of the newest ended edge from this follower, so that an older one cannot return; expires in a day"""
    return unfollowed_prefix(member) + str(follower)


def unfollowed_prefix(member: int) -> str:
    return f"unfollowed:{{{partition(member)}}}:{member}:"


def profile(member: int) -> str:
    """zset: own post → its id; in a group `post:group`, a plain repost `id:original:author`, 0 for one in a group"""
    return f"profile:{{{partition(member)}}}:{member}"


def home(member: int) -> str:
    """list: status or quote, as `post:repost` where a plain repost added it; sorted by the id that did, newest last"""
    return f"home:{{{partition(member)}}}:{member}"


def newest(member: int) -> str:
    """string: at most 8 newest posts, not in `home` yet, after an id that no entry of it is above; 17 bytes each"""
    return f"newest:{{{partition(member)}}}:{member}"


def home_state(member: int) -> str:
    """hash: floor, the highest id ever trimmed from the home, 0 while complete; while it is built, that and changes"""
    return f"homestate:{{{partition(member)}}}:{member}"


def sources(member: int) -> str:
    """hash: post → plain reposts above the floor, as `repost:author`, oldest first; after `post:0` if one lifted it"""
    return f"sources:{{{partition(member)}}}:{member}"


def candidates(member: int) -> str:
    """zset: `post:repost` that big authors' reposts of the post may make its place in the home → that repost"""
    return f"candidates:{{{partition(member)}}}:{member}"


def home_read(member: int) -> str:
    """string: place of the newest home entry marked read; it never falls"""
    return f"home-read:{{{partition(member)}}}:{member}"


def active(p: int) -> str:
    """zset: member with a home → day on which it was last read; idle ones lose it after `HOME_IDLE_DAYS`"""
    return f"active:{{{p}}}"


def unmerged(p: int) -> str:
    """string: random, another one each time that a home of the partition loses what an ended follow had added"""
    return f"unmerged:{{{p}}}"


def big() -> str:
    """zset: member with so many followers that readers pull their posts → job that made them so"""
    return "big:{big}"


def big_version() -> str:
    """string: how often the set of big authors has changed"""
    return "big-version:{big}"


def reposted(member: int) -> str:
    """hash: original → own plain repost of it"""
    return f"reposted:{{{partition(member)}}}:{member}"


def liked(member: int) -> str:
    """zset: post → its id; an index of likes that may name too much, the truth is `likes`"""
    return f"liked:{{{partition(member)}}}:{member}"


def hidden(member: int) -> str:
    """zset: own posts that are hidden → their own id"""
    return f"hidden:{{{partition(member)}}}:{member}"


def discussed(member: int) -> str:
    """zset: post commented on → its id; an index that may name too much, the truth is `commenters`"""
    return f"discussed:{{{partition(member)}}}:{member}"


def favourites(member: int) -> str:
    """zset: post favourited, known to the member alone → id of the favourite; at most `MAX_FAVOURITES`"""
    return f"favourites:{{{partition(member)}}}:{member}"


def notifications(member: int) -> str:
    """zset: `KIND:actor:post or group:comment`, 0 for none, or `LIKE:0:post:day` → id; newest `NOTIFICATIONS_KEPT`"""
    return f"notifications:{{{partition(member)}}}:{member}"


def withdrawn_notifications(member: int) -> str:
    """zset: withdrawn notification → id of the withdrawal; newest `NOTIFICATIONS_KEPT`"""
    return f"withdrawn-notifications:{{{partition(member)}}}:{member}"


def notification_state(member: int) -> str:
    """hash: read, the highest notification marked read; floor, the highest id ever trimmed from the two above"""
    return f"notification-state:{{{partition(member)}}}:{member}"


def mentions(member: int) -> str:
    """zset: posts that name a member, and comments as `comment:its post` → their own id; newest `MENTIONS_KEPT`"""
    return f"mentions:{{{partition(member)}}}:{member}"


def idempotency(member: int, mutation: str, key: str) -> str:
    """string: digest of the input and the result of a mutation with this key; expires in a day"""
    return f"idempotency:{{{partition(member)}}}:{member}:{mutation}:{key}"


def notifications_channel(member: int) -> str:
    """Return the Pub/Sub channel on which changes to a member's notifications are published."""
    return f"notifications:{{{partition(member)}}}:{member}"


def jobs_channel() -> str:
    """Return the Pub/Sub channel that announces work for any worker. No script publishes on it."""
    return "jobs"


def sessions_channel() -> str:
    """Return the Pub/Sub channel that announces ended sessions. No script publishes on it."""
    return "sessions"
