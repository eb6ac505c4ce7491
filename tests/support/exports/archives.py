"""Links to exports, and what the archive behind a link contains."""

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.people import PASSWORD, Member

EXPORT = "url expiresAt"


@dataclass(frozen=True)
class Archive:
    """The archive of an export."""

    data: bytes

    def names(self) -> list[str]:
        """Return the names of all files."""
        with zipfile.ZipFile(io.BytesIO(self.data)) as opened:
            assert opened.testzip() is None
            return opened.namelist()

    def text(self, name: str) -> str:
        """Return the text of one file."""
        with zipfile.ZipFile(io.BytesIO(self.data)) as opened:
            return opened.read(name).decode()

    def entries(self, section: str) -> list[Any]:
        """Return all entries of a section."""
        files = json.loads(self.text("export.json"))["sections"][section]["files"]
        pages = [json.loads(self.text(f"data/{section}-{number + 1}.json")) for number in range(files)]
        return [entry for page in pages for entry in page]

    def kept(self, path: Path) -> Path:
        """Write the archive to a file, and return its path."""
        path.write_bytes(self.data)
        return path

    def whole(self) -> str:
        """Return the text of all files."""
        return "\n".join(map(self.text, self.names()))


async def link(member: Member) -> str:
    """Return the link to a new export."""
    payload = await member.do("exportData", EXPORT, password=PASSWORD)
    assert payload["userErrors"] == []
    url: str = payload["url"]
    return url


async def fetch(member: Member, url: str) -> tuple[int, bytes]:
    """Return status and body of a GET without a token."""
    async with member.client.get(url) as response:
        return response.status, await response.read()


async def export(member: Member) -> Archive:
    """Return a member's export."""
    status, data = await fetch(member, await link(member))
    assert status == 200
    return Archive(data)
