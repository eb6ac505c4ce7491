"""The log of the embedded server, which is bounded."""

import os
import signal
from pathlib import Path

from store.embedded.supervisor import LOG, LOG_BYTES
from tests.support.servers.holders import attached
from tests.support.servers.processes import until


async def test_a_large_log_at_a_start(tmp_path: Path) -> None:
    """A log that is too large becomes the one before when the server starts, and a smaller one goes on."""
    log, before = tmp_path / LOG, tmp_path / f"{LOG}.1"
    for size, is_kept in ((LOG_BYTES, False), (LOG_BYTES + 1, True)):
        log.touch()
        os.truncate(log, size)
        async with attached(tmp_path):
            assert before.exists() == is_kept
    assert before.stat().st_size > LOG_BYTES
    assert "ready to exit" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


async def test_a_log_that_grows(tmp_path: Path) -> None:
    """A log that grows too large begins anew while the server runs; server and supervisor write to the new one."""
    log, before = tmp_path / LOG, tmp_path / f"{LOG}.1"
    async with attached(tmp_path) as (_, client):
        os.truncate(log, LOG_BYTES + 1)
        await until(lambda: _holds(before.exists() and log.exists()))
        os.kill((await client.info("server"))["process_id"], signal.SIGKILL)
        await until(lambda: _holds("the server ended" in log.read_text()))
        await until(lambda: _holds("Ready to accept connections" in log.read_text()))
    assert "ready to exit" in log.read_text()
    assert log.stat().st_size < LOG_BYTES


async def _holds(fact: bool) -> bool:
    return fact
