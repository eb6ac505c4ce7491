"""Secrets: no password, token or hash is in the log, in an answer or in printed text, whichever call fails."""

import contextlib
import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog
from graphql import GraphQLInputField, GraphQLInputObjectType

import schema
from resolvers.operation.payloads import ConfirmTwoFactorPayload, EnableTwoFactorPayload, SessionPayload
from schema.execution.inputs import is_secret
from schema.execution.parameters import Parameters
from schema.types.account_inputs import LogInInput
from serving.streaming.connections import Peer
from store import keys
from store.client.database import Database
from store.credentials.records import Credentials, Role
from store.ids import PARTITIONS
from store.keys.fields import CredentialsField
from store.secret import Secret
from store.sessions import Session
from store.settings import Settings, urls
from store.settings.declaring import SettingError
from tests.support.people import SECRET, Member
from tests.support.secrets import (
    CODE,
    CURRENT,
    FIELDS,
    NEWCOMERS,
    NEXT,
    fields_of,
    mutation,
    shown,
)
from tests.support.servers import lines
from tests.support.servers.processes import connected, perch, redis, until, visiting
from tests.support.stored import find
from tests.support.transport.live import subscribed

STORE_PASSWORD = "the store's own/password?"


def mutations() -> set[str]:
    """Return the names of all mutations of the schema."""
    mutation = schema.build(Settings())._schema.mutation_type  # noqa: SLF001  what strawberry has built
    assert mutation
    return set(mutation.fields)


def test_every_mutation_is_tried() -> None:
    """Every mutation of the schema is among those that fail below."""
    assert set(FIELDS) == mutations()


async def answers(alice: Member) -> dict[str, dict[str, Any]]:
    """Return what each mutation answers, by its name."""
    return {name: await alice.send(mutation(name), input=fields_of(name, alice)) for name in FIELDS}


async def answers_on_sockets(alice: Member) -> list[dict[str, Any]]:
    """Return what a websocket without a token answers to each mutation that needs no token."""
    found, anonymous = [], replace(alice, token=None)
    for name in ("signUp", "logIn", "refreshSession"):
        async with subscribed(anonymous, mutation(name), input=fields_of(name, alice)) as stream:
            found.append(await stream.receive())
    return found


async def misfits(anonymous: Member) -> None:
    """Send secrets where they do not fit: the answer names the place, and may repeat its client's text."""
    for fields in ({"password": CURRENT}, {"identifier": 1, "password": [CURRENT]}, CURRENT, [CURRENT]):
        assert await anonymous.fail(mutation("logIn"), input=fields) == "BAD_USER_INPUT"
    for literal in (f'{{password: "{CURRENT}"}}', f'{{identifier: 1, password: "{CURRENT}"}}', f'"{CURRENT}"'):
        code = await anonymous.fail(f"mutation {{ logIn(input: {literal}) {{ accessToken }} }}")
        assert code == "GRAPHQL_VALIDATION_FAILED"


async def log_in(anonymous: Member) -> Member:
    """Return alice, with a session of her own."""
    session = await anonymous.do("logIn", "accessToken refreshToken", identifier="alice", password=CURRENT)
    return replace(anonymous, token=session["accessToken"], refresh_token=session["refreshToken"])


async def damage(db: Database) -> None:
    """Give the keys of the store a type that no command expects."""
    found = [*await find(db), *map(keys.minted, range(PARTITIONS)), *map(keys.jobs, range(PARTITIONS))]
    await db.ask(*(command for key in found for command in (("DEL", key), ("PFADD", key, "x"))))


@contextlib.asynccontextmanager
async def locked(folder: Path) -> AsyncIterator[str]:
    """A server of the test's own that asks for a password; yields its address."""
    async with redis(folder) as away:
        await away.start()
        async with connected(away.settings["redis_url"]) as db:
            await until(db.ready)
            await db.one("CONFIG", "SET", "requirepass", STORE_PASSWORD)
        yield f"{away.settings['redis_url']}?password={quote(STORE_PASSWORD, '')}"


