"""Secrets: a mutation fails at one call to the store after another, and no failure shows a secret."""

import io
import json
import math
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import pytest

from resolvers.process.services import Services
from store import accounts
from store.client.database import Command, Database
from store.credentials.records import Role
from store.keys.fields import CredentialsField
from store.settings import Settings
from tests.support.people import PASSWORD, SECRET, Member
from tests.support.secrets import (
    COMMENT,
    CONVERSATION,
    CURRENT,
    FIELDS,
    GROUP,
    MESSAGE,
    NEWCOMERS,
    NEXT,
    POST,
    PROMOTION,
    USER,
    fields_of,
    mutation,
    shown,
)
from tests.support.servers import lines
from tests.support.stored import find
from tests.support.work import number

TOKEN_OR_HASH = re.compile(r"eyJ[\w-]{10}|\d+\.[\w-]{12}\.[\w-]{43}|\$argon2")  # also a token that no answer contained
CALLS_MOST = 30  # more than any mutation makes


class Failing(Database):
    """Fails unexpectedly after some more calls, counting all but those that read the event log."""

    calls = math.inf

    async def run(self, commands: Sequence[Command]) -> list[Any]:
        if not any(str(command[0]).startswith("X") for command in commands):
            if self.calls <= 0:
                raise RuntimeError("the store failed")
            self.calls -= 1
        return await super().run(commands)


@pytest.fixture
async def services(settings: Settings, db: Database) -> AsyncIterator[Services]:
    made = Services(settings, Failing(settings.redis_url, settings), settings.secret_key)
    await made.start()
    await made.pubsub.connected.wait()
    yield made
    await made.close()
    await made.db.close()


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All log lines written meanwhile, as a process writes them."""
    with lines.written() as text:
        yield text


@pytest.fixture
async def ids(alice: Member, bob: Member, db: Database) -> dict[str, str]:
    """Real ids for the ids in the inputs. Everything exists, and alice may act on it."""
    await accounts.update(db, number(alice.id), credentials={CredentialsField.ROLE: Role.ADMIN.value})
    post = await alice.post("hello")
    comment = (await bob.do("comment", "comment { id }", postId=post, text="well"))["comment"]["id"]
    promoted = {"sponsorId": bob.id, "subject": {"userId": bob.id}, "endsAt": "2099-01-01T00:00:00Z"}
    promotion = (await alice.do("createPromotion", "promotion { id }", **promoted))["promotion"]["id"]
    group = (await alice.do("createGroup", "group { id }", name="Birds", kind="PUBLIC"))["group"]["id"]
    begun = await alice.do("startConversation", "message { id conversation { id } }", userIds=[bob.id], text="hello")
    message, conversation = begun["message"]["id"], begun["message"]["conversation"]["id"]
    real = {POST: post, USER: bob.id, COMMENT: comment, PROMOTION: promotion, GROUP: group}
    return {**real, MESSAGE: message, CONVERSATION: conversation}


async def hashes(db: Database) -> list[str]:
    """Return the hashes of all passwords."""
    return [await db.one("HGET", key, CredentialsField.PASSWORD) for key in await find(db, "credentials:*")]


@pytest.mark.parametrize("name", FIELDS)
async def test_no_secret_is_shown(
    name: str, services: Services, db: Database, alice: Member, ids: dict[str, str], log: io.StringIO
) -> None:
    """A mutation fails at its first call, its second and so on: no log line and no answer contains a secret."""
    assert isinstance(services.db, Failing)
    text = json.dumps(fields_of(name, alice))
    for placeholder, real in {**ids, CURRENT: PASSWORD}.items():
        text = text.replace(placeholder, real)
    used = [PASSWORD, NEXT, NEWCOMERS, SECRET, str(alice.token), alice.refresh_token, *await hashes(db)]
    failed = 0
    for calls in range(CALLS_MOST):
        services.db.calls = calls
        answer = await alice.send(mutation(name), input=json.loads(text.replace("dave", f"dave{calls}")))
        services.db.calls = math.inf
        used += await hashes(db)
        assert shown(used, json.dumps(answer)) == []
        if not answer.get("errors"):
            break
        failed += answer["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert failed
    assert "the store failed" in log.getvalue()
    assert shown(used, log.getvalue()) == []
    assert TOKEN_OR_HASH.search(log.getvalue()) is None
    assert all(record["process"] for record in lines.read(log))
