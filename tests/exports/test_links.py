"""Links to exports: for one session, for an hour, used up by the whole file; anybody else finds nothing there."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from resolvers import exports
from resolvers.archives import archive, viewing
from resolvers.jobs.worker import Worker
from resolvers.process.services import Services
from resolvers.process.tokens import digest
from store import keys
from store.client.database import Database
from store.exports import links
from store.refusals import Refusal
from store.settings import Settings
from tests.support.exports.archives import EXPORT, Archive, export, fetch, link
from tests.support.people import PASSWORD, Member, log_in, shrunk
from tests.support.servers import lines
from tests.support.stored import find
from tests.support.work import number, work_off

GONE = 404
BUSY = 429


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Limits are on, and a member can prepare three exports a day."""
    return shrunk(settings, exports_per_day=3, rate_limit=10_000)


async def expire(db: Database, member: Member) -> None:
    """Let the links of a member expire."""
    key = keys.exports(number(member.id))
    for session, text in zip(*[iter(await db.one("HGETALL", key))] * 2, strict=True):
        if session != "made":
            await db.one("HSET", key, session, f"{text.split()[0]} 1")


async def test_used_up(alice: Member) -> None:
    """A link works once: when the whole file was sent, there is nothing at it."""
    url = await link(alice)
    status, data = await fetch(alice, url)
    assert (status, len(Archive(data).entries("profile"))) == (200, 1)
    assert (await fetch(alice, url))[0] == GONE


async def test_response(alice: Member) -> None:
    """The archive is a download with the member's login in its name, which no cache may keep."""
    async with alice.client.get(await link(alice)) as response:
        assert response.content_type == "application/zip"
        assert response.headers["Content-Disposition"] == 'attachment; filename="perch-alice.zip"'
        assert (response.headers["Cache-Control"], response.headers["Referrer-Policy"]) == ("no-store", "no-referrer")
    async with alice.client.head(await link(alice)) as response:
        assert response.status in {404, 405}  # the web client, if it is built, answers for all other paths


async def test_strangers(anonymous: Member, alice: Member, bob: Member) -> None:
    """A made-up link, a forged one and one of another session look all the same: nothing is served there."""
    url = await link(alice)
    member, session, text = url.removeprefix("/export/").split(".")
    phone = await log_in(anonymous, "alice")
    other = (await link(phone)).split(".")[1]
    wrong = [
        "/export/x",
        "/export/" + "9" * 16 + f".{session}.{text}",
        f"/export/{number(bob.id)}.{session}.{text}",
        f"/export/{member}.{other}.{text}",
        f"/export/{member}.{session}.{text[:-1]}{'b' if text[-1] == 'a' else 'a'}",
        f"/export/{member}.{session}.{text}/",
        f"/nothing/{text}",
    ]
    answers = [await fetch(anonymous, path) for path in wrong]
    assert {status for status, _ in answers} == {GONE}
    assert len({body for _, body in answers}) == 1
    assert (await fetch(anonymous, url))[0] == 200


async def test_ended_session(db: Database, anonymous: Member, alice: Member) -> None:
    """A link ends with its session, by log-out, change of password or deletion; another session's stays."""
    phone = await log_in(anonymous, "alice")
    first, second = await link(alice), await link(phone)
    await alice.do("logOut", everywhere=False)
    assert (await fetch(anonymous, first))[0] == GONE
    assert (await fetch(anonymous, second))[0] == 200


async def test_deleted_account(db: Database, worker: Worker, anonymous: Member, alice: Member) -> None:
    """A deleted account's links are gone, and so are their keys."""
    url = await link(alice)
    await alice.do("deleteAccount", password=PASSWORD)
    assert (await fetch(anonymous, url))[0] == GONE
    await work_off(db, worker)
    assert await db.one("EXISTS", keys.exports(number(alice.id)), keys.export_stream(number(alice.id))) == 0


async def test_expiry(db: Database, alice: Member) -> None:
    """A link expires."""
    url = await link(alice)
    await expire(db, alice)
    assert (await fetch(alice, url))[0] == GONE


async def test_replaced(alice: Member) -> None:
    """A second link of one session replaces the first."""
    first, second = await link(alice), await link(alice)
    assert ((await fetch(alice, first))[0], (await fetch(alice, second))[0]) == (GONE, 200)


async def test_refusals(db: Database, anonymous: Member, alice: Member) -> None:
    """A wrong password, no token, and a fourth export of the day are refused, and make no link."""
    assert await alice.refused("exportData", password="wrong") == ("WRONG_CREDENTIALS", ["password"])
    query = 'mutation { exportData(input: { password: "x" }) { url } }'
    assert await anonymous.fail(query) == "UNAUTHENTICATED"
    for _ in range(3):
        last = await link(alice)
    payload = await alice.do("exportData", EXPORT, password=PASSWORD)
    (error,) = payload["userErrors"]
    assert (payload["url"], payload["expiresAt"], error["code"]) == (None, None, "LIMIT_REACHED")
    assert error["message"].startswith("at most 3 exports a day: try again in ")
    assert (await fetch(alice, last))[0] == 200
    await db.one("HSET", keys.exports(number(alice.id)), "made", "1 3")  # another day
    assert await link(alice)


class Slow:
    """An archive whose second piece waits until it is let go."""

    def __init__(self) -> None:
        self.began, self.goes_on = asyncio.Event(), asyncio.Event()
        self._whole = archive.stream

    async def stream(self, asked: viewing.Export, login: str) -> AsyncIterator[bytes]:
        async for piece in self._whole(asked, login):
            yield piece
            self.began.set()
            await self.goes_on.wait()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    """Every archive is slow."""
    made = Slow()
    monkeypatch.setattr(archive, "stream", made.stream)
    return made


