"""Invalid subscriptions are refused over every transport, with code, field and rule, and leave nothing behind."""

import json
from typing import Any

import pytest

from resolvers.process.services import Services
from tests.support.people import Member
from tests.support.transport.feeds import Feed, wanting
from tests.support.transport.live import ACTIVITY, HOME, MESSAGES, NOTIFICATIONS, until
from tests.support.transport.site_live import SAMPLE, STREAM
from tests.support.transport.transports import BODIES, POST, SOCKET, TRANSPORTS, SocketLine, connections, line, places
from tests.support.transport.transports import listening as held

NOBODY = "user_00000000000001"
STATUS = "status_00000000000001"
FILTER = "filter: must have follow, track or locations"
CURSOR = "after: this is not a cursor of this subscription"
BOX = {"south": 1.0, "west": 2.0, "north": 3.0, "east": 4.0}


def many_ids(count: int) -> list[str]:
    """Return ids that members may have."""
    return [f"user_{number:014x}" for number in range(count)]


def box(**edges: float) -> dict[str, Any]:
    """Return a filter of one box with some edges changed."""
    return {"filter": {"locations": [{**BOX, **edges}]}}


Case = tuple[str, dict[str, Any], str]
REFUSED: dict[str, Case] = {
    "empty filter": (STREAM, {"filter": {}}, FILTER),
    "filter of nulls": (STREAM, {"filter": {"follow": None, "track": None, "locations": None}}, FILTER),
    "nobody": (STREAM, {"filter": {"follow": []}}, "filter.follow: must have 1 to 5000 entries, has 0"),
    "no phrase": (STREAM, {"filter": {"track": []}}, "filter.track: must have 1 to 400 entries, has 0"),
    "no box": (STREAM, {"filter": {"locations": []}}, "filter.locations: must have 1 to 25 entries, has 0"),
    "one empty part": (
        STREAM,
        {"filter": {"follow": [NOBODY], "track": []}},
        "filter.track: must have 1 to 400 entries, has 0",
    ),
    "empty phrase": (STREAM, {"filter": {"track": ["tea", ""]}}, "filter.track[1]: must not be blank"),
    "phrase of signs": (STREAM, {"filter": {"track": ["?!"]}}, "filter.track[0]: must have a word"),
    "61 characters": (
        STREAM,
        {"filter": {"track": ["x" * 61]}},
        "filter.track[0]: must be at most 60 characters, is 61",
    ),
    "26 boxes": (STREAM, {"filter": {"locations": [BOX] * 26}}, "filter.locations: must have 1 to 25 entries, has 26"),
    "upside down": (STREAM, box(south=3.1), "filter.locations[0]: south must not be above north"),
    "too far south": (STREAM, box(south=-90.1), "filter.locations[0].south: must be from -90 to 90 degrees"),
    "too far north": (STREAM, box(north=91), "filter.locations[0].north: must be from -90 to 90 degrees"),
    "too far west": (STREAM, box(west=-180.1), "filter.locations[0].west: must be from -180 to 180 degrees"),
    "too far east": (STREAM, box(east=1e300), "filter.locations[0].east: must be from -180 to 180 degrees"),
    "status": (STREAM, {"filter": {"follow": [NOBODY, STATUS]}}, "filter.follow[1]: this is not the id of a user"),
    "login": (STREAM, {"filter": {"follow": ["alice"]}}, "filter.follow[0]: this is not the id of a user"),
    "no kinds": (STREAM, {"kinds": []}, "kinds: must have at least one kind"),
    "cursor of a list": (STREAM, {"after": "notifications.00000000000001"}, CURSOR),
    "cursor that is none": (STREAM, {"after": "event.1"}, CURSOR),
    "empty cursor": (STREAM, {"after": ""}, CURSOR),
    "nothing of all": (SAMPLE, {"percent": 0}, "percent: must be from 1 to 100, is 0"),
    "less than nothing": (SAMPLE, {"percent": -1}, "percent: must be from 1 to 100, is -1"),
    "more than all": (SAMPLE, {"percent": 101}, "percent: must be from 1 to 100, is 101"),
    "sample from elsewhere": (SAMPLE, {"percent": 1, "after": "nonsense"}, CURSOR),
    "home from elsewhere": (HOME, {"after": "home.00000000000001"}, CURSOR),
    "notifications from elsewhere": (NOTIFICATIONS, {"after": "event.1-1"}, "after: "),
    "messages from elsewhere": (MESSAGES, {"after": "messages.00000000000001"}, "after: "),
    "post that is none": (ACTIVITY, {"post": "nonsense"}, "postId: this is not an id of this API"),
    "post that is a member": (ACTIVITY, {"post": NOBODY}, "postId: there is no such post"),
    "post that is gone": (ACTIVITY, {"post": STATUS}, "postId: there is no such post"),
}
MISTYPED: dict[str, Case] = {
    "unknown kind": (STREAM, {"kinds": ["NOTHING"]}, "kinds"),
    "kind that is null": (STREAM, {"kinds": [None]}, "kinds"),
    "phrase that is null": (STREAM, {"filter": {"track": [None]}}, ".track[0]: "),
    "unknown part": (STREAM, {"filter": {"language": ["en"]}}, "language"),
    "three sides": (STREAM, {"filter": {"locations": [{"south": 1, "west": 1, "north": 1}]}}, ".locations[0]: "),
    "no number": (STREAM, box(south="1"), ".locations[0].south: "),  # type: ignore[arg-type]
    "number beyond any float": (STREAM, box(south=10**400), ".locations[0].south: "),
    "half a percent": (SAMPLE, {"percent": 0.5}, "percent"),
    "a percentage that is null": (SAMPLE, {"percent": None}, "percent"),
    "a percentage beyond 32 bits": (SAMPLE, {"percent": 2**40}, "percent"),
    "a cursor that is a number": (STREAM, {"after": 7.5}, "after"),
}
LONG: dict[str, Case] = {
    "401 phrases": (STREAM, {"filter": {"track": ["tea"] * 401}}, "filter.track: must have 1 to 400 entries, has 401"),
    "5,001 members": (
        STREAM,
        {"filter": {"follow": many_ids(5_001)}},
        "filter.follow: must have 1 to 5000 entries, has 5001",
    ),
}


