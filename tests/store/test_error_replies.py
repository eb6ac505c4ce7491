"""Error replies: which are outages, also where a server words them otherwise within a script."""

from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ResponseError

from store.client.database import CommandRefused, Database, Unavailable
from store.client.outages import Redirected
from store.settings import Settings
from tests.support.people import SECRET
from tests.support.servers.cluster import cluster, slot
from tests.support.servers.nodes import Node
from tests.support.servers.processes import SERVERS, own_store, until

GRANTED = ("on", ">secret", "+@all", "~*", "&*")
WRITE = "redis.call('GET', KEYS[1]) return redis.call('SET', KEYS[1], 'x')"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((f"{code} of the server", Unavailable) for code in ("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN")),
        *((f"{code} of the server", Redirected) for code in ("MOVED", "ASK", "TRYAGAIN")),
        *((f"{code} of the server", CommandRefused) for code in ("OOM", "MISCONF", "NOREPLICAS", "READONLY", "NOPERM")),
        ("ERR wrong number of arguments", ResponseError),
        ("WRONGTYPE Operation against a key", ResponseError),
    ],
)
async def test_states_and_bugs(db: Database, text: str, kind: type[Exception]) -> None:
    """States of the server are outages; any other error reply is a bug."""
    if kind is Redirected and db.is_cluster:
        pytest.skip("a redirection of a cluster is followed")
    with pytest.raises(kind) as caught:
        await db.ask(("EVAL", f"return redis.error_reply('{text}')", 0))
    assert type(caught.value) is kind


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("denied", "command"),
    [
        (("-set",), "return redis.call('SET', 'key', 'x')"),
        (("resetkeys", "~other"), "return redis.call('SET', 'key', 'x')"),
        (("resetchannels", "&other"), "return redis.call('SPUBLISH', 'channel', 'x')"),
        (("-xreadgroup",), "return redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 'key', '>')"),
    ],
)
async def test_permissions(tmp_path: Path, server: str, denied: tuple[str, ...], command: str) -> None:
    """A script that lacks a permission for a command, a key or a channel is refused with NOPERM."""
    async with own_store(tmp_path, server) as store:
        url = store.settings["redis_url"]
        admin = Database(url, Settings())
        await admin.ask(("ACL", "SETUSER", "perch", *GRANTED, *denied))
        await admin.close()
        db = Database(url.replace("unix://", "unix://perch:secret@"), Settings(secret_key=SECRET))
        for text in (command, command.replace("redis.call", "redis.pcall")):
            with pytest.raises(CommandRefused) as caught:
                await db.ask(("EVAL", text, 0))
            assert caught.value.state == "NOPERM"
        await db.close()


@pytest.mark.parametrize("server", SERVERS)
async def test_a_cluster_that_is_down(tmp_path: Path, server: str) -> None:
    """A cluster that is down may serve reads: then commands and scripts that write are refused, and reads go on."""
    options: dict[str, Any] = {"cluster_require_full_coverage": "yes", "cluster_allow_reads_when_down": "yes"}
    async with cluster(tmp_path, server=server, **options) as made:
        db = Database(made.url, Settings(secret_key=SECRET))
        await db.find_out()
        first = await made.owner(slot(7))
        second = next(node for node in made.nodes if node is not first)
        second.kill()
        await until(lambda: _is_down(first))
        for command in (("SET", "a:{7}", "x"), ("EVAL", WRITE, 1, "a:{7}")):
            with pytest.raises(CommandRefused) as caught:
                await db.ask(command)
            assert caught.value.state == "CLUSTERDOWN"
        assert await db.one("GET", "a:{7}") is None
        await db.close()


async def _is_down(node: Node) -> bool:
    return "cluster_state:fail" in await node.cluster("INFO")
