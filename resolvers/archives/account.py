"""Sections about the account itself: profile, sessions, logins given up, and reports that the member made."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from resolvers.archives.viewing import BATCH, Export, Written, made, moment
from resolvers.reading import global_ids
from store import sessions
from store.client.database import MemberGone
from store.exports import lists
from store.homes import stored
from store.ids import instant
from store.moderation import reports as stored_reports
from store.moderation.records import ReportState
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


async def reports(export: Export) -> AsyncIterator[list[Written]]:
    """Yield the reports that the member made and that are kept. What was decided about others is not in them.

    No index leads from a member to their reports, so all cases are looked through: two round trips for each hundred.
    """
    done: set[int] = set()
    for state in ReportState:
        cursor = "0"
        while True:
            view = export.view()
            ((cursor, found),) = await view.batcher.run([lists.scan_cases_command(state.value, cursor, BATCH)])
            cases = [int(case) for case in found[::2]]
            own = await view.batcher.run([lists.report_in_case_command(case, export.member) for case in cases])
            fresh = [report for report in map(int, filter(None, own)) if report not in done]
            done.update(fresh)
            yield await _reports(export, fresh)
            if cursor == "0":
                break


async def _reports(export: Export, ids: Sequence[int]) -> list[Written]:
    replies = await export.view().batcher.run([stored_reports.report_command(report) for report in ids])
    return [
        {
            "id": global_ids.of(report),
            "createdAt": made(report.id),
            "subjectId": f"{report.about.kind}_{report.about.id:014x}",
            "reason": report.reason.value,
            "note": report.note,
            "isResolved": report.state is not ReportState.OPEN,
        }
        for report in stored_reports.read_reports(ids, replies)
        if report
    ]
