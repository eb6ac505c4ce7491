"""Sections about the account itself: profile, sessions, logins given up."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

from resolvers.archives.naming import Written, moment
from resolvers.archives.viewing import Export
from resolvers.reading import global_ids
from store import accounts, sessions
from store.client.database import MemberGone
from store.exports import lists
from store.homes import stored
from store.ids import instant
from store.records.lists import read_pairs


async def profile(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the profile, with the e-mail address and the settings. The password is not exported."""
    view = export.view()
    user, credentials = await view.load.user.load(export.member), await view.load.credentials.load(export.member)
    if user is None or credentials is None:
        raise MemberGone
    (mark,) = await view.batcher.run([stored.read_up_to_command(export.member)])
    entry = {
        "id": global_ids.of(user),
        "login": user.login,
        "name": user.name,
        "bio": user.bio,
        "email": credentials.email,
        "isEmailVerified": credentials.is_verified,
        "isTwoFactorEnabled": bool(credentials.totp_salt),
        "role": credentials.role.value,
        "createdAt": moment(user.created_at),
        "isPrivate": user.is_private,
        "isSuspended": user.is_suspended,
        "messagesFrom": user.messages_from.value,
        "avatarId": global_ids.of(user.avatar) if user.avatar else None,
        "headerId": global_ids.of(user.header) if user.header else None,
        "pinnedPostId": global_ids.post_id(user.pinned, is_repost=False) if user.pinned else None,
        "followerCount": user.follower_count,
        "followingCount": user.following_count,
        "postCount": user.post_count,
        "homeReadUpTo": moment(instant(int(mark))) if mark else None,
    }
    yield [entry]


async def open_sessions(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the sessions, newest first, without their tokens."""
    await export.view().authenticate()
    yield [
        {
            "createdAt": moment(session.created_at),
            "expiresAt": moment(session.expires_at),
            "lastUsedAt": moment(session.last_used_at),
            "userAgent": session.user_agent,
            "address": session.address,
        }
        for session in await sessions.unexpired(export.services.db, export.member)
    ]


async def former_logins(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the logins that the member gave up."""
    (reply,) = await export.view().batcher.run([lists.former_logins_command(export.member)])
    yield [
        {"login": login, "givenUpAt": moment(datetime.fromtimestamp(int(when), UTC))}
        for login, when in read_pairs(reply).items()
    ]


async def exists(export: Export) -> bool:
    """Return whether the member exists."""
    return await accounts.user(export.services.db, export.member) is not None
