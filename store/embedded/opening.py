"""Opens the database that the settings name, and reads the secret that signs tokens."""

import asyncio
import contextlib
import math
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import structlog

from store.client import requirements
from store.client.database import Database, Unavailable
from store.embedded import cluster
from store.embedded.attach import Attachment, attach
from store.embedded.cluster import ClusterAttachment, attach_cluster
from store.embedded.launch import EmbeddedStoreError, StartOptions, Waits, nobody_waits
from store.layout import processes, versions
from store.settings import SECRET_LENGTH, Settings
from store.settings.declaring import SettingError

COMMAND_PATIENCE = 5.0  # s that a command waits for a server that cannot be reached; what serves waits for ever
RETRY_SECONDS = (0.5, 10.0)  # first and longest pause between attempts to reach Redis, and to start a process again

log = structlog.get_logger()


@contextlib.asynccontextmanager
async def database(
    settings: Settings, waits: Waits = nobody_waits, patience: float = math.inf
) -> AsyncIterator[Database]:
    """Attach to the embedded store, or connect to the server of REDIS_URL, waiting until it can be reached.

    `waits` is told again and again that this goes on. The secret key is among the database's settings, also if a file
    has it.
    Raises EmbeddedStoreError, SettingError, UnsupportedServer, UnsupportedLayout; and Unavailable after so many seconds
    of patience.
    """
    held = None if settings.redis_url else await _attached(settings, waits)
    settings = replace(settings, secret_key=secret(settings))
    db = Database(held.url if held else settings.redis_url, settings)
    try:
        log.debug("store_ready", store=await _reach(db, waits, patience))
        async with processes.announced(db):  # before the layout is checked, as `finish_partition` relies on
            await versions.check(db)
            yield db
    finally:
        await db.close()
        if held:
            await held.close()


async def _attached(settings: Settings, waits: Waits) -> Attachment | ClusterAttachment:
    options = StartOptions(settings.appendfsync, settings.damaged_end_mib << 20, settings.min_free_disk << 20)
    nodes = cluster.size(settings.data_dir, settings.store_nodes)
    if nodes == 1:
        return await attach(settings.data_dir, options, waits=waits)
    return await attach_cluster(settings.data_dir, nodes, options, waits=waits)


async def _reach(db: Database, waits: Waits, patience: float) -> str:
    """Wait until the server executes commands, reporting each failure on standard error; returns its name and version.

    A server that loads its data already says its name, and takes scripts. That is worth any wait.
    """
    pause, longest = RETRY_SECONDS
    last = time.monotonic() + patience
    while True:
        try:
            name = await requirements.check_version(db)
            await db.load_scripts()
            await versions.current(db)  # refused while data is loaded
        except Unavailable as error:
            if error.state != "LOADING" and time.monotonic() + pause > last:
                raise Unavailable(f"the store cannot be reached: {error}", error.state) from error
            if error.state == "LOADING" or patience == math.inf:
                print(f"perch: Redis cannot be reached ({error}); next try in {pause:g} s", file=sys.stderr, flush=True)  # noqa: T201  the operator waits for it
            waits(f"Redis cannot be reached: {error}".__str__)
            await asyncio.sleep(pause)
            pause = min(pause * 2, longest)
        else:
            return name


def secret(settings: Settings) -> str:
    """Return the secret that signs tokens: SECRET_KEY, or else the file in the data directory.

    The first process creates the file.
    Raises SettingError when the file holds no secret, EmbeddedStoreError when it cannot be read or created.
    """
    if settings.secret_key:
        return settings.secret_key
    path = settings.data_dir / "secret.key"
    try:
        if not path.exists():  # checked first, since on a full disk even a draft cannot be written
            _make_secret(path)
        kept = path.read_text(errors="replace").strip()
    except OSError as error:
        raise EmbeddedStoreError(f"{path}: cannot keep the secret key here: {error.strerror or error}") from error
    if len(kept) < SECRET_LENGTH:
        raise SettingError(f"{path} holds no secret of {SECRET_LENGTH} characters or more; remove it to have one made")
    return kept


def _make_secret(path: Path) -> None:
    # Written to a draft and then hard-linked: of several processes one wins, and none reads a partial secret.
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    try:
        with draft.open("w") as file:
            file.write(secrets.token_urlsafe(SECRET_LENGTH))
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the name without the secret
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink()
