"""A damaged append-only file: the store starts without the damaged end, and loses nothing before it."""

import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from store.embedded import append_only_file
from store.embedded.attach import attach
from store.embedded.launch import EmbeddedStoreError, StartOptions
from tests.support.servers.holders import LOCKS, attached, run_after, server_info, until_free
from tests.support.transport.small import logged

NOISE = random.Random(15).randbytes(4096)  # noqa: S311  keeps no secret


def packed(*words: str) -> bytes:
    """Return a command as the server writes it."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words)


SET, MULTI, EXEC = packed("SET", "after", "x" * 40), packed("MULTI"), packed("EXEC")
ENDS = {
    "zeros": bytes(4096),
    "noise": NOISE,
    "noise after zeros": bytes(512) + NOISE,
    "one byte": b"*",
    "half a header": SET[:2],
    "half a command": SET[:-20],
    "a command without its last byte": SET[:-1],
    "a command over zeros": SET[:30] + bytes(4096) + SET,
    "a transaction without its end": MULTI + SET + SET,
    "a transaction without its end, then zeros": MULTI + SET + bytes(4096),
    "a transaction within another": MULTI + SET + MULTI + SET,
    "a negative length": b"*2\r\n$3\r\nSET\r\n$-5\r\n",
    "a length beyond the file": b"*2\r\n$3\r\nSET\r\n$99999999999\r\n",
    "too many arguments": b"*2000000000\r\n" + SET,
    "a wrong length": SET.replace(b"$5\r\nafter", b"$4\r\nafter"),
    "empty lines": b"\r\n" * 50,
    "another protocol": b"SET after 1\r\n",
}


def newest(data_dir: Path) -> Path:
    return max((data_dir / "appendonlydir").glob("*.incr.aof"))


async def written(data_dir: Path) -> Path:
    """Have a store write some keys, some of them in a script, and return its append-only file."""
    async with attached(data_dir) as (_, client):
        await client.mset({"a": "1", "b": "2"})
        await client.eval("redis.call('SET', 'c', 3) redis.call('SET', 'd', 4)", 0)
    return newest(data_dir)


@pytest.mark.parametrize("end", ENDS)
async def test_end_is_cut(tmp_path: Path, end: str) -> None:
    """The store starts; the cut part is a file beside it, for its owner alone, and one line reports it."""
    file = await written(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole + ENDS[end])
    with logged() as lines:
        async with attached(tmp_path) as (_, client):
            assert await client.mget("a", "b", "c", "d", "after") == ["1", "2", "3", "4", None]
            assert file.read_bytes() == whole
            await client.set("after", "that")
    (kept,) = file.parent.glob("*.cut*")
    assert kept.read_bytes() == ENDS[end]
    assert kept.stat().st_mode & 0o777 == 0o600
    assert re.fullmatch(rf"{re.escape(file.name)}\.cut-{len(whole)}-\d{{8}}T\d{{6}}Z", kept.name)
    expected = {"file": str(file), "offset": len(whole), "size": len(ENDS[end]), "kept": str(kept)}
    assert lines == [{"event": "append_only_file_cut", "log_level": "warning", **expected}]
    async with attached(tmp_path) as (_, client):
        assert await client.mget("a", "after") == ["1", "that"]


@pytest.mark.parametrize("fill", [b"", bytes(100)], ids=["empty", "zeros"])
async def test_nothing_is_whole(tmp_path: Path, fill: bytes) -> None:
    """A newest file without any command leaves the contents of older files."""
    async with attached(tmp_path) as (_, client):
        await client.set("a", "1")
        await client.bgrewriteaof()
        while (await client.info("persistence"))["aof_rewrite_in_progress"]:
            pass
    newest(tmp_path).write_bytes(fill)
    async with attached(tmp_path) as (_, client):
        assert await client.get("a") == "1"


async def test_cut_while_held(tmp_path: Path) -> None:
    """A server that dies, and leaves half a command, is restarted without it."""
    file = await written(tmp_path)
    async with attached(tmp_path) as (attachment, client):
        server, run = await server_info(client)
        with file.open("ab") as log:
            log.write(SET[:-7])
        os.kill(server, 9)
        await run_after(attachment, run)
        assert await client.mget("a", "d", "after") == ["1", "4", None]
    (kept,) = file.parent.glob("*.cut*")
    assert kept.read_bytes() == SET[:-7]


async def test_much_is_refused(tmp_path: Path) -> None:
    """An end above the limit is not cut off: one line says so, and names the setting that allows it."""
    file = await written(tmp_path)
    damaged = file.read_bytes() + bytes(2000)
    file.write_bytes(damaged)
    rule = rf"{re.escape(str(file))} is damaged at byte {len(damaged) - 2000}; with DAMAGED_END_MIB=1 the store starts"
    with pytest.raises(EmbeddedStoreError, match=rf"\A{rule}.* 2000 bytes [^\n]*\Z"):
        await attach(tmp_path, StartOptions(damaged_end_bytes=1999))
    assert file.read_bytes() == damaged
    await until_free(tmp_path, *LOCKS)
    async with attached(tmp_path, StartOptions(damaged_end_bytes=2000)) as (_, client):
        assert await client.get("d") == "4"


def _older(folder: Path) -> str:
    file = max(folder.glob("*.incr.aof"))
    manifest = folder / "appendonly.aof.manifest"
    manifest.write_text(manifest.read_text() + "file appendonly.aof.99.incr.aof seq 99 type i\n")
    (folder / "appendonly.aof.99.incr.aof").write_bytes(SET)
    size = file.stat().st_size
    file.write_bytes(file.read_bytes() + bytes(10))
    return f"is damaged at byte {size} and is not the newest file"


def _base(folder: Path) -> str:
    (file,) = folder.glob("*.base.rdb")
    data = file.read_bytes()
    file.write_bytes(data[:-5])
    return "does not start"


def _no_base(folder: Path) -> str:
    (file,) = folder.glob("*.base.rdb")
    file.write_bytes(b"")
    return "base.rdb is empty"


def _manifest(folder: Path) -> str:
    with (folder / "appendonly.aof.manifest").open("ab") as file:
        file.write(bytes(20))
    return "manifest is damaged"


def _empty_manifest(folder: Path) -> str:
    (folder / "appendonly.aof.manifest").write_bytes(b"")
    return "manifest is damaged"


def _no_manifest(folder: Path) -> str:
    (folder / "appendonly.aof.manifest").unlink()
    return "manifest is missing"


def _missing(folder: Path) -> str:
    max(folder.glob("*.incr.aof")).unlink()
    return "is missing, though the manifest names it"


def _unknown_command(folder: Path) -> str:
    file = max(folder.glob("*.incr.aof"))
    file.write_bytes(file.read_bytes() + packed("SGT", "a", "b"))
    return "unknown command 'SGT'"


DAMAGES = (_older, _base, _no_base, _manifest, _empty_manifest, _no_manifest, _missing, _unknown_command)


@pytest.mark.parametrize("damage", DAMAGES)
async def test_other_damage_is_refused(tmp_path: Path, damage: Callable[[Path], str]) -> None:
    """Damage before the end is refused in one line that says what to do, and nothing is changed."""
    folder = (await written(tmp_path)).parent
    reason = damage(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(EmbeddedStoreError) as caught:
        await attach(tmp_path)
    text = str(caught.value)
    assert reason in text
    assert str(tmp_path) in text
    assert "backup" in text
    assert "\n" not in text
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    await until_free(tmp_path, *LOCKS)


@pytest.mark.parametrize("length", [0, 1, 5, (1 << 20) - 30, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_long_values(tmp_path: Path, length: int) -> None:
    """Values of any length are skipped, across any block boundary, and a cut finds their beginning."""
    file = tmp_path / "log"
    begun = packed("SELECT", "0") + b"#TS:1795337099\r\n" + MULTI + packed("SET", "a", "b") + EXEC
    long = packed("SET", "long", "x" * length)
    whole = begun + long + packed("DEL", "a") + long
    file.write_bytes(whole)
    assert append_only_file.whole_bytes(file) == len(whole)
    for cut in (1, 2, 3, len(long) // 2, len(long) - 1):
        file.write_bytes(whole[:-cut])
        assert append_only_file.whole_bytes(file) == len(whole) - len(long)


def test_every_cut(tmp_path: Path) -> None:
    """A file that ends anywhere is whole up to its last whole command or the transaction that was begun."""
    parts = [packed("SET", "a", "1"), MULTI + SET + packed("SET", "b", "2") + EXEC, packed("GET", "")]
    ends = [sum(map(len, parts[:count])) for count in range(len(parts) + 1)]
    file = tmp_path / "log"
    for cut in range(ends[-1] + 1):
        file.write_bytes(b"".join(parts)[:cut])
        assert append_only_file.whole_bytes(file) == max(end for end in ends if end <= cut)
