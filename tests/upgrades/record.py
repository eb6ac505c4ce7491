"""Records a store that a version of Perch writes: `python -m tests.upgrades.record FOLDER NAME`.

The folder has that version, such as `git worktree add /tmp/older COMMIT` makes. The name begins with its date.
"""

import asyncio
import base64
import contextlib
import os
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

from graphql import build_schema

from store import keys
from store.client.database import Database
from tests.support.people import PASSWORD, Member
from tests.support.servers.processes import SMALL, Perch, connected, redis, until, visiting
from tests.support.stored import find
from tests.upgrades import stores
from tests.upgrades.acts import SETTINGS, VIEWERS, Community, entered
from tests.upgrades.documents import document, hashtag_document
from tests.upgrades.stores import OldStore, Seen

LIMITS = {"max_tokens": 100_000, "max_cost": 100_000_000, "max_aliases": 1_000, "max_body": 1 << 20}
TAGS = ("tea", "cats", "你好", "spam", "secret")


async def record(folder: Path, name: str) -> None:
    """Let the version in a folder make the community, and write its store into a file."""
    with tempfile.TemporaryDirectory() as made:
        data = Path(made)
        async with redis(data / "store") as server:
            await server.start()
            chosen = {**SMALL, **SETTINGS, **LIMITS, **server.settings, "data_dir": data / "data"}
            environment = os.environ | {name.upper(): str(value) for name, value in chosen.items()}
            async with connected(server.settings["redis_url"]) as db:
                await until(db.ready)
                async with _serving(folder, environment) as anonymous:
                    seen = await _live(folder, environment, anonymous, db)
                files = [path for path in (data / "data" / "media").rglob("*") if path.is_file()]
                objects = {
                    str(path.relative_to(data / "data" / "media")): base64.b64encode(path.read_bytes()).decode()
                    for path in files
                }
                stores.save(name, OldStore(_version(folder), await stores.dump(db), objects, seen))


async def _live(folder: Path, environment: dict[str, str], anonymous: Member, db: Database) -> list[Seen]:
    async def appoint(login: str) -> None:
        await asyncio.to_thread(_run, folder, environment, "set-role", login, "ADMIN")

    async def settle() -> None:
        await until(lambda: _is_idle(db))

    schema = build_schema(await asyncio.to_thread(_run, folder, environment, "print-schema"))
    community = Community(anonymous, schema, appoint, settle)
    await community.make()
    seen: list[Seen] = []
    for login in VIEWERS:
        member = await entered(anonymous, identifier=login, password=PASSWORD)
        seen.append(await stores.look(member, document(schema), ids=sorted(community.made.values())))
        seen += [await stores.look(member, hashtag_document(schema), name=tag) for tag in TAGS]
    return seen


def _run(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, str(folder / "server.py"), *arguments]
    ran = subprocess.run(  # noqa: S603  the version that is asked for
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return ran.stdout


def _version(folder: Path) -> str:
    command = ["git", "-C", str(folder), "log", "-1", "--format=%h of %cs"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603


@contextlib.asynccontextmanager
async def _serving(folder: Path, environment: dict[str, str]) -> AsyncIterator[Member]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, folder / "server.py", "serve", cwd=folder, env=environment, stdout=PIPE, stderr=PIPE
    )
    running = Perch(process)
    try:
        async with visiting(await running.url()) as anonymous:
            yield anonymous
    finally:
        await running.stop()
        await running.out.all()
        await running.err.all()


async def _is_idle(db: Database) -> bool:
    """Return whether no job is left."""
    streams = await find(db, f"{keys.stem(keys.jobs)}*")
    return not any(await db.ask(*(("XLEN", key) for key in streams)))


if __name__ == "__main__":
    asyncio.run(record(Path(sys.argv[1]).resolve(), sys.argv[2]))
