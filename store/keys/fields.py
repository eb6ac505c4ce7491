"""The fields of the hashes in Redis. Python and Lua both write `UserField.LOGIN`; no other code spells a field.

A comment says what a field holds, unless its name does. A flag is present or absent; its value says nothing.
"""


class UserField:
    """Fields of `user:`."""

    LOGIN = "login"
    NAME = "name"
    BIO = "bio"
    FOLLOWERS = "followers"  # how many
    FOLLOWING = "following"  # how many
    POSTS = "posts"  # how many, without hidden ones
    PRIVATE = "private"  # flag
    SUSPENDED = "suspended"  # flag
    PINNED = "pinned"  # post at the top of their profile; absent without one
    MAGNITUDE = "magnitude"  # selects their set of names
    MESSAGES_FROM = "messages_from"  # who may begin conversations with them, and write in one of two; absent: everyone
    AVATAR = "avatar"  # a list of one picture, as `store/records/pictures.py` writes it
    HEADER = "header"  # the same
    REACH = "reach"  # growing, big (readers pull their posts) or shrinking, with the id that set it; else absent


class CredentialsField:
    """Fields of `credentials:`."""

    EMAIL = "email"  # "" once another account has taken over an address that was never verified
    PASSWORD = "password"  # noqa: S105  the field's name; it holds a hash
    ROLE = "role"
    SUSPENDED = "suspended"  # flag
    VERIFIED = "verified"  # flag: a link sent to the address has shown that it is theirs, or nothing had to
    TOTP_SALT = "totp_salt"  # of the second factor's secret; absent without a second factor
    TOTP_PENDING = "totp_pending"  # salt of a secret that the member has not confirmed yet
    TOTP_STEP = "totp_step"  # time step of the newest code that was accepted
    RECOVERY_CODES = "recovery_codes"  # digests of the unused ones, separated by spaces


class ExportsField:
    """Fields of `exports:` beside one for each session."""

    MADE = "made"  # day since 1970, and how many links were made on it


class MailTokenField:
    """Fields of `mail-tokens:`. Each holds a digest, an address, and when the token expires."""

    VERIFICATION = "verification"
    RESET = "reset"


class StatusField:
    """Fields of `status:`."""

    AUTHOR = "author"
    TEXT = "text"  # empty in a plain repost
    MENTIONS = "mentions"  # ids of members
    HASHTAGS = "hashtags"  # each after a #
    ORIGINAL = "original"  # post that this one reposts
    ORIGINAL_AUTHOR = "original_author"
    OF_QUOTE = "of_quote"  # flag: the original is a quote
    REPLY_TO = "reply_to"  # post that this one answers
    REPLY_TO_AUTHOR = "reply_to_author"
    ROOT = "root"  # post that began the conversation
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    LIKES = "likes"  # how many
    REPOSTS = "reposts"  # how many plain ones
    QUOTES = "quotes"  # how many
    COMMENTS = "comments"  # how many
    REPLIES = "replies"  # how many
    HIDDEN = "hidden"  # flag: its author hides it
    GROUP = "group"  # in which it was posted
    ORIGINAL_GROUP = "original_group"  # in which the original was posted
    UNANNOUNCED = "unannounced"  # flag: its author was private or suspended when it was made
    IMAGES = "images"  # list of its pictures, as `store/records/pictures.py` writes it; absent without one


class CommentField:
    """Fields of `comment:`."""

    AUTHOR = "author"
    TEXT = "text"
    POST = "post"
    REPLY_TO = "reply_to"  # comment that this one answers
    MENTIONS = "mentions"  # ids of members


class GroupField:
    """Fields of `group:`."""

    NAME = "name"
    DESCRIPTION = "description"
    KIND = "kind"
    HIDDEN = "hidden"  # flag: moderators of the site hide it


class ConversationField:
    """Fields of `conversation:`."""

    PARTICIPANTS = "participants"  # as `member:since`, sorted by member; since is 0 once they have left
    DIGEST = "digest"  # of the set of members
    VERSION = "version"  # newest change: message, deletion, departure or return
    FORGOTTEN = "forgotten"  # highest deletion trimmed from the deleted messages; absent before


class MessageField:
    """Fields of `message:`."""

    CONVERSATION = "conversation"
    SENDER = "sender"
    TEXT = "text"
    IMAGES = "images"  # list of its pictures, as `store/records/pictures.py` writes it; absent without one


class ImageField:
    """Fields of `image:`."""

    OWNER = "owner"
    PURPOSE = "purpose"
    CONTENT_TYPE = "content_type"  # as announced
    SIZE = "size"  # bytes, as announced
    STATE = "state"
    ERROR = "error"  # why it failed
    OBJECT = "object"  # name of its stored objects: its id and random digits; set once the bytes have arrived
    WIDTH = "width"  # pixels of the large form
    HEIGHT = "height"
    BLURHASH = "blurhash"
    BYTES = "bytes"  # of all stored forms
    VERSION = "version"  # part of each link
    SUBJECT = "subject"  # what it is attached to, as `kind:id`, or what reserves it; absent before


class LayoutField:
    """Fields of `layout:`. The others are the numbers of partitions."""

    VERSION = "version"


class HomeField:
    """Fields of `homestate:`."""

    FLOOR = "floor"  # highest id ever trimmed from the home, 0 while complete
    BUILDING = "building"  # flag: a builder is at work
    CHANGED = "changed"  # while the home is built: the clock (us) at its beginning, plus the number of changes since


class NotificationsField:
    """Fields of `notification-state:`."""

    READ = "read"  # highest notification marked read
    FLOOR = "floor"  # highest id ever trimmed from a log


class PromotionField:
    """Fields of `promotion:`."""

    SPONSOR = "sponsor"
    ENDS = "ends"  # ms since 1970; 0 when ended early
    STATUS = "status"
    MEMBER = "member"
    TITLE = "title"
    TEXT = "text"
    URL = "url"


class ReportField:
    """Fields of `report:`."""

    CASE = "case"
    REPORTER = "reporter"
    REASON = "reason"
    NOTE = "note"


class EvidenceField:
    """Fields of `evidence:`; the others are cases."""

    PICTURES = "pictures"  # as the message had them; once it is deleted


class CaseField:
    """Fields of `case:`."""

    SUBJECT = "subject"  # as `kind:id`
    AUTHOR = "author"  # member who wrote or owns the subject, or is it
    STATE = "state"
    RESOLVER = "resolver"  # moderator who resolved it; absent while it is open


class ModerationActField:
    """Fields of `moderation-act:`."""

    ACTOR = "actor"  # 0 for an operator on the command line
    KIND = "kind"
    SUBJECT = "subject"  # as `kind:id`
    REPORT = "report"  # 0 without one
    NOTE = "note"
    TEXT_DIGEST = "text_digest"  # of the text that was deleted; empty without one
    PREVIOUS = "previous"  # digest of the act before; empty for the first
    DIGEST = "digest"  # of all the others, and of the act's id


class LogHeadField:
    """Fields of `log-head:`."""

    DIGEST = "digest"  # of the newest act
    COUNT = "count"  # acts that were ever logged
