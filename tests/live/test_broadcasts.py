"""Broadcasts: idle subscribers get events past their tasks, in order, once, and only what they may see then."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from resolvers.live import site
from resolvers.process.services import Services
from resolvers.process.site_stream import Broadcasts, Listener
from schema.execution.executor import Rendered
from store import keys
from store.client.database import Database
from store.events.log import START, Event
from tests.support.people import Member
from tests.support.transport.live import subscribed, until
from tests.support.transport.site_live import STREAM, next_event
from tests.support.transport.site_live import listening as socket_listening
from tests.support.transport.transports import BODIES, listening
from tests.support.work import number

LIMIT = 3  # Events that a subscriber of these tests queues.
EVENTS = [Event(cursor=f"{n}-0", kind="post", actor=1) for n in range(1, 9)]


class Client:
    """A subscriber with its task and outlet, and the events that each of them took."""

    selection = 1

    def __init__(self) -> None:
        self.subscriber = Listener(LIMIT, START)
        self.subscriber.outlet = self
        self.gate = asyncio.Event()
        self.preparing = 0
        self.refuses: list[Event] = []
        self.fails: list[Event] = []
        self.sent: list[tuple[str, Event | str]] = []
        self.gate.set()
        self.task = asyncio.create_task(self._take())

    async def _take(self) -> None:
        while True:
            self.sent.append(("task", await self.subscriber.take()))

    async def prepare(self, event: Event) -> Event:
        """Return the event once the gate is open."""
        self.preparing += 1
        await self.gate.wait()
        self.preparing -= 1
        if event in self.fails:
            raise RuntimeError
        return event

    def send(self, prepared: Event) -> bool:
        """Note the event, unless the test refuses it."""
        if prepared in self.refuses:
            return False
        self.sent.append(("outlet", prepared))
        return True


@pytest.fixture
async def clients() -> AsyncIterator[list[Client]]:
    """Idle subscribers."""
    made = [Client() for _ in range(3)]
    await asyncio.sleep(0)
    yield made
    for one in made:
        one.task.cancel()


async def broadcast(clients: list[Client], *sent: Event) -> Broadcasts:
    """Broadcast events, and return the broadcasts once no task of theirs has anything left to do at once."""
    broadcasts = Broadcasts()
    for event in sent:
        broadcasts.send(event, [one.subscriber for one in clients])
    for _ in range(10 * len(sent)):
        await asyncio.sleep(0)
    return broadcasts


async def test_order(clients: list[Client]) -> None:
    """Every idle subscriber gets every event once, in order, by its outlet."""
    await broadcast(clients, *EVENTS[:3])
    assert all(one.sent == [("outlet", event) for event in EVENTS[:3]] for one in clients)


async def test_look_ups(clients: list[Client]) -> None:
    """Events that wait are looked up at the same time, and sent in order whichever is found first."""
    first = clients[0]
    first.gate.clear()
    await broadcast(clients, *EVENTS[:3])
    assert first.preparing == 3
    first.gate.set()
    await until(lambda: len(first.sent) == 3)
    assert all(one.sent == [("outlet", event) for event in EVENTS[:3]] for one in clients)


async def test_what_an_outlet_refuses(clients: list[Client]) -> None:
    """The task takes an event that the outlet refuses, and those after it; the others are not affected."""
    first, *others = clients
    first.refuses = [EVENTS[1]]
    await broadcast(clients, *EVENTS[:3])
    assert first.sent == [("outlet", EVENTS[0]), ("task", EVENTS[1]), ("task", EVENTS[2])]
    assert all(one.sent == [("outlet", event) for event in EVENTS[:3]] for one in others)
    await broadcast(clients, EVENTS[3])
    assert first.sent[3:] == [("outlet", EVENTS[3])]  # it is idle again


async def test_failure(clients: list[Client]) -> None:
    """The tasks take an event that cannot be prepared, because each of them reports the failure to its client."""
    for one in clients:
        one.fails = [EVENTS[0]]
    await broadcast(clients, *EVENTS[:2])
    assert all([event for _, event in one.sent] == EVENTS[:2] for one in clients)
    assert all(one.sent[0] == ("task", EVENTS[0]) for one in clients)


async def test_a_queue_that_overflows(clients: list[Client]) -> None:
    """A subscriber whose queue overflows while an event is prepared gets a gap, and no event from before it."""
    clients[0].gate.clear()
    for one in clients:
        one.subscriber.lose(START)  # so that a full queue is a gap, and is not read from the log again
    await asyncio.sleep(0)
    await broadcast(clients, *EVENTS[: LIMIT + 1])
    clients[0].gate.set()
    await broadcast(clients, EVENTS[LIMIT + 1])
    lost = EVENTS[LIMIT].cursor
    assert all(one.sent == [("task", START), ("task", lost), ("outlet", EVENTS[LIMIT + 1])] for one in clients)


async def test_a_subscriber_that_leaves(clients: list[Client]) -> None:
    """A subscriber whose task is cancelled while an event is prepared gets nothing more; the others get it."""
    gone, *others = clients
    gone.gate.clear()
    await broadcast(clients, EVENTS[0])
    gone.task.cancel()
    gone.gate.set()
    await until(lambda: all(one.sent == [("outlet", EVENTS[0])] for one in others))
    assert not gone.sent


async def test_a_woken_task_takes_what_is_held(clients: list[Client]) -> None:
    """A task that wakes for another reason takes the events that wait for the broadcast. None is sent twice."""
    first = clients[0]
    first.gate.clear()
    await broadcast(clients, EVENTS[0])
    first.subscriber.offer(EVENTS[1])
    await asyncio.sleep(0)
    first.gate.set()
    await until(lambda: all(one.sent for one in clients))
    assert first.sent == [("task", EVENTS[0]), ("task", EVENTS[1])]


async def test_closing(clients: list[Client]) -> None:
    """When broadcasts are closed, the tasks take the events that are left."""
    clients[0].gate.clear()
    broadcasts = await broadcast(clients, *EVENTS[:2])
    await broadcasts.close()
    await asyncio.sleep(0)
    assert all(one.sent == [("task", event) for event in EVENTS[:2]] for one in clients)


@pytest.mark.parametrize("transport", BODIES)
async def test_later_events_wake_no_task(
    services: Services, alice: Member, bob: Member, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its first event, a subscription gets shared events without executing its operation for each."""
    async with (
        listening(services, transport, alice, STREAM) as one,
        listening(services, transport, alice, STREAM) as two,
    ):
        first = await bob.post("first")
        assert [(await line.next())["post"]["id"] for line in (one, two)] == [first, first]
        monkeypatch.delattr(Rendered, "execute_operation")
        posts = [await bob.post(f"a long post {'x' * 200 * (n % 3)}é{n}") for n in range(20)]
        for line in (one, two):
            assert [(await line.next())["post"]["id"] for _ in posts] == posts


async def test_a_post_deleted_before_it_is_sent(
    services: Services, alice: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A post that is deleted before a broadcast looks it up is not sent; its deletion is."""
    gate, look_up = asyncio.Event(), site.announced

    async def wait(*asked: Any) -> Any:
        await gate.wait()
        return await look_up(*asked)

    async with socket_listening(services, alice) as stream:
        first = await bob.post("first")
        assert await next_event(stream) == ("created", first)
        monkeypatch.setattr(site, "announced", wait)
        post = await bob.post("deleted")
        await bob.do("deletePost", postId=post)
        gate.set()
        assert await next_event(stream) == ("deleted", post, bob.id)


async def test_a_session_whose_end_may_have_been_missed(
    db: Database, services: Services, alice: Member, bob: Member
) -> None:
    """After Pub/Sub has resubscribed, the next event is sent only once the session has been checked."""
    async with subscribed(alice, STREAM) as stream:
        await until(lambda: len(services.listeners))
        first = await bob.post("first")
        assert await next_event(stream) == ("created", first)
        await db.one("DEL", keys.sessions(number(alice.id)))
        services.silences += 1
        await bob.post("undelivered")
        assert await stream.code() == "UNAUTHENTICATED"
