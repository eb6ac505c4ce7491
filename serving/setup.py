"""Finds what is wrong with a set-up: settings that fit no public site, and servers that cannot be used."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import urlsplit

import schema
from serving.running import most_connections
from store.client import clocks, health, requirements
from store.client.database import Database, Unavailable
from store.client.requirements import UnsupportedServer
from store.embedded import opening
from store.embedded.launch import EmbeddedStoreError
from store.ids import CLOCK_SKEW
from store.layout import versions
from store.layout.versions import UnsupportedLayout
from store.media.objects import Media, MediaMissing, MediaUnavailable
from store.settings import Settings, urls
from store.settings.declaring import SettingError

LOOPBACK = {"127.0.0.1", "::1", "localhost"}
CONNECT_SECONDS = 5  # to reach a mail server


class Problem(NamedTuple):
    """What is wrong, and how to fix it; each is one line."""

    what: str
    fix: str


async def problems(settings: Settings) -> list[Problem]:
    """Return what is wrong with a set-up, empty if nothing is."""
    looks = _of_documents(settings), _of_addresses(settings), _of_files(settings)
    return [
        *await _of_store(settings),
        *(problem for wrong in looks for problem in wrong),
        *await _of_media(settings),
        *await _of_mail(settings),
    ]


@contextlib.asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Database]:
    """Open the store. Unlike a server, this does not wait for one that cannot be reached."""
    if not settings.redis_url:
        async with opening.database(settings) as db:
            yield db
        return
    db = Database(settings.redis_url, settings)
    try:
        await requirements.check_version(db)
        await versions.check(db)
        yield db
    finally:
        await db.close()


async def _of_store(settings: Settings) -> list[Problem]:
    shown = urls.shown(settings.redis_url) if settings.redis_url else str(settings.data_dir)
    try:
        async with _opened(settings) as db:
            opening.secret(settings)
            return await _of_server(db, shown)
    except Unavailable as error:
        return [Problem(f"the store {shown} cannot be used: {error}", "start it, or correct REDIS_URL")]
    except UnsupportedServer as error:
        return [Problem(f"the store {shown}: {error}", "install Redis 7.0 or newer, or Valkey")]
    except UnsupportedLayout as error:
        return [Problem(f"the store {shown}: {error}", "install the newer Perch again, or restore the backup")]
    except (EmbeddedStoreError, SettingError) as error:
        return [
            Problem(f"the embedded store: {error}", "let Perch's user write to DATA_DIR, and make room on its disk")
        ]


async def _of_server(db: Database, shown: str) -> list[Problem]:
    wrong = []
    try:
        wrong = [
            Problem(f"the store {shown} has {name} {value}", f"set it to {requirements.REQUIRED[name]}")
            for name, value in await requirements.differing(db)
        ]
    except Unavailable as error:
        wrong.append(Problem(f"the store {shown} does not show its settings: {error}", "allow CONFIG GET to its user"))
    for server in await health.look(db.servers):
        name = server.server or shown
        if server.state:
            wrong.append(Problem(f"the store {name} refuses reads or writes: {server.state}", "see docs/operations.md"))
        if abs(seconds := server.clock or 0) > CLOCK_SKEW.total_seconds():
            wrong.append(
                Problem(f"the clock of the store {name} differs by {seconds:,.0f} s", "run NTP on all machines")
            )
    if (seconds := await clocks.newest_id_ahead(db)) > CLOCK_SKEW.total_seconds():
        wrong.append(Problem(f"the newest id is {seconds:,.0f} s ahead of the clock", "see docs/runbooks.md"))
    if (layout := await versions.current(db)) < versions.NEWEST:
        wrong.append(
            Problem(f"the store {shown} has layout {layout}, not {versions.NEWEST}", "run the command migrate")
        )
    return wrong


def _of_documents(settings: Settings) -> list[Problem]:
    try:
        schema.build(settings)
    except SettingError as error:
        return [Problem(str(error), "write the manifest again with the client's tool, or unset TRUSTED_DOCUMENTS")]
    return []


def _of_addresses(settings: Settings) -> list[Problem]:
    if settings.host in LOOPBACK and not settings.public_url:
        return []  # somebody tries Perch on their own machine
    wrong = []
    parts = urlsplit(settings.public_url)
    if not settings.public_url:
        wrong.append(Problem("links in mails begin with HOST and PORT", "set PUBLIC_URL, such as https://example.org"))
    elif parts.scheme != "https" and parts.hostname not in LOOPBACK:
        wrong.append(Problem("PUBLIC_URL is not https: passwords are sent in the clear", "serve TLS at a proxy"))
    if not settings.smtp_url:
        wrong.append(Problem("no mail is sent: mails are files in DATA_DIR/mail", "set SMTP_URL"))
    if not settings.trusted_proxies and settings.host in LOOPBACK:
        wrong.append(Problem("all clients have the proxy's address, and share its limits", "set TRUSTED_PROXIES"))
    return wrong


def _of_files(settings: Settings) -> list[Problem]:
    most = most_connections(settings)
    if most == settings.max_connections:
        return []
    what = f"a process can have {most:,} connections, not MAX_CONNECTIONS of {settings.max_connections:,}"
    return [Problem(what, "raise its limit of open files: LimitNOFILE= of systemd, or ulimit -n")]


async def _of_media(settings: Settings) -> list[Problem]:
    media, where = Media(settings), settings.media_store or str(settings.data_dir / "media")
    try:
        async for _ in media.listing():
            break
    except (MediaUnavailable, MediaMissing) as error:
        return [Problem(f"pictures cannot be stored in {where}: {error}", "correct MEDIA_STORE, or AWS_ for a bucket")]
    if media.is_folder and not os.access(where, os.W_OK | os.X_OK):
        return [Problem(f"pictures cannot be stored in {where}", "let Perch's user write to this folder")]
    if not await media.has_room():
        return [Problem("uploads are refused: a disk has too little space", "make room, or lower MIN_FREE_DISK")]
    return []


async def _of_mail(settings: Settings) -> list[Problem]:
    if not settings.smtp_url:
        return []
    server = urls.smtp_server(settings.smtp_url)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(server.host, server.port)
        writer.close()
    except OSError as error:  # TimeoutError is one
        reason = error.strerror or "it does not answer"
        return [Problem(f"the mail server {server.shown} cannot be reached: {reason}", "correct SMTP_URL")]
    return []
