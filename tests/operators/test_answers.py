"""Commands that print an answer: for people, and as JSON for programs."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

from serving.tables import tables
from store import keys
from store.keys.fields import CommentField
from tests.support.people import sign_up
from tests.support.servers.processes import opened, perch, run, serving, until
from tests.support.stored import find
from tests.support.work import number

LABELS = 2  # keys of a store without members: its layout, and the processes that use it


async def test_printing(tmp_path: Path) -> None:
    """The schema and the documentation's tables are printed without a store."""
    printed = await asyncio.gather(run(tmp_path / "data", "print-schema"), run(tmp_path / "data", "print-tables"))
    (status, schema, err), printed_tables = printed
    assert (status, err) == (0, "")
    assert "homeTimeline(" in schema
    assert printed_tables == (0, "\n\n".join(tables().values()), "")
    assert not (tmp_path / "data").exists()


async def test_commands_beside_a_server(tmp_path: Path) -> None:
    """`verify` finds the jobs of a server without a worker, `worker` does them, and then nothing is found."""
    async with serving(tmp_path, run_worker="false", fanout_inline=1) as (running, anonymous):
        alice, bob, carol = [await sign_up(anonymous, name) for name in ("alice", "bob", "carol")]
        for follower in (bob, carol):
            await follower.follow(alice)
        post = await alice.post("for everybody")
        status, out, _ = await run(tmp_path, "verify", "--all-homes")
        assert status == 1
        assert f"{keys.home(number(carol.id))}: misses 1 (such as {number(post)})" in out
        assert "1 findings" in out
        assert "1 jobs are unfinished" in out
        async with perch(tmp_path, "worker") as worker:
            assert await worker.out.line("Perch works")
            await until(carol.home)
            assert await worker.stop() == 0
        assert await running.stop() == 0
    status, out, _ = await run(tmp_path, "verify", "--all-homes")
    assert status == 0
    assert re.search(r"^[\d,]+ keys and 3 homes checked: 0 findings$", out)


async def test_answers_for_people_and_for_programs(tmp_path: Path) -> None:
    """A command prints its answer and no line of the log; with --json the answer is one JSON document."""
    async with opened(tmp_path) as db:
        await db.one("SET", keys.login("nobody"), 4242)
        status, out, err = await run(tmp_path, "jobs")
        assert (status, out) == (0, "0 jobs are unfinished, 0 have failed too often and are set aside")
        assert "{" not in err
        pictures = {"objects": 0, "objectBytes": 0, "orphanedObjects": [], "orphanedBytes": 0}
        expected: dict[str, tuple[int, dict[str, Any]]] = {
            "jobs": (0, {"unfinished": [], "dead": []}),
            "recount": (0, {"members": 0, "posts": 0, "wrong": 0}),
            "verify": (1, {"keys": 1 + LABELS, "homes": 0, "unfinishedJobs": 0, "deadJobs": 0, **pictures}),
            "repair": (
                0,
                {
                    "mended": 1,
                    "keys": LABELS,
                    "homes": 0,
                    "findings": [],
                    "unfinishedJobs": 0,
                    "deadJobs": 0,
                    **pictures,
                },
            ),
        }
        for command, (ends, data) in expected.items():
            status, out, err = await run(tmp_path, command, "--json")
            assert (status, err) == (ends, "")
            answer = json.loads(out)
            if command == "verify":
                (finding,) = answer.pop("findings")
                assert finding["key"] == keys.login("nobody")
            assert answer == data


async def test_members_changed_by_commands(tmp_path: Path) -> None:
    """A command that changes one member answers as JSON when that is asked for."""
    async with serving(tmp_path) as (_, anonymous):
        await sign_up(anonymous, "alice")
        for arguments, data in (
            (("set-role", "alice", "ADMIN"), {"login": "alice", "role": "ADMIN"}),
            (("suspend", "alice"), {"login": "alice", "suspended": True}),
            (("suspend", "alice", "--end"), {"login": "alice", "suspended": False}),
            (("rebuild-home", "alice"), {"login": "alice", "entries": 0}),
        ):
            status, out, err = await run(tmp_path, *arguments, "--json")
            assert (status, json.loads(out), err) == (0, data, "")


async def test_repair(tmp_path: Path) -> None:
    """`repair` without a server repairs the findings of `verify`, and says so."""
    async with opened(tmp_path) as db:
        await db.one("SET", keys.login("nobody"), 4242)
        await db.one("ZADD", keys.comments(4096), 1, 4242)
        await db.one(
            "HSET", keys.comment(4242), CommentField.AUTHOR, 1, CommentField.POST, 4096, CommentField.TEXT, "lost"
        )
        status, out, _ = await run(tmp_path, "repair")
        assert status == 0
        assert f"{keys.login('nobody')}: belongs to 4242, who does not exist" in out
        assert out.endswith(f"{LABELS} keys and 0 homes checked: 0 findings")
        assert await find(db) == [keys.layout()]
