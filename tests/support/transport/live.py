"""Live clients: each has a subscription on a websocket of its own, as an app does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType, web

from resolvers.process.services import Services
from serving.http.app import SERVICES
from store import keys
from store.client.database import Database
from store.events import log
from store.events.reader import Subscriber
from tests.support.people import Member
from tests.support.stored import sharded_channels
from tests.support.work import number

PROTOCOL = "graphql-transport-ws"
PATIENCE = 10  # s after which an expected event counts as lost

EDGE = """cursor node { __typename ... on Post { id text } }
  repostedByCount repostedBy(first: 50) { user { login } repostedAt }"""
HOME = f"""subscription($after: String) {{ homeTimeline(after: $after) {{
  __typename ... on StreamEvent {{ cursor at }}
  ... on TimelineEntryPut {{ edge {{ {EDGE} }} }} ... on TimelineEntryRemoved {{ nodeId }} }} }}"""
STORED = f"{{ homeTimeline(first: 100) {{ edges {{ {EDGE} }} }} }}"
ACTIVITY = """subscription($post: ID!) { postActivity(postId: $post) {
  post { id } likeCount repostCount quoteCount commentCount replyCount } }"""
GROUP = f"""subscription($group: ID!, $after: String) {{ groupTimeline(groupId: $group, after: $after) {{
  __typename ... on StreamEvent {{ cursor at }}
  ... on TimelineEntryPut {{ edge {{ {EDGE} }} }} ... on TimelineEntryRemoved {{ nodeId }} }} }}"""
NOTIFICATIONS = """subscription($after: String) { notifications(after: $after) { __typename
  ... on StreamEvent { cursor at }
  ... on NotificationReceived { unreadCount notification {
    id kind isRead actor { id login } post { id } comment { id } } }
  ... on NotificationWithdrawn { unreadCount notificationId } } }"""

MESSAGES = """subscription($after: String) { messages(after: $after) { __typename
  ... on StreamEvent { cursor at }
  ... on MessageReceived { message { id text sender { id login } conversation { id unreadCount } } }
  ... on MessageDeleted { messageId conversationId }
  ... on ConversationRead { conversation { id unreadCount viewerLastRead { id } } } } }"""

Brief = tuple[Any, ...]


class Stream:
    """One subscription: its events, and its end."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.cursor = ""

    async def receive(self) -> dict[str, Any]:
        """Return the next message as it is."""
        message: dict[str, Any] = await self.socket.receive_json(timeout=PATIENCE)
        return message

    async def next(self) -> dict[str, Any]:
        """Return the next event, which must arrive."""
        message = await self.receive()
        assert message["type"] == "next", message
        assert "errors" not in message["payload"], message
        (event,) = message["payload"]["data"].values()
        self.cursor = event.get("cursor", "")
        return dict(event)

    async def brief(self) -> Brief:
        """Return the next event of a home: `put`, post and reposters; `removed` and post; or `gap`."""
        return brief(await self.next())

    async def code(self) -> str:
        """Return the code of the error that ends the subscription; nothing else may arrive."""
        message = await self.receive()
        assert message["type"] == "error", message
        (error,) = message["payload"]
        return str(error["extensions"]["code"])

    async def closed(self) -> int:
        """Return the code with which the server closes the socket; nothing else may arrive."""
        message = await self.socket.receive(timeout=PATIENCE)
        assert message.type is WSMsgType.CLOSE, message
        return int(message.data)

    async def complete(self) -> None:
        """Send `complete`, which ends the subscription."""
        await self.socket.send_json({"id": "1", "type": "complete"})


async def puts(stream: Stream, count: int) -> list[str]:
    """Return the posts of the next events, each of which must put one."""
    briefs = [await stream.brief() for _ in range(count)]
    assert {kind for kind, *_ in briefs} <= {"put"}
    return [post for _, post, *_ in briefs]


def brief(event: dict[str, Any]) -> Brief:
    """Return the parts of an event that tests compare."""
    match event["__typename"]:
        case "TimelineEntryPut":
            edge = event["edge"]
            return "put", edge["node"]["id"], *logins(edge)
        case "TimelineEntryRemoved":
            return "removed", event["nodeId"]
        case _:
            return ("gap",)


def logins(edge: dict[str, Any]) -> list[str]:
    """Return the logins of an entry's reposters, the first one first.

    A reposter who is suspended or blocked while the event is on its way is counted but not shown. That change has an
    event of its own.
    """
    found = [source["user"]["login"] for source in edge["repostedBy"]]
    assert len(found) <= edge["repostedByCount"]
    return found


