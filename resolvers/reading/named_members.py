"""Members that a mutation names: those it changes something about, those it writes to, and those a text mentions."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from resolvers.operation.context import Context
from resolvers.operation.payloads import UsersPayload
from resolvers.process.errors import Refused, UserError, UserErrorCode, over_limit, refuse
from resolvers.reading import global_ids, hydrate
from resolvers.rules.text import mentions
from resolvers.rules.visibility import allows_messages
from store.account_names import holder_command
from store.client.database import Command
from store.client.metering import METER
from store.records.members import User
from store.settings import Settings
from store.timelines import look_up

MENTIONS_MOST = 50  # members that one text can mention; more names are left as text

OtherSide = Callable[[int, int], list[Command]]  # from the viewer and one of the members
See = Callable[[Context, Sequence[int]], Awaitable[list[User | None]]]


class Targets:
    """The members that a mutation names, each with its path in the input, and the user errors."""

    def __init__(self, viewer: int, see: See) -> None:
        self.viewer = viewer
        self.see = see
        self.errors: list[UserError] = []
        self.there: dict[int, list[Any]] = {}  # by member: the replies of their side
        self._wanted: dict[int, list[str]] = {}

    @property
    def members(self) -> list[int]:
        """The members that were not refused."""
        return list(self._wanted)

    def refuse(self, member: int, code: UserErrorCode, message: str) -> None:
        """Refuse one of the members with a user error."""
        self.errors.append(UserError(code, f"userIds: {message}", self._wanted.pop(member)))

    def is_gone(self, member: int) -> None:
        """Refuse a member who does not exist, or whom the viewer does not see."""
        self.refuse(member, UserErrorCode.NOT_FOUND, "there is no such user")

    def is_over_limit(self, member: int, setting: str, message: str) -> None:
        """Refuse a member with LIMIT_REACHED; metrics count it for the setting that refused."""
        METER.refusals[setting] += 1
        self.refuse(member, UserErrorCode.LIMIT_REACHED, message)

    async def answer(self, context: Context) -> UsersPayload:
        """Return the members as the viewer sees them now, and all user errors in the order of the input."""
        context.forget()
        users = await self.see(context, self.members)
        shown = [user for user in users if user]
        return UsersPayload(users=shown, viewer=context.claims, user_errors=self.ordered_errors())

    def ordered_errors(self) -> list[UserError]:
        """Return all user errors in the order of the input."""
        return sorted(self.errors, key=lambda error: int((error.field or ["", "0"])[1]))


async def targets(
    context: Context,
    user_ids: Sequence[str],
    *,
    among: Collection[str] = (),
    other_side: OtherSide | None = None,
    see: See = hydrate.users,
) -> Targets:
    """Return the members that a mutation names, without those whom the viewer does not see; one round trip.

    A viewer can undo an action on a member whom they no longer see. `among` are the keys of the viewer's own sets: an
    unseen member in one of them is not refused, which takes another round trip. `other_side` returns the commands that
    read what a member's side knows. `see` returns what the viewer sees of members.
    Raises Refused for an empty list, and BadUserInput for too many ids.
    """
    named_members = Targets(await context.member(), see)
    global_ids.at_most(context.settings, user_ids, "userIds")
    if not user_ids:
        raise refuse(UserErrorCode.BLANK, "userIds: must name at least one member", "userIds")
    for i, text in enumerate(user_ids):
        field, named = ["userIds", str(i)], global_ids.read(text)
        if named is None:
            message = "userIds: this is not an id of this API"
            named_members.errors.append(UserError(UserErrorCode.INVALID, message, field))
        elif named[0] != "user":
            named_members.errors.append(UserError(UserErrorCode.NOT_FOUND, "userIds: there is no such user", field))
        elif named[1] == named_members.viewer:
            named_members.errors.append(UserError(UserErrorCode.SELF, "userIds: this is yourself", field))
        else:
            named_members._wanted.setdefault(named[1], field)  # noqa: SLF001  the class's own maker
    seen = {user.id for user in await _users(context, named_members, other_side) if user}
    unseen = [member for member in named_members.members if member not in seen]
    for member in await _absent(context, unseen, among):
        named_members.is_gone(member)
    return named_members


async def _users(context: Context, found: Targets, other_side: OtherSide | None) -> list[User | None]:
    commands = {member: other_side(found.viewer, member) for member in found.members} if other_side else {}
    if not commands:
        return await found.see(context, found.members)
    asked = context.batcher.run([command for some in commands.values() for command in some])
    users, replies = await asyncio.gather(found.see(context, found.members), asked)
    each = iter(replies)
    found.there = {member: [next(each) for _ in some] for member, some in commands.items()}
    return users


async def _absent(context: Context, members: Sequence[int], among: Collection[str]) -> list[int]:
    """Return the members that are in none of some sorted sets."""
    if not members or not among:
        return list(members)
    columns = await context.batcher.run([look_up(key, members) for key in among])
    rows = zip(members, zip(*columns, strict=True), strict=True)
    return [member for member, scores in rows if all(score is None for score in scores)]


class Addressees(NamedTuple):
    """Those who allow the viewer to write to them, and whether one of the members does not follow the viewer."""

    willing: list[int]
    has_strangers: bool
    reply: Any  # to the command that shared the round trip


def places_of(settings: Settings, user_ids: Sequence[str], viewer: int) -> dict[int, str]:
    """Return the other members whom the viewer names for a conversation, each with its place in the input.

    Raises Refused for an empty list, the viewer alone, too many members, and what is no id of a member.
    """
    if not user_ids:
        raise refuse(UserErrorCode.BLANK, "userIds: must name at least one member", "userIds")
    if len(set(user_ids)) > settings.max_participants:
        raise _too_many(settings)
    places: dict[int, str] = {}
    for place, text in enumerate(user_ids):
        places.setdefault(global_ids.expect(text, ("user",), "userIds", str(place)), str(place))
    places.pop(viewer, None)
    if not places:
        raise refuse(UserErrorCode.SELF, "userIds: a conversation needs another member than yourself", "userIds")
    if len(places) >= settings.max_participants:
        raise _too_many(settings)
    return places


def _too_many(settings: Settings) -> Refused:
    message = f"userIds: a conversation has at most {settings.max_participants} members, the viewer included"
    return over_limit("max_participants", message, "userIds")


async def addressees(context: Context, places: Mapping[int, str], command: Command) -> Addressees:
    """Return the members to whom the viewer writes; one round trip, which the command shares.

    Raises Refused for those who do not exist, are suspended, or are blocked in either direction, all in the same way.
    """
    load, members = context.load, list(places)
    reply = context.batcher.ask([command])
    sight = await hydrate.sight_of(context, members, (), (load.followed_by, members))
    (answer,) = await reply
    users = dict(zip(members, load.user.loaded(members), strict=True))
    for member, user in users.items():
        if user is None or user.is_suspended or not sight.of(member).words:
            raise refuse(UserErrorCode.NOT_FOUND, "userIds: there is no such user", "userIds", places[member])
    follows = dict(zip(members, load.followed_by.loaded(members), strict=True))
    willing = [one for one, user in users.items() if user and allows_messages(user, follows=follows[one])]
    return Addressees(willing, not all(follows.values()), answer)


async def willing(context: Context, members: Sequence[int]) -> list[int]:
    """Return those of some members who allow the viewer to write to them now; one round trip."""
    load = context.load
    await load.all((load.user, members), (load.followed_by, members))
    facts = zip(load.user.loaded(members), load.followed_by.loaded(members), strict=True)
    return [
        user.id for user, follows in facts if user and not user.is_suspended and allows_messages(user, follows=follows)
    ]


async def mentioned(context: Context, words: str) -> tuple[int, ...]:
    """Return the members that a text mentions, in order, with repetitions. A login that nobody has is plain text."""
    logins = mentions(words)
    unique = list(dict.fromkeys(logins))[:MENTIONS_MOST]
    if not unique:
        return ()
    holders = await context.batcher.run(list(map(holder_command, unique)))
    members = [int(holder) for holder in holders if holder]
    users = dict(zip(members, await hydrate.users(context, members), strict=True))
    # A login that was given up still names its former holder, who is no longer mentioned by it.
    by_login = {user.login.lower(): user.id for user in users.values() if user}
    return tuple(by_login[login] for login in logins if login in by_login)
