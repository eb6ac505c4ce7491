"""The members to whom somebody writes: found or refused, and whether they allow it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from resolvers.operation.context import Context
from resolvers.process.errors import Refused, UserErrorCode, over_limit, refuse
from resolvers.reading import global_ids, hydrate
from resolvers.rules.visibility import allows_messages
from store.client.database import Command
from store.settings import Settings


class Addressees(NamedTuple):
    """Those who allow the viewer to write to them, and whether one of the members does not follow the viewer."""

    willing: list[int]
    has_strangers: bool
    reply: Any  # to the command that shared the round trip


def named(settings: Settings, user_ids: Sequence[str], viewer: int) -> dict[int, str]:
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


async def look_up(context: Context, places: Mapping[int, str], command: Command) -> Addressees:
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