@asynccontextmanager
async def subscribed(member: Member, query: str, session: Any = None, **variables: Any) -> AsyncIterator[Stream]:
    """Open a websocket as a member and subscribe, without waiting for the server to begin."""
    opened = (session or member.client).ws_connect(
        member.client.make_url("/graphql") if session else "/graphql", protocols=[PROTOCOL], max_msg_size=0
    )
    async with opened as socket:
        stream = Stream(socket)
        token = {"Authorization": f"Bearer {member.token}"} if member.token else None
        await socket.send_json({"type": "connection_init", "payload": token})
        assert await stream.receive() == {"type": "connection_ack"}
        await socket.send_json({"id": "1", "type": "subscribe", "payload": {"query": query, "variables": variables}})
        yield stream


@asynccontextmanager
async def watching(member: Member, db: Database) -> AsyncIterator[Stream]:
    """Subscribe to a member's home, and wait until the server delivers every event from now on."""
    services = cast("Services", cast("web.Application", member.client.app)[SERVICES])
    before = followers(services, member)
    async with subscribed(member, HOME, after=await now(db)) as stream:
        await until(lambda: followers(services, member) - before)
        yield stream


async def begun(db: Database, member: Member, channel_of: Callable[[int], str] = keys.notifications_channel) -> None:
    """Wait until the server has subscribed a member to their notifications, or to another channel of theirs."""
    channel = db.channel(channel_of(number(member.id)))
    while not await sharded_channels(db, channel):
        pass


@asynccontextmanager
async def separate() -> AsyncIterator[ClientSession]:
    """A client that vanishes silently when it is closed."""
    async with ClientSession() as session:
        yield session


async def now(db: Database) -> str:
    """Return the cursor of the newest event."""
    return f"event.{await log.newest(db)}"


async def until(condition: Callable[[], Any]) -> None:
    """Let all tasks run until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110  tests get no signal to wait for
            await asyncio.sleep(0)


def followers(services: Services, member: Member) -> set[Subscriber]:
    """Return the subscribers of the live log that get a member's events."""
    return set(services.log._by_actor.get(number(member.id), ()))  # noqa: SLF001  nobody else needs to know


@dataclass
class Held:
    """A home as an app holds it: fetched once, then updated by events."""

    edges: dict[str, tuple[str, list[str]]] = field(default_factory=dict)  # post → cursor and reposters

    def take(self, event: dict[str, Any]) -> None:
        """Apply an event."""
        if event["__typename"] == "TimelineEntryPut":
            edge = event["edge"]
            self.edges[edge["node"]["id"]] = edge["cursor"], logins(edge)
        elif event["__typename"] == "TimelineEntryRemoved":
            self.edges.pop(event["nodeId"], None)

    def lines(self) -> list[tuple[str, str, list[str]]]:
        """Return cursor, post and reposters of each entry, newest first."""
        return sorted(((cursor, post, by) for post, (cursor, by) in self.edges.items()), reverse=True)


async def fetched_edges(member: Member) -> list[dict[str, Any]]:
    """Return the edges of the stored home, newest first."""
    page = await member.ask(STORED)
    edges: list[dict[str, Any]] = page["edges"]
    return edges


async def fetched(member: Member) -> Held:
    """Return the stored home, to be updated by events."""
    edges = await fetched_edges(member)
    assert all(len(edge["repostedBy"]) == edge["repostedByCount"] for edge in edges)
    held = Held({edge["node"]["id"]: (edge["cursor"], logins(edge)) for edge in edges})
    assert [edge["cursor"] for edge in edges] == [line[0] for line in held.lines()]
    return held


async def keep_up(held: Held, stream: Stream, last: str, leave: Callable[[], bool] = lambda: False) -> None:
    """Apply events up to the one that puts a last post, or until `leave` returns True."""
    while True:
        event = await stream.next()
        held.take(event)
        if brief(event) == ("put", last) or leave():
            return


async def subscribed_channels(db: Database) -> list[str]:
    """Return the posts whose activity channels are subscribed."""
    return await sharded_channels(db, db.channel("activity:*"))


async def watched(db: Database, post: str) -> None:
    """Wait until a post's activity channel is subscribed."""
    async with asyncio.timeout(10):
        while db.channel(keys.activity(number(post))) not in await subscribed_channels(db):
            pass
