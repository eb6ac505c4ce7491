"""A client that repeats each request for as long as the database is unavailable."""

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from aiohttp.test_utils import TestClient

from tests.support.servers.processes import until

_INPUTS_WITH_KEY = ("Post", "Repost", "Comment", "StartConversation", "SendMessage", "CreateGroup")
WITH_KEY = tuple(f"$input: {name}Input!" for name in _INPUTS_WITH_KEY)
UNAVAILABLE = "SERVICE_UNAVAILABLE"


@dataclass
class Outages:
    """What a client has seen of outages."""

    refused: int = 0  # answers that the database was unavailable
    longest: float = 0.0  # s from a request to its answer, refusals of it included
    is_repeated: bool = False  # whether the latest request was sent more than once


@dataclass(frozen=True)
class Answer:
    """A response that has been read."""

    status: int
    body: dict[str, Any]

    async def json(self) -> dict[str, Any]:
        """Return the body."""
        return self.body


class Persistent:
    """Sends requests as a test's client does. Each input that may have an idempotency key gets one."""

    def __init__(self, client: TestClient[Any, Any], outages: Outages) -> None:
        self._client = client
        self._outages = outages

    def get(self, path: str) -> Any:
        """Send a GET as the client does, once."""
        return self._client.get(path)

    @contextlib.asynccontextmanager
    async def post(self, path: str, *, json: dict[str, Any], headers: dict[str, str]) -> AsyncIterator[Answer]:
        """Yield the first answer that is not SERVICE_UNAVAILABLE. Any other error of the server fails the test."""
        if any(kind in json["query"] for kind in WITH_KEY):
            json["variables"]["input"].setdefault("idempotencyKey", uuid4().hex)
        answers: list[Answer] = []

        async def is_answered() -> bool:
            async with self._client.post(path, json=json, headers=headers) as response:
                answers.append(Answer(response.status, await response.json()))
            codes = {error["extensions"]["code"] for error in answers[-1].body.get("errors", ())}
            assert "INTERNAL" not in " ".join(codes), answers[-1]
            return UNAVAILABLE not in codes

        began = time.monotonic()
        await until(is_answered)
        self._outages.refused += len(answers) - 1
        self._outages.is_repeated = len(answers) > 1
        self._outages.longest = max(self._outages.longest, time.monotonic() - began)
        yield answers[-1]
