"""The command `check`: it names each problem of a set-up with a way to fix it, and nothing where all is well."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from serving.setup import problems
from store import keys
from store.client import requirements
from store.client.database import Database
from store.layout import versions
from store.settings import Settings
from tests.support.people import Member


async def found(settings: Settings) -> list[str]:
    """Return the problems of a set-up. Each has a way to fix it."""
    listed = await problems(settings)
    assert all(problem.fix and "\n" not in problem.what + problem.fix for problem in listed)
    return [problem.what for problem in listed]


@pytest.fixture
def settings(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a store whose server may have other settings than those required."""
    monkeypatch.setattr(requirements, "REQUIRED", {"appendonly": "yes"})
    return settings


async def test_nothing_wrong(settings: Settings, db: Database) -> None:
    """On one's own machine, nothing has to be set."""
    assert await found(settings) == []


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a public address": (
        {"host": "0.0.0.0"},  # noqa: S104  what is to be found
        ["links in mails begin with HOST and PORT", "no mail is sent: mails are files in DATA_DIR/mail"],
    ),
    "no TLS": (
        {"public_url": "http://example.org", "smtp_url": "smtp://127.0.0.1:1"},
        [
            "PUBLIC_URL is not https: passwords are sent in the clear",
            "all clients have the proxy's address, and share its limits",
            "the mail server 127.0.0.1:1 cannot be reached",
        ],
    ),
    "no manifest": ({"trusted_documents": "/nowhere"}, ["TRUSTED_DOCUMENTS"]),
    "no folder": ({"media_store": "/proc/pictures"}, ["pictures cannot be stored in /proc/pictures"]),
    "little disk space": ({"min_free_disk": 1 << 30}, ["uploads are refused: a disk has too little space"]),
    "few files": ({"max_connections": 1_000_000_000}, ["a process can have "]),
}


@pytest.mark.parametrize(("changed", "expected"), WRONG.values(), ids=WRONG)
async def test_wrong_settings(settings: Settings, db: Database, changed: dict[str, Any], expected: list[str]) -> None:
    """A setting that does not fit the site or the machine is named."""
    listed = await found(replace(settings, **changed))
    assert len(listed) == len(expected)
    assert all(what.startswith(part) for what, part in zip(listed, expected, strict=True))


async def test_stores(
    settings: Settings, db: Database, alice: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is away, has other settings, an older or newer layout, or ids of a time to come is named."""
    assert f"has layout 1, not {versions.NEWEST}" in (await found(settings))[0]
    await versions.finish(db, versions.NEWEST + 1)
    assert f"this Perch knows layouts up to {versions.NEWEST}" in (await found(settings))[0]
    await db.one("DEL", keys.layout())
    await versions.finish(db, versions.NEWEST)
    monkeypatch.setattr(requirements, "REQUIRED", {"appendonly": "perhaps"})
    assert (await found(settings))[0].endswith("has appendonly yes")
    monkeypatch.setattr(requirements, "REQUIRED", {"appendonly": "yes"})
    await db.ask(("SET", keys.minted(0), 1 << 50))
    assert "the newest id is" in (await found(settings))[0]
    (away,) = await found(replace(settings, redis_url=f"unix://{tmp_path}/none.sock"))
    assert "cannot be used" in away
