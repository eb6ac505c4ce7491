"""Writes a member's export to a file, for an operator."""

import contextlib
from pathlib import Path

from resolvers.accounts import find
from resolvers.archives import archive
from resolvers.archives.viewing import Export
from resolvers.process.services import Services
from resolvers.upkeep.commands import UpkeepRefused, new_file
from store import accounts
from store.client.database import MemberGone


async def write(services: Services, login: str, path: Path | None) -> str:
    """Write the export of the member with a login (default: to `perch-LOGIN.zip`); returns a line that says where.

    Raises UpkeepRefused without such a member, or if the file exists. An export that fails leaves no file.
    """
    number = await find(services.db, login)
    member = await accounts.user(services.db, number) if number else None
    if member is None:
        raise UpkeepRefused(f"no member has the login {login!r}")
    target = path or Path(f"perch-{login.lower()}.zip")
    export = Export(services, member.id, is_suspended=member.is_suspended)
    try:
        with new_file(target) as file:
            async with contextlib.aclosing(archive.stream(export, login)) as pieces:
                async for piece in pieces:
                    file.write(piece)
            size = file.tell()
    except MemberGone as error:
        raise UpkeepRefused(f"{login} was deleted meanwhile") from error
    return f"{target} has the export of {login}: {size:,} bytes"