async def refuses(services: Services, member: Member, transport: str, case: Case) -> None:
    """Assert that a subscription is refused with its message, adds no subscriber, and leaves the transport usable."""
    query, asked, message = case
    async with line(transport, member, query, **asked) as one:
        code, said = await one.refusal()
        assert code == "BAD_USER_INPUT"
        assert message in said
        assert places(services) == 0
        if isinstance(one, SocketLine):
            await goes_on(services, one, await member.post("the next"))
    await until(lambda: connections(member) == 0)
    assert places(services) == 0


async def goes_on(services: Services, one: SocketLine, post: str) -> None:
    """Assert that a socket accepts another subscription under the id of the refused one."""
    payload = {"query": STREAM, "variables": {"after": "event.0-0", "kinds": ["POST_CREATED"]}}
    await one.stream.socket.send_json({"id": "1", "type": "subscribe", "payload": payload})
    assert (await one.next())["post"]["id"] == post
    assert len(services.listeners) == 1
    await one.stream.complete()
    await until(lambda: places(services) == 0)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("case", [*REFUSED.values(), *MISTYPED.values()], ids=[*REFUSED, *MISTYPED])
async def test_what_cannot_be(services: Services, alice: Member, transport: str, case: Case) -> None:
    """Invalid arguments are refused by field and rule; nothing is left behind, and the socket stays usable."""
    await refuses(services, alice, transport, case)


@pytest.mark.parametrize("transport", BODIES)
@pytest.mark.parametrize("case", LONG.values(), ids=LONG)
async def test_too_much(services: Services, alice: Member, transport: str, case: Case) -> None:
    """A filter longer than allowed is refused in the same way."""
    await refuses(services, alice, transport, case)


