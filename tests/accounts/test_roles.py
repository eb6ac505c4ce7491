"""Roles: an operator gives them on the command line."""

from pathlib import Path

import pytest

import server
from store import keys
from tests.support.people import sign_up
from tests.support.promoting import CREATE, instant
from tests.support.servers.processes import opened, perch, run, visiting
from tests.support.stored import find

ROLE = "{ viewer { role } }"


async def test_set_role(tmp_path: Path) -> None:
    """A first administrator is appointed beside a running server, in any case and repeatedly; dismissal needs none."""
    async with opened(tmp_path):
        async with perch(tmp_path, "serve") as running, visiting(await running.url()) as anonymous:
            alice = await sign_up(anonymous, "Alice")
            making = {"sponsorId": alice.id, "subject": {"userId": alice.id}, "endsAt": instant(days=1)}
            assert await alice.fail(CREATE, input=making) == "FORBIDDEN"
            for words in (("alice", "ADMIN"), ("ALICE", "admin")):
                assert await run(tmp_path, "set-role", *words, log_level="ERROR") == (
                    0,
                    f"{words[0]} has the role ADMIN",
                    "",
                )
                assert await alice.ask(ROLE) == {"role": "ADMIN"}
            assert (await alice.ask(CREATE, input=making))["promotion"]
            assert await running.stop() == 0
        assert (await run(tmp_path, "set-role", "alice", "MEMBER"))[0] == 0
        async with perch(tmp_path, "serve") as running, visiting(await running.url()) as anonymous:
            alice.client = anonymous.client
            assert await alice.ask(ROLE) == {"role": "MEMBER"}
            assert await alice.fail(CREATE, input=making) == "FORBIDDEN"
            assert await running.stop() == 0


async def test_unknown_login(tmp_path: Path) -> None:
    """An unknown or impossible login gives one clear line and status 1, and nothing is written."""
    async with opened(tmp_path) as db:
        for login in ("nobody", "no body", ""):
            status, out, err = await run(tmp_path, "set-role", login, "ADMIN", log_level="ERROR")
            assert (status, out, err) == (1, "", f"perch: no member has the login {login!r}")
        assert await find(db) == [keys.layout()]


@pytest.mark.parametrize("arguments", [["alice"], ["alice", "KING"], ["alice", ""]])
def test_wrong_role(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown role ends with the usage, which names the roles, and status 2."""
    with pytest.raises(SystemExit) as ended:
        server.main(["set-role", *arguments])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("usage: server.py set-role")
    assert "MEMBER|MODERATOR|ADMIN" in said
