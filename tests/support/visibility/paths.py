"""Every path through the schema to another member's entities, and which viewers must find them.

If you add a field that leads to members, posts or comments, add a line here: the coverage test names the field. The
entities to be found have names in `Audience.entities`. If the scene lacks one, add a line to `audience._entities`. A
mutation that takes an id belongs into `writes`. A subscription belongs into `LIVE`, with a test like those of
`test_visibility_live`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.support.transport.live import ACTIVITY, GROUP, HOME, MESSAGES, NOTIFICATIONS
from tests.support.transport.site_live import SAMPLE, STREAM
from tests.support.visibility.audience import ANONYMOUS, SELF, TARGETS
from tests.support.visibility.sights import (
    BLOCKABLE,
    LISTS,
    MEMBER,
    POSTS,
    PRIVATE_TALK,
    REPORTED,
    REPOSTS,
    SUSPENDED,
    TIMELINE,
    WANTED,
    WORDS,
    Cell,
    Kind,
)


@dataclass(frozen=True)
class Only:
    """A set of cells to which a path or mutation is restricted, given as a predicate, and the reason."""

    reason: str
    holds: Callable[[Cell], bool]


@dataclass(frozen=True)
class Path:
    """A path to entities through one field, and everything that the query selects below it.

    Names with a `$` in the query are entities of the scene; `$it` is each of the entities to be found.
    """

    field: str
    query: str
    entities: str  # the entities that must be found, or not
    kind: Kind
    only: Only | None = None

    def leads(self, cell: Cell) -> bool:
        """Return whether the entities must be found in a cell."""
        return self.kind.is_seen(cell) and (self.only is None or self.only.holds(cell))


FOLLOWING = {"follower", "muting follower", SUSPENDED}
MUTING = {"muting", "muting follower"}
BLOCKING = {"blocking", "mutual block"}
BLOCKS = {*BLOCKING, "blocked by"}
FOR_ALL = Only(
    "a list that everybody reads has no post that its author keeps from anybody",
    lambda cell: not (cell.state.private or cell.state.suspended or cell.state.hidden),
)
SHOWN = Only("a hidden post is in no list of quotes, replies or a conversation", lambda cell: not cell.state.hidden)
SIGNED_IN = Only("an anonymous request has no home, and nothing of its own", lambda cell: cell.relation != ANONYMOUS)
FOLLOWED_SOURCES = Only(
    "a source is a member whom the viewer follows, and whose reposts they see",
    lambda cell: cell.relation in FOLLOWING and REPOSTS.is_seen(cell),
)
FOLLOWED = Only("nobody passes it on", lambda cell: cell.relation in {*FOLLOWING, SELF})
OWN = Only("shows the viewer", lambda cell: cell.relation == SELF)
BLOCKED = Only("shows whom the viewer blocks", lambda cell: cell.relation in BLOCKING)
MUTED = Only("shows whom the viewer mutes", lambda cell: cell.relation in MUTING)
ASKS = Only(
    "every member has asked every other viewer, and a block ends that",
    lambda cell: cell.relation not in {ANONYMOUS, SELF, *BLOCKS},
)
MODERATING = Only(
    "shown to the group's moderators, unless they are suspended",
    lambda cell: cell.relation not in {ANONYMOUS, SELF, SUSPENDED},
)
WITHIN = Only("every viewer who has an account takes part", lambda cell: cell.relation != ANONYMOUS)
TOGETHER = Only("a block ends a conversation of two for both", lambda cell: cell.relation not in {ANONYMOUS, *BLOCKS})
HEARD = Only(
    "who blocks the sender or is suspended does not see their messages",
    lambda cell: cell.relation not in {ANONYMOUS, *BLOCKING, SUSPENDED},
)
HEARD_ALONE = Only(
    "the same in a conversation of two, which a block ends for both",
    lambda cell: cell.relation not in {ANONYMOUS, *BLOCKS, SUSPENDED},
)
MODERATORS = Only("moderators of the site alone", lambda cell: cell.relation == "moderator")
NAMED = Only("every member and their pal name every other viewer", lambda cell: cell.relation not in {ANONYMOUS, SELF})

EDGES = "(first: 100) { edges { node { id } } nodes { id } }"
ENTRIES = "{ edges { node { ... on Node { id } } } nodes { ... on Node { id } } }"
ANY = "(first: 100)"
IMPORTANT = "(first: 100, order: IMPORTANT)"
QUOTES = " ".join(f"quote_of_{target}" for target in TARGETS)
ALL_REPOSTS = " ".join(f"repost_of_{target}" for target in TARGETS)
ALL_REPLIES = " ".join(f"reply_to_{target}" for target in TARGETS)
ALL_COMMENTS = " ".join(f"comment_on_{target}" for target in TARGETS)
SEEN_WITH_THE_STATUS = "own_comment pals_comment pals_repost"


def on(kind: str, entity: str, selection: str) -> str:
    return f"node(id: {entity}) {{ ... on {kind} {{ {selection} }} }}"


def _node() -> Iterator[Path]:
    for field, query in (("Query.node", "node(id: $it) { id }"), ("Query.nodes", "nodes(ids: [$friend, $it]) { id }")):
        yield Path(field, query, "member", MEMBER)
        yield Path(field, query, f"status late {QUOTES} {ALL_REPLIES} {SEEN_WITH_THE_STATUS}", POSTS)
        yield Path(field, query, ALL_REPOSTS, REPOSTS)
        yield Path(field, query, ALL_COMMENTS, WORDS)
        yield Path(field, query, "notification", MEMBER, OWN)
        yield Path(field, query, "status_image", POSTS)
        yield Path(field, query, "avatar_image header_image", MEMBER)
        yield Path(field, query, "message_image", PRIVATE_TALK, HEARD)
        yield Path(field, query, "status_upload message_upload", MEMBER, OWN)
    yield Path("Query.user", "user(login: $login) { id }", "member", MEMBER)
    search = EDGES.replace("(", '(prefix: "member", ')
    yield Path("Query.searchUsers", f"searchUsers{search}", "member", MEMBER)


def _viewer() -> Iterator[Path]:
    yield Path("Query.viewer", "viewer { user { id } }", "member", MEMBER, OWN)
    yield Path("Viewer.blocked", f"viewer {{ blocked{EDGES} }}", "member", BLOCKABLE, BLOCKED)
    yield Path("Viewer.muted", f"viewer {{ muted{EDGES} }}", "member", MEMBER, MUTED)
    yield Path("Viewer.followRequests", f"viewer {{ followRequests{EDGES} }}", "member", MEMBER, ASKS)
    yield Path("Viewer.favourites", f"viewer {{ favourites{EDGES} }}", "status", POSTS, SIGNED_IN)
    mentions = f"viewer {{ mentions{ANY} {ENTRIES} }}"
    yield Path("Viewer.mentions", mentions, "status", TIMELINE, NAMED)
    yield Path("Viewer.mentions", mentions, ALL_COMMENTS, WANTED, NAMED)
    yield Path("Viewer.mentions", mentions, "pals_naming", POSTS, NAMED)


def _notifications() -> Iterator[Path]:
    for part, found, kind, only in (
        ("actor", "member", WANTED, NAMED),
        ("actors", "member", WANTED, NAMED),
        ("post", "status", TIMELINE, SIGNED_IN),
        ("post", "quote_of_status", POSTS, SIGNED_IN),
        ("comment", ALL_COMMENTS, WANTED, NAMED),
        ("comment", "pals_naming", POSTS, SIGNED_IN),
    ):
        query = (
            f"viewer {{ notifications{ANY} {{ edges {{ node {{ {part} {{ id }} }} }} nodes {{ {part} {{ id }} }} }} }}"
        )
        yield Path(f"Notification.{part}", query, found, kind, only)
        yield Path("Viewer.notifications", query, found, kind, only)


def _timelines() -> Iterator[Path]:
    for span in (ANY, IMPORTANT):
        everywhere = f"status late {QUOTES}"
        yield Path("Query.publicTimeline", f"publicTimeline{span} {ENTRIES}", everywhere, TIMELINE, FOR_ALL)
        tag = f'hashtag(name: "tea") {{ timeline{span} {ENTRIES} }}'
        yield Path("Query.hashtag", tag, everywhere, TIMELINE, FOR_ALL)
        yield Path("Query.homeTimeline", f"homeTimeline{span} {ENTRIES}", "status", TIMELINE, SIGNED_IN)
        yield Path("Query.homeTimeline", f"homeTimeline{span} {ENTRIES}", "late", TIMELINE, FOLLOWED)
    trends = f"trendingHashtags(first: 10) {{ timeline{ANY} {ENTRIES} }}"
    yield Path("Query.trendingHashtags", trends, f"status late {QUOTES}", TIMELINE, FOR_ALL)
    sources = f"homeTimeline{ANY} {{ edges {{ repostedBy(first: 100) {{ user {{ id }} }} }} }}"
    yield Path("TimelineEdge.repostedBy", sources, "member", WANTED, FOLLOWED_SOURCES)
    profile = on("User", "$member", f"timeline{ANY} {ENTRIES}")
    yield Path("User.timeline", profile, f"status late {QUOTES} {ALL_REPLIES}", POSTS)
    yield Path("User.timeline", profile, ALL_REPOSTS, REPOSTS)
    yield Path("User.pinnedPost", on("User", "$member", "pinnedPost { id }"), "status", POSTS)


def _users() -> Iterator[Path]:
    for field in ("followers", "following"):
        yield Path(f"User.{field}", on("User", "$friend", f"{field}{EDGES}"), "member", MEMBER)
        yield Path(f"User.{field}", on("User", "$member", f"{field}{EDGES}"), "pal", LISTS)
    for field in ("commonFollowers", "commonFollowing"):
        for one, other, found, kind in (
            ("$friend", "$pal", "member", MEMBER),
            ("$member", "$friend", "pal", LISTS),
            ("$friend", "$member", "pal", LISTS),
        ):
            with_user = EDGES.replace("(", f"(withUser: {other}, ")
            yield Path(f"User.{field}", on("User", one, f"{field}{with_user}"), found, kind)


def _posts() -> Iterator[Path]:
    for target, kind in zip(TARGETS, ("Status", "Repost", "Repost"), strict=True):
        post = f"$friend_{target}"
        yield Path(f"{kind}.likedBy", on(kind, post, f"likedBy{EDGES}"), "member", WORDS)
        yield Path(f"{kind}.comments", on(kind, post, f"comments{EDGES}"), f"comment_on_{target}", WORDS)
        yield Path(f"{kind}.quotes", on(kind, post, f"quotes{EDGES}"), f"quote_of_{target}", POSTS, SHOWN)
        yield Path(f"{kind}.reposts", on(kind, post, f"reposts{EDGES}"), f"repost_of_{target}", REPOSTS)
        yield Path(f"{kind}.replies", on(kind, post, f"replies{EDGES}"), f"reply_to_{target}", POSTS, SHOWN)
    yield Path("Status.mentions", on("Status", "$friend_status", "mentions { id }"), "member", MEMBER)
    yield Path("Repost.mentions", on("Repost", "$friend_quote", "mentions { id }"), "member", MEMBER)
    yield Path("Status.author", on("Status", "$status", "author { id }"), "member", POSTS)
    yield Path("Repost.author", on("Repost", "$quote_of_status", "author { id }"), "member", POSTS)
    yield Path("Repost.author", on("Repost", "$repost_of_status", "author { id }"), "member", REPOSTS)
    yield Path("Status.replies", on("Status", "$status", f"replies{EDGES}"), "pals_reply", POSTS)
    yield Path("Status.inReplyTo", on("Status", "$pals_reply", "inReplyTo { id }"), "status", POSTS)
    for status, found, only in (
        ("$friend_status", "reply_to_status", SHOWN),
        ("$reply_to_status", "reply_to_status", None),
        ("$pals_reply", "status", None),
        ("$status", "status pals_reply", None),
    ):
        conversation = on("Status", status, f"conversation{EDGES}")
        yield Path("Status.conversation", conversation, found, POSTS, only)
    for repost in ("$pals_quote", "$pals_repost"):
        yield Path("Repost.original", on("Repost", repost, "original { id }"), "status", POSTS)
    yield Path("Comment.author", on("Comment", "$comment_on_status", "author { id }"), "member", WORDS)
    yield Path("Comment.post", on("Comment", "$pals_comment", "post { id }"), "status", POSTS)
    yield Path("Comment.replyTo", on("Comment", "$answer", "replyTo { id }"), "comment_on_status", WORDS)


def _groups() -> Iterator[Path]:
    members = f"members{EDGES}"
    yield Path("Group.members", on("Group", "$friend_group", members), "member", MEMBER)
    asking = on("Group", "$friend_private_group", f"joinRequests{EDGES}")
    yield Path("Group.joinRequests", asking, "member", MEMBER, MODERATING)
    barred = on("Group", "$friend_barring_group", f"banned{EDGES}")
    yield Path("Group.banned", barred, "member", MEMBER, MODERATING)
    timeline = on("Group", "$friend_group", f"timeline{ANY} {ENTRIES}")
    yield Path("Group.timeline", timeline, "group_status", TIMELINE)
    yield Path("Status.group", on("Status", "$group_status", "group { id }"), "friend_group", POSTS)
    yield Path("User.timeline", on("User", "$member", f"timeline{ANY} {ENTRIES}"), "group_status", POSTS)
    directory = f"groups(first: 100) {{ edges {{ node {{ {members} }} }} nodes {{ {members} }} }}"
    yield Path("Query.groups", directory, "member", MEMBER)
    yield Path("Viewer.groups", f"viewer {{ {directory} }}", "member", MEMBER, SIGNED_IN)
    invitations = f"viewer {{ notifications{ANY} {{ nodes {{ group {{ id }} }} }} }}"
    yield Path("Notification.group", invitations, "group", WANTED, NAMED)


def _promotions() -> Iterator[Path]:
    subject = "subject { ... on Status { id } ... on User { id } }"
    yield Path("Promotion.subject", on("Promotion", "$promoted_status", subject), "status", TIMELINE)
    yield Path("Promotion.subject", on("Promotion", "$promoted_member", subject), "member", WANTED)
    yield Path("Promotion.sponsor", on("Promotion", "$promoted_member", "sponsor { id }"), "member", MEMBER)


def _conversations() -> Iterator[Path]:
    for field, query in (
        ("Query.node", "node(id: $it) { id }"),
        ("Query.nodes", "nodes(ids: [$friend, $it]) { id }"),
        ("Viewer.conversations", f"viewer {{ conversations{EDGES} }}"),
    ):
        yield Path(field, query, "talk", PRIVATE_TALK, WITHIN)
        yield Path(field, query, "pair", PRIVATE_TALK, TOGETHER)
        yield Path(field, query, "pals_talk", PRIVATE_TALK, OWN)
        if field != "Viewer.conversations":
            yield Path(field, query, "message", PRIVATE_TALK, HEARD)
            yield Path(field, query, "pair_message", PRIVATE_TALK, HEARD_ALONE)
            yield Path(field, query, "pals_message", PRIVATE_TALK, OWN)
    for part in ("lastMessage { id }", "viewerLastRead { id }", f"messages{EDGES}"):
        field = f"Conversation.{part.split(maxsplit=1)[0].partition('(')[0]}"
        for talk, message, only in (
            ("$talk", "message", HEARD),
            ("$pair", "pair_message", HEARD_ALONE),
            ("$pals_talk", "pals_message", OWN),
        ):
            yield Path(field, on("Conversation", talk, part), message, PRIVATE_TALK, only)
    participants = on("Conversation", "$talk", "participants { id }")
    yield Path("Conversation.participants", participants, "member", MEMBER, WITHIN)
    yield Path("Message.sender", on("Message", "$message", "sender { id }"), "member", MEMBER, HEARD)
    of = on("Message", "$message", "conversation { id }")
    yield Path("Message.conversation", of, "talk", PRIVATE_TALK, HEARD)


def _moderation() -> Iterator[Path]:
    yield Path("Query.node", "node(id: $it) { id }", "report_of_member report_of_message", REPORTED, MODERATORS)
    yield Path("Query.nodes", "nodes(ids: [$friend, $it]) { id }", "report_of_status", REPORTED, MODERATORS)
    for part, entities in (
        ("subject { ... on Node { id } }", "member status quote_of_status comment_on_status message group"),
        ("messages { id }", "message"),
        ("reporter { id }", "friend"),
        ("id", "report_of_member report_of_message"),
    ):
        of = part.partition(" ")[0]
        field = "Query.reports" if of == "id" else f"Report.{of}"
        query = f"reports(first: 100) {{ edges {{ node {{ {part} }} }} nodes {{ {part} }} }}"
        yield Path(field, query, entities, REPORTED, MODERATORS)
    for part, entities in (
        ("subject { ... on Node { id } }", "member status"),
        ("actor { id }", "admin"),
        ("report { id }", "dismissed"),
    ):
        query = f"moderationLog(first: 100) {{ edges {{ node {{ {part} }} }} nodes {{ {part} }} }}"
        yield Path(f"ModerationAct.{part.partition(' ')[0]}", query, entities, REPORTED, MODERATORS)
        yield Path("Query.moderationLog", query, entities, REPORTED, MODERATORS)
    resolved = "reports(state: DISMISSED) { nodes { resolvedBy { id } } }"
    yield Path("Report.resolvedBy", resolved, "admin", REPORTED, MODERATORS)


# Subscriptions to which the live visibility tests subscribe.
LIVE = (HOME, ACTIVITY, NOTIFICATIONS, MESSAGES, GROUP, STREAM, SAMPLE)
PATHS = (
    *_node(),
    *_viewer(),
    *_notifications(),
    *_timelines(),
    *_users(),
    *_posts(),
    *_groups(),
    *_promotions(),
    *_conversations(),
    *_moderation(),
)
