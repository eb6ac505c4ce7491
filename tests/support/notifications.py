"""Helpers of notification tests: a member's notifications and mentions."""

from importlib import resources
from typing import Any

from store import keys
from store.client.database import Database
from store.client.lua import SHARED, spelled
from store.ids import partition
from store.scripts.mailboxes import mailboxes
from tests.support.people import Member
from tests.support.work import number

NOTIFICATIONS = """{ viewer { unreadNotificationCount notifications(first: 100) { edges { cursor node {
  id kind isRead createdAt actor { login } post { __typename id } comment { id } } } } } }"""
NAMED = "{ viewer { mentions(first: 100) { nodes { ... on Node { id } } } } }"

Brief = tuple[str, str, str | None, str | None]


def brief(node: dict[str, Any]) -> Brief:
    """Return kind, actor, post and comment of a notification."""
    post, comment = node["post"], node["comment"]
    return node["kind"], node["actor"]["login"], post and post["id"], comment and comment["id"]


async def nodes(member: Member) -> list[dict[str, Any]]:
    """Return a member's notifications, newest first."""
    viewer = await member.ask(NOTIFICATIONS)
    return [edge["node"] for edge in viewer["notifications"]["edges"]]


async def notifications_of(member: Member) -> list[Brief]:
    """Return a member's notifications, newest first, as kind, actor, post and comment."""
    return [brief(node) for node in await nodes(member)]


async def unread(member: Member) -> int:
    """Return a member's unread count."""
    count: int = (await member.ask("{ viewer { unreadNotificationCount } }"))["unreadNotificationCount"]
    return count


async def named(member: Member) -> list[str]:
    """Return the posts and comments that mention a member, newest first."""
    page = await member.ask(NAMED)
    return [node["id"] for node in page["mentions"]["nodes"]]


async def say(member: Member, post: str, text: str) -> str:
    """Comment on a post; returns the comment's id."""
    payload = await member.do("comment", "comment { id }", postId=post, text=text)
    assert not payload["userErrors"], payload
    comment_id: str = payload["comment"]["id"]
    return comment_id


async def step(db: Database, code: str, member: Member, *args: object) -> None:
    """Run a one-line script, with `box` for a member's mailbox and ARGV from 3 on as given."""
    shared = [(resources.files("store.scripts") / "shared" / f"{name}.lua").read_text("utf-8") for name in SHARED]
    text = spelled("\n".join([*shared, "local box = mailbox(ARGV[1], ARGV[2])", code]))
    me = number(member.id)
    p = partition(me)
    await db.one("EVAL", text, 1, keys.minted(p), mailboxes(db, p), me, *args)


async def relate(db: Database, kind: str, member: Member, other: Member) -> None:
    """Store a member's relationship to another: `blocked`, `blocked_by` or `muted`."""
    me, them = number(member.id), number(other.id)
    await db.one("ZADD", getattr(keys, kind)(me), 1, them)
