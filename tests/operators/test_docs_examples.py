"""Every example of the documentation works as it is printed: each page against a fresh server with the demo."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from graphql import OperationDefinitionNode, OperationType, parse

from tests.support.pages import PAGES, ROOT, Block, blocks, name
from tests.support.people import Member
from tests.support.servers.processes import PATIENCE, SMALL, perch, visiting
from tests.support.slow import few

ADDRESS = "http://127.0.0.1:8000"  # which the pages print; the test's server has another port
UNTIL_STOPPED = ("curl -N", "server.py tail", "server.py serve", "server.py worker")
LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken } }"
GUIDE, FRIEND, DEMO_PASSWORD = "robin", "mira_k", "birds of a feather"

_PLACEHOLDER = re.compile(r"<(\w+)\.([\w.]+)>")
_REFUSED = re.compile(r"# refused with (\w+)")


def _is_run(block: Block) -> bool:
    # The README's three commands are run by `.ci/run` and `.ci/web`.
    installs = "-m venv" in block.text or "npm install" in block.text
    return block.language in {"graphql", "json"} or (block.language == "sh" and not installs)


EXAMPLES = [page for page in PAGES if any(_is_run(block) for block in blocks(page))]


@dataclass
class Example:
    """The examples of one page, the server they run against, and its answers so far."""

    data_dir: Path
    url: str
    anonymous: Member
    answers: dict[str, Any] = field(default_factory=dict)

    # ------------------------------------------------------------ shell

    async def run_shell(self, block: Block) -> None:
        """Run a block; one that runs until it is stopped must print something and is stopped then."""
        settings = {key.upper(): str(value) for key, value in SMALL.items()} | {"DATA_DIR": str(self.data_dir)}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        process = await asyncio.create_subprocess_exec(
            *("bash", "-euo", "pipefail", "-c", block.text.replace(ADDRESS, self.url)),
            cwd=ROOT,
            env={**os.environ, **settings, "PATH": path},
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(PATIENCE):
                if any(words in block.text for words in UNTIL_STOPPED):
                    assert process.stdout
                    assert await process.stdout.readline(), block.text
                    return
                out, err = await process.communicate()
            assert process.returncode == 0, f"{block.text}\n{err.decode()}"
            assert '"errors"' not in out.decode(), out.decode()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            await process.wait()

    # ------------------------------------------------------------ GraphQL

    async def run_operations(self, block: Block, variables: dict[str, Any]) -> None:
        """Execute every operation of a block as the demo's guide, each by its name."""
        member = await self.log_in(GUIDE)
        for operation in parse(block.text).definitions:
            if isinstance(operation, OperationDefinitionNode):
                assert operation.name, f"an operation without a name cannot be pasted beside others: {block.text}"
                called = operation.name.value
                assert called not in self.answers, f"the page has two operations named {called}"
                body = {"query": block.text, "operationName": called, "variables": variables}
                if operation.operation is OperationType.SUBSCRIPTION:
                    self.answers[called] = await self.first_event(member, body)
                else:
                    self.answers[called] = await self.execute(member, body)
                refused = set(_REFUSED.findall(block.text))
                assert set(_user_errors(self.answers[called])) == refused, self.answers[called]

    async def execute(self, member: Member, body: dict[str, Any]) -> Any:
        """Return the data of an answer, which must have no errors."""
        headers = {"Authorization": f"Bearer {member.token}"}
        async with member.client.post("/graphql", json=body, headers=headers) as response:
            answer = await response.json()
        assert "errors" not in answer, f"{body}\n{answer['errors']}"
        return answer["data"]

    async def first_event(self, member: Member, body: dict[str, Any]) -> Any:
        """Return the data of a subscription's first event, while acts happen that it could deliver."""
        headers = {"Authorization": f"Bearer {member.token}", "Accept": "text/event-stream"}
        friend = await self.log_in(FRIEND)
        guide = await friend.ask("query($login: String!) { user(login: $login) { id } }", login=GUIDE)
        async with asyncio.timeout(PATIENCE), member.client.post("/graphql", json=body, headers=headers) as response:
            assert response.status == 200, await response.text()
            first = asyncio.create_task(_next(response.content))
            for round_ in range(1_000_000):
                await friend.post(f"A lake for @{GUIDE}, round {round_} #hiking")
                await friend.do("startConversation", userIds=[guide["id"]], text=f"Round {round_}?")
                for post in filter(None, [body["variables"].get("postId")]):
                    await friend.do("unlike" if round_ % 2 else "like", postId=post)
                if first.done():
                    break
            answer = await first
        assert "errors" not in answer, f"{body}\n{answer['errors']}"
        return answer["data"]

    async def log_in(self, login: str) -> Member:
        """Return a member of the demo, in a session of their own."""
        payload = await self.anonymous.ask(LOG_IN, input={"identifier": login, "password": DEMO_PASSWORD})
        return Member(self.anonymous.client, payload["accessToken"], login=login)

    def filled(self, value: Any) -> Any:
        """Return variables in which `<Name.path>` is replaced by the answer to an earlier operation."""
        if isinstance(value, dict):
            return {key: self.filled(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.filled(part) for part in value]
        found = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        if not found:
            return value
        answer = self.answers[found[1]]
        for part in found[2].split("."):
            answer = answer[int(part) if part.isdigit() else part]
        return answer


@pytest.mark.parametrize("page", few(EXAMPLES), ids=name)
async def test_examples(page: Path, tmp_path: Path) -> None:
    """Every example of a page works, in the order of the page."""
    async with perch(tmp_path, "serve", "--demo") as running:
        url = await running.url()
        async with visiting(url) as anonymous:
            example = Example(tmp_path, url, anonymous)
            for block, following in pairwise([*blocks(page), Block("", "", 0)]):
                if block.language == "sh" and _is_run(block):
                    await example.run_shell(block)
                elif block.language == "graphql":
                    given = json.loads(following.text) if following.language == "json" else {}
                    await example.run_operations(block, example.filled(given))
                elif block.language == "json":
                    json.loads(block.text)


async def _next(stream: Any) -> Any:
    """Return the data of the next result in an event stream."""
    while (line := await stream.readline()).strip() != b"event: next":
        assert line, "the stream has ended"
    return json.loads((await stream.readline()).removeprefix(b"data: "))


def _user_errors(answer: Any) -> list[str]:
    """Return the codes of all refusals in an answer."""
    if isinstance(answer, list):
        return [code for part in answer for code in _user_errors(part)]
    if not isinstance(answer, dict):
        return []
    own = [error["code"] for error in answer.get("userErrors") or ()]
    return own + [code for key, part in answer.items() if key != "userErrors" for code in _user_errors(part)]
