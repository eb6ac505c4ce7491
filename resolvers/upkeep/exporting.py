"""Writes a member's export to a file, for an operator."""

import contextlib
import os
from pathlib import Path

from resolvers.accounts import find
from resolvers.archives import archive
from resolvers.archives.viewing import Export
from resolvers.process.services import Services
from resolvers.upkeep.commands import UpkeepRefused
from store import accounts
from store.client.database import MemberGone
from store.records.members import User

OWNER_ONLY = 0o600  # permissions of the file


async def write(services: Services, login: str, path: Path | None) -> str:
    """Write the export of the member with a login (default: to `perch-LOGIN.zip`); returns a line that says where.

    Raises UpkeepRefused without such a member, or if the file exists. An export that fails leaves no file.
    """
    number = await find(services.db, login)
    member = await accounts.user(services.db, number) if number else None
    if member is None:
        raise UpkeepRefused(f"no member has the login {login!r}")
    target = path or Path(f"perch-{login.lower()}.zip")
    try:
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        raise UpkeepRefused(f"{target} exists already") from None
    try:
        size = await _fill(services, member, login, opened)
    except BaseException as error:
        target.unlink()
        if isinstance(error, MemberGone):
            raise UpkeepRefused(f"{login} was deleted meanwhile") from error
        raise
    return f"{target} has the export of {login}: {size:,} bytes"


async def _fill(services: Services, member: User, login: str, opened: int) -> int:
    export = Export(services, member.id, is_suspended=member.is_suspended)
    with open(opened, "wb") as file:  # noqa: ASYNC230  local disk; nobody else waits for this process
        async with contextlib.aclosing(archive.stream(export, login)) as pieces:
            async for piece in pieces:
                file.write(piece)
        return file.tell()