async def test_interrupted(db: Database, slow: Slow, alice: Member) -> None:
    """A link still works after its client has hung up, and at once."""
    url = await link(alice)
    async with alice.client.get(url) as response:
        await response.content.read(1)
        assert await db.one("EXISTS", keys.export_stream(number(alice.id)))
        response.close()
    slow.goes_on.set()
    async with asyncio.timeout(10):
        while (answer := await fetch(alice, url))[0] == BUSY:
            pass
    assert len(Archive(answer[1]).entries("profile")) == 1


async def test_killed(db: Database, services: Services, alice: Member) -> None:
    """When a process dies in the middle of an export, the link works again as soon as the lease has run out."""
    url = await link(alice)
    sending = await exports.opened(services, url.removeprefix(exports.PATH), address="127.0.0.1", request_id="one")
    assert sending
    async with contextlib.aclosing(sending.pieces()) as pieces:
        assert await anext(pieces)
    assert (await fetch(alice, url))[0] == BUSY  # nobody has noted the end
    await db.one("DEL", keys.export_stream(number(alice.id)))  # as it expires
    assert (await fetch(alice, url))[0] == 200


async def test_one_at_a_time(slow: Slow, anonymous: Member, alice: Member, bob: Member) -> None:
    """While an export is sent, another one to the same member waits; one to somebody else does not."""
    phone = await log_in(anonymous, "alice")
    first, second, other = await link(alice), await link(phone), await link(bob)
    sending = asyncio.create_task(fetch(alice, first))
    await slow.began.wait()
    async with alice.client.get(second) as response:
        assert (response.status, response.headers["Retry-After"]) == (BUSY, "30")
    elsewhere = asyncio.create_task(fetch(bob, other))
    slow.goes_on.set()
    assert ((await sending)[0], (await elsewhere)[0], (await fetch(alice, second))[0]) == (200, 200, 200)


async def test_session_ends_meanwhile(slow: Slow, anonymous: Member, alice: Member) -> None:
    """An export that is being sent breaks off when its session ends, and its link is gone."""
    phone, url = await log_in(anonymous, "alice"), await link(alice)
    async with alice.client.get(url) as response:
        await response.content.read(1)
        await phone.do("logOut", everywhere=True)
        slow.goes_on.set()
        with pytest.raises(Exception, match="payload"):
            await response.read()
    assert (await fetch(alice, url))[0] == GONE


async def test_posts_deleted_meanwhile(slow: Slow, alice: Member) -> None:
    """A post that is deleted while the export is sent is left out, without an error."""
    post, url = await alice.post("soon gone"), await link(alice)
    sending = asyncio.create_task(fetch(alice, url))
    await slow.began.wait()
    await alice.do("deletePost", postId=post)
    slow.goes_on.set()
    status, data = await sending
    assert (status, Archive(data).entries("posts")) == (200, [])


async def test_lease(db: Database, alice: Member) -> None:
    """A sender goes on while its lease lasts, even when the link has expired; a lease that ran out frees the way."""
    token = (await link(alice)).removeprefix("/export/")
    member, session, _ = token.split(".")
    one = links.ExportLink(int(member), session, digest(token))
    assert [await links.begin(db, one, sender) for sender in ("a", "b", "a")] == [None, Refusal.BUSY, None]
    assert 0 < await db.one("PTTL", keys.export_stream(int(member))) <= links.LEASE_SECONDS * 1000
    await links.end(db, one, "b", is_sent=False)  # not its own
    assert await links.begin(db, one, "b") is Refusal.BUSY
    await db.one("DEL", keys.export_stream(int(member)))
    assert await links.begin(db, one, "b") is None
    await expire(db, alice)
    assert await links.begin(db, one, "b") is None
    await links.end(db, one, "b", is_sent=True)
    assert await links.begin(db, one, "b") is Refusal.GONE


async def test_race(anonymous: Member, alice: Member) -> None:
    """Of several requests with one link at a time, one gets the file, and no other gets a part of it."""
    url = await link(alice)
    found = await asyncio.gather(*(fetch(anonymous, url) for _ in range(8)))
    statuses = sorted(status for status, _ in found)
    assert statuses.count(200) == 1
    assert {*statuses} <= {200, GONE, BUSY}


async def test_suspended(db: Database, alice: Member) -> None:
    """A suspended member may still take their data with them."""
    await db.one("HSET", keys.credentials(number(alice.id)), "suspended", "1")
    assert len((await export(alice)).entries("profile")) == 1


async def test_log(alice: Member) -> None:
    """No log line shows a link."""
    with lines.written() as log:
        url = await link(alice)
        await fetch(alice, url)
        await fetch(alice, f"{url}/more")
        await fetch(alice, url)
    assert url.rpartition(".")[2] not in log.getvalue()
    assert {json.loads(line)["path"] for line in log.getvalue().splitlines()} >= {"/export/…"}


async def test_rate_limit(db: Database, anonymous: Member) -> None:
    """Guesses are counted like requests, by address."""
    limited = replace(anonymous)
    await fetch(limited, "/export/guess")
    (counted,) = await find(db, "rate:*")
    await db.one("SET", counted, 10_000)
    assert (await fetch(limited, "/export/guess"))[0] == BUSY