async def test_no_secret_is_shown(tmp_path: Path) -> None:
    """Every mutation fails on a full store, then on a damaged one: no output contains a secret that was used."""
    async with locked(tmp_path / "redis") as url, perch(tmp_path, "serve", redis_url=url, secret_key=SECRET) as running:
        async with connected(url) as db, visiting(await running.url()) as anonymous:
            fields = {"login": "alice", "name": "Alice", "email": "alice@example.org", "password": CURRENT}
            await anonymous.do("signUp", **fields)
            alice = await log_in(anonymous)
            await db.one("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "1")
            full = await answers(alice)
            await db.one("CONFIG", "SET", "maxmemory", "0")
            again = await log_in(anonymous)
            hashes = [await db.one("HGET", key, CredentialsField.PASSWORD) for key in await find(db, "credentials:*")]
            await damage(db)
            damaged = await answers(again)
            on_sockets = await answers_on_sockets(again)
            await misfits(anonymous)
        await running.stop()
        out, log = await running.out.all(), await running.err.all()
    codes = {
        name: [error["extensions"]["code"] for error in answer.get("errors", [])] for name, answer in damaged.items()
    }
    assert codes == {name: ["INTERNAL"] for name in FIELDS}
    assert [answer["payload"]["errors"][0]["extensions"]["code"] for answer in on_sockets] == ["INTERNAL"] * 3
    used = [CURRENT, NEXT, NEWCOMERS, CODE, STORE_PASSWORD, SECRET, *hashes]
    used += [token for one in (alice, again) for token in (one.token or "", one.refresh_token)]
    assert [shown(used, text) for text in (out, log, json.dumps([full, damaged, on_sockets]))] == [[], [], []]
    assert {json.loads(line)["process"] for line in log.splitlines()} == {running.process.pid}


async def test_a_store_that_cannot_be_reached(tmp_path: Path) -> None:
    """Neither a wrong password nor an address where nobody listens makes Perch show a secret."""
    async with locked(tmp_path / "redis") as url:
        for wrong in (f"{url}2", f"unix://user:{quote(STORE_PASSWORD, '')}@{tmp_path}/nobody.sock"):
            async with perch(tmp_path, "serve", redis_url=wrong, secret_key=SECRET) as running:
                await running.err.line("next try in")
                await running.stop()
                assert shown([STORE_PASSWORD, SECRET], await running.out.all() + await running.err.all()) == []


# ---------------------------------------------------------------- objects that hold a secret

TEXT = "nothing shows this"
HOLDERS = [
    Secret(TEXT),
    Settings(secret_key=TEXT, redis_url=f"redis://{quote(TEXT)}@localhost"),
    Credentials("alice@example.org", Secret(TEXT), Role.MEMBER),
    Session("phone", Secret(TEXT), 1, 2, "browser", Secret(TEXT)),
    Peer("127.0.0.1", "browser", "request", Secret(f"Bearer {TEXT}")),
    Parameters(f'{{ logIn(password: "{TEXT}") }}', None, {"password": TEXT}, {"password": TEXT}),
    LogInInput(identifier="alice", password=Secret(TEXT)),
    EnableTwoFactorPayload(secret=Secret(TEXT), uri=Secret(TEXT)),
    ConfirmTwoFactorPayload(recovery_codes=[Secret(TEXT)]),
    SessionPayload(access_token=Secret(TEXT), refresh_token=Secret(TEXT)),
]


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: type(holder).__name__)
def test_reprs(holder: object) -> None:
    """An object that holds a secret shows it in no repr, text, log line or JSON."""
    with lines.written() as log:
        structlog.get_logger().error(f"{holder} {holder!r}", holder=holder, one={"of": [holder]})
        structlog.get_logger().error("%s %r" % (holder, holder))  # noqa: UP031  as libraries do
    assert lines.read(log)
    assert shown([TEXT], log.getvalue()) == []
    with pytest.raises(TypeError):
        json.dumps(holder)


