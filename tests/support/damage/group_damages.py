"""Damages to groups, their members, the members' indexes, the directory and the posts in groups."""

from store import keys
from store.keys.fields import StatusField
from tests.support.damage.site import GHOST, Damage

PEOPLE = (keys.group_members, keys.group_requests, keys.group_invitations, keys.group_banned)
LISTS = (*PEOPLE, keys.group_timeline, keys.group_changes)

GROUPS = [
    Damage("group gone", lambda s: keys.group_members(s.group), lambda s: [("DEL", keys.group(s.group))]),
    Damage("group gone with its posts", lambda s: keys.status(s.note), lambda s: [("DEL", keys.group(s.group))]),
    Damage(
        "private group in the directory",
        lambda s: keys.group(s.club),
        lambda s: [("ZADD", keys.group_directory(), 1, s.club)],
    ),
    Damage("group without owner", lambda s: keys.group(s.group), lambda s: [("DEL", keys.group_roles(s.group))]),
    *(
        Damage(
            f"{key.__name__} of a group that is gone",
            lambda _, key=key: key(GHOST),  # type: ignore[misc]
            lambda s, key=key: [("ZADD", key(GHOST), 1, s.ann)],  # type: ignore[misc]
        )
        for key in LISTS
    ),
    Damage(
        "roles of a group that is gone",
        lambda _: keys.group_roles(GHOST),
        lambda s: [("HSET", keys.group_roles(GHOST), s.ann, "OWNER")],
    ),
    *(
        Damage(
            f"nobody in {key.__name__}",
            lambda s, key=key: key(s.club),  # type: ignore[misc]
            lambda s, key=key: [("ZADD", key(s.club), 1, GHOST)],  # type: ignore[misc]
        )
        for key in PEOPLE
    ),
    Damage(
        "request that its member's index lacks",
        lambda s: keys.group_requests(s.club),
        lambda s: [("DEL", keys.memberships(s.cat))],
    ),
    Damage(
        "request of a member",
        lambda s: keys.group_requests(s.club),
        lambda s: [("ZADD", keys.group_requests(s.club), 1, s.ben)],
    ),
    Damage(
        "invitation in an index alone",
        lambda s: keys.invited(s.ann),
        lambda s: [("ZADD", keys.invited(s.ann), s.ben, s.club)],
    ),
    Damage(
        "ban that its member's index lacks",
        lambda s: keys.group_banned(s.club),
        lambda s: [("ZADD", keys.group_banned(s.club), 1, s.ann)],
    ),
    Damage(
        "ban of a member",
        lambda s: keys.group_banned(s.club),
        lambda s: [("ZADD", keys.group_banned(s.club), 1, s.ben), ("ZADD", keys.banned_from(s.ben), 1, s.club)],
    ),
    Damage(
        "request of a banned member",
        lambda s: keys.group_requests(s.club),
        lambda s: [("ZADD", keys.group_banned(s.club), 1, s.cat), ("ZADD", keys.banned_from(s.cat), 1, s.club)],
    ),
    Damage(
        "ban in an index alone",
        lambda s: keys.banned_from(s.ann),
        lambda s: [("ZADD", keys.banned_from(s.ann), 1, s.club)],
    ),
    Damage(
        "index of bans of nobody",
        lambda _: keys.banned_from(GHOST),
        lambda s: [("ZADD", keys.banned_from(GHOST), 1, s.group)],
    ),
    Damage(
        "index of groups of nobody",
        lambda _: keys.memberships(GHOST),
        lambda s: [("ZADD", keys.memberships(GHOST), 1, s.group)],
    ),
    Damage(
        "index of invitations of nobody",
        lambda _: keys.invited(GHOST),
        lambda s: [("ZADD", keys.invited(GHOST), 1, s.group)],
    ),
    Damage(
        "post of no group in a group",
        lambda s: keys.group_timeline(s.group),
        lambda s: [("ZADD", keys.group_timeline(s.group), s.word, s.word)],
    ),
    Damage(
        "post in a group that its profile lists as any other",
        lambda s: keys.status(s.note),
        lambda s: [("ZREM", keys.profile(s.ben), f"{s.note}:{s.group}"), ("ZADD", keys.profile(s.ben), s.note, s.note)],
    ),
    Damage(
        "repost of a post in a group that its profile lists as any other",
        lambda s: keys.status(s.echo),
        lambda s: [
            ("ZREM", keys.profile(s.cat), f"{s.echo}:{s.note}:0"),
            ("ZADD", keys.profile(s.cat), s.echo, f"{s.echo}:{s.note}:{s.ben}"),
        ],
    ),
    Damage(
        "post in an unknown group",
        lambda s: keys.status(s.word),
        lambda s: [("HSET", keys.status(s.word), StatusField.GROUP, GHOST)],
    ),
    Damage(
        "invitation to a group that is gone",
        lambda s: keys.notifications(s.ann),
        lambda s: [("ZADD", keys.notifications(s.ann), GHOST, f"GROUP_INVITE:{s.ben}:{GHOST}:0")],
    ),
]