ALLOWED: dict[str, tuple[str, dict[str, Any]]] = {
    "60 characters": (STREAM, {"filter": {"track": ["x" * 60]}}),
    "400 phrases": (STREAM, {"filter": {"track": [*(f"word{i}" for i in range(399)), "x" * 60]}}),
    "5,000 members": (STREAM, {"filter": {"follow": many_ids(5_000), "track": ["x" * 60]}}),
    "25 boxes": (STREAM, {"filter": {"locations": [BOX] * 24 + [{**BOX, "south": 3}]}}),
    "all kinds, twice": (STREAM, {"kinds": ["POST_CREATED", "POST_DELETED", "POST_CREATED"]}),
    "no filter": (STREAM, {"filter": None, "kinds": None}),
    "all of it": (SAMPLE, {"percent": 100}),
}


@pytest.mark.parametrize("transport", BODIES)
@pytest.mark.parametrize("asked", ALLOWED.values(), ids=ALLOWED)
async def test_as_much_as_may_be(
    services: Services, alice: Member, transport: str, asked: tuple[str, dict[str, Any]]
) -> None:
    """A filter at its limits is accepted, and matches."""
    query, variables = asked
    async with held(services, transport, alice, query, **variables) as one:
        post = await alice.post("x" * 60, location={"latitude": 3.0, "longitude": 2.0})
        assert (await one.next())["post"]["id"] == post


def boxed(number: str) -> str:
    """Return a request for a stream of a box with a number, in JSON or nearly so."""
    query = "subscription($b: BoundingBox!) { stream(filter: {locations: [$b]}) { __typename } }"
    asked = json.dumps({"query": query, "variables": {"b": BOX}})
    return asked.replace("2.0", number)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_infinity_in_the_document(services: Services, alice: Member, transport: str) -> None:
    """A number literal out of range is refused with the name of its field."""
    query = f"subscription {{ stream(filter: {{locations: [{BOX}]}}) {{ __typename }} }}".replace("'", "")
    async with line(transport, alice, query.replace("2.0", "1e999")) as one:
        code, said = await one.refusal()
        assert (code, said) == ("BAD_USER_INPUT", "filter.locations[0].west: must be from -180 to 180 degrees")
    assert places(services) == 0


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
async def test_what_is_no_number(services: Services, alice: Member, number: str) -> None:
    """NaN and infinity are no JSON: 4400 on a websocket, status 400 otherwise. An overflowing number is refused."""
    is_json = number == "1e999"
    async with line(SOCKET, alice, "{ viewer { email } }") as one:
        assert isinstance(one, SocketLine)
        await one.next()
        assert (await one.stream.receive())["type"] == "complete"
        await one.stream.socket.send_str(f'{{"type": "subscribe", "id": "1", "payload": {boxed(number)}}}')
        if is_json:
            assert (await one.refusal())[0] == "BAD_USER_INPUT"
        else:
            assert await one.stream.closed() == 4400
    headers = wanting(alice.token, **{"Content-Type": "application/json"})
    async with alice.client.post("/graphql", data=boxed(number), headers=headers) as response:
        assert response.status == (200 if is_json else 400)
        assert await Feed(response).refused() == "BAD_USER_INPUT"
    assert places(services) == 0
    await until(lambda: connections(alice) == 0)


async def test_post_activity_and_notifications_leave_no_ear(services: Services, alice: Member) -> None:
    """Refused subscriptions to a post or to notifications leave no Pub/Sub channel subscribed."""
    before = {name: len(listeners) for name, listeners in services.pubsub._listeners.items()}  # noqa: SLF001
    for transport in (SOCKET, POST):
        for query, asked in ((ACTIVITY, {"post": STATUS}), (NOTIFICATIONS, {"after": "x"}), (MESSAGES, {"after": "x"})):
            async with line(transport, alice, query, **asked) as one:
                assert (await one.refusal())[0] == "BAD_USER_INPUT"
    assert {name: len(listeners) for name, listeners in services.pubsub._listeners.items()} == before  # noqa: SLF001