def test_session_record() -> None:
    """The tokens of a session are stored, and read again."""
    session = Session("phone", Secret("now"), 1, 2, "browser", Secret("before"))
    assert json.loads(session.text())["token"] == "now"
    assert Session.read("phone", session.text()) == session


def test_equal_secrets() -> None:
    """Secrets are equal where their texts are, and equal to nothing else."""
    assert Secret("a") == Secret("a")
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"


def _inputs() -> Iterator[tuple[str, GraphQLInputField]]:
    for kind in schema.build(Settings())._schema.type_map.values():  # noqa: SLF001  what strawberry has built
        if isinstance(kind, GraphQLInputObjectType):
            for name, field in kind.fields.items():
                yield f"{kind.name}.{name}", field


def test_secret_inputs() -> None:
    """Every input field whose name says that it is a secret is declared as one."""
    named = {name for name, _ in _inputs() if re.search(r"password$|token$|secret|\.code$", name, re.IGNORECASE)}
    assert {name for name, field in _inputs() if is_secret(field)} == named
    assert len(named) >= 7


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("redis://localhost", "redis://localhost"),
        ("redis://:pass@localhost:6379/2", "redis://localhost:6379/2"),
        ("rediss://user:p%40ss@[::1]:6380/0?ssl_cert_reqs=none", "rediss://[::1]:6380/0"),
        ("rediss://us@er:pass@example.org", "rediss://example.org"),
        ("redis://localhost?password=pass&db=3&username=user", "redis://localhost?db=3"),
        ("redis://u:p,w@10.0.0.1:7001,[::1],example.org:1/2", "redis://10.0.0.1:7001,[::1],example.org:1/2"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("unix:///run/a,b.sock", "unix:///run/a,b.sock"),
        ("unix://user:pass@/run/redis.sock?db=1", "unix:///run/redis.sock?db=1"),
        ("unix:///run/redis.sock?db=1&password=pass&ssl_password=pass", "unix:///run/redis.sock?db=1"),
    ],
)
def test_addresses(given: str, wanted: str) -> None:
    """An address of Redis is shown without user name and password, wherever they are in it."""
    urls.check(given)
    assert urls.shown(given) == wanted


def test_several_addresses() -> None:
    """Each address of a URL becomes a URL of its own, with the same password, database and parameters."""
    assert urls.addresses("rediss://u:p,w@10.0.0.1:7001, [::1]/2?ssl_cert_reqs=none") == [
        "rediss://u:p,w@10.0.0.1:7001/2?ssl_cert_reqs=none",
        "rediss://u:p,w@[::1]/2?ssl_cert_reqs=none",
    ]
    assert urls.addresses("unix:///run/a,b.sock") == ["unix:///run/a,b.sock"]


@pytest.mark.parametrize(
    "url",
    [
        "http://user:pass@localhost",
        "redis://user:pass/word@localhost",
        "redis://user:123/pass@localhost",
        "redis://:#pass@localhost",
        "redis://user:pass@localhost:port",
        "redis://localhost?db=pass",
        "unix://user:p@ss/word@/run/redis.sock",
        "localhost:6379/pass",
        "redis://:pass@localhost:1,:pass@localhost:2",
        "redis://:pass@localhost:1,redis://:pass@localhost:2",
        "redis://localhost:1,",
        "redis://localhost:1,:2",
        "redis://localhost:1,localhost:port",
        "redis://:[pass@localhost:1",
    ],
)
async def test_wrong_addresses(tmp_path: Path, url: str) -> None:
    """An ambiguous address is refused before it is used, and is not repeated."""
    with pytest.raises(SettingError, match="REDIS_URL must") as refused:
        Settings(redis_url=url, secret_key=SECRET).check()
    assert "pass@" not in str(refused.value)
    assert "localhost" not in str(refused.value)
