"""Every mail arrives, and none twice, while the mail server and Perch die again and again."""

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from tests.mail.test_sending import free_port
from tests.support.people import sign_up
from tests.support.servers.processes import perch, serving, until
from tests.support.servers.smtp import smtp_process
from tests.support.slow import slow

MAILS = int(os.environ.get("PERCH_TEST_MAILS", "60"))  # 1,000 in the run that is reported
SERVER_DEATHS, PERCH_DEATHS = 5, 2
AT_ONCE = 20  # sign-ups


class Inbox:
    """The file in which the mail server notes each mail that it takes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ids(self) -> list[str]:
        """Return the Message-IDs of all mails taken, repetitions included."""
        return self.path.read_text().split() if self.path.exists() else []

    async def wait_for(self, share: float) -> None:
        """Wait until so many of the mails have arrived.

        Patience is for each mail: senders pause for as long as the server was away, which may take long to start.
        """
        while (arrived := len(set(self.ids()))) < share * MAILS:
            await until(partial(self._has_more_than, arrived))

    async def _has_more_than(self, count: int) -> bool:
        return len(set(self.ids())) > count


async def _serve_mail(port: int, inbox: Inbox, deaths: list[float]) -> None:
    """Run a mail server that is killed each time when such a share of the mails has arrived, and then to the end."""
    for death in [*deaths, 1]:
        async with smtp_process(port, inbox.path) as server:
            await inbox.wait_for(death)
            if death < 1:
                server.kill()


@contextlib.asynccontextmanager
async def _dying(folder: Path, inbox: Inbox, death: float, **settings: Any) -> AsyncIterator[None]:
    async with perch(folder, "serve", **settings) as running:
        await running.url()
        await inbox.wait_for(death)
        running.process.kill()
        yield


@slow  # It starts ten processes. test_sending.py has mails whose reply is lost, and servers that are away.
async def test_every_mail_arrives_once(tmp_path: Path) -> None:
    """With a mail server killed five times and Perch twice, each mail arrives, under one Message-ID of its own."""
    inbox, port = Inbox(tmp_path / "inbox"), free_port()
    async with serving(tmp_path, run_worker=False) as (running, anonymous):
        for first in range(0, MAILS, AT_ONCE):
            names = [f"one{i}" for i in range(first, min(first + AT_ONCE, MAILS))]
            await asyncio.gather(*(sign_up(anonymous, name) for name in names))
        await running.stop()
    began = time.monotonic()
    url = {"smtp_url": f"smtp://127.0.0.1:{port}"}
    mail = asyncio.create_task(_serve_mail(port, inbox, [i / 7 for i in (1, 2, 3, 5, 6)]))
    for death in (2.5 / 7, 4.5 / 7):
        async with _dying(tmp_path, inbox, death, **url):
            pass
    async with perch(tmp_path, "serve", **url) as last:
        await mail
        await last.stop()
    counts = Counter(inbox.ids())
    repeated = sum(counts.values()) - len(counts)
    print(f"{len(counts)} mails in {time.monotonic() - began:.1f} s, {repeated} repetitions")  # noqa: T201
    assert len(counts) == MAILS
    assert repeated <= (SERVER_DEATHS + PERCH_DEATHS) * 4  # those in the hands of one of the dead, on 4 connections
