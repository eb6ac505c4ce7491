"""Helpers of account tests: a sign-up form, and inputs that must be refused."""

from typing import Any

import pytest

from store.client.database import Database
from tests.support.people import PASSWORD, Member, contents
from tests.support.probes.members import number
from tests.support.stored import find

VIEWER = "viewer { email user { login name bio } }"
MEMBER = "viewer { user { id } }"

LONGEST_EMAIL = f"{'d' * 64}@{'e' * 63}.{'f' * 63}.{'g' * 57}.org"  # 254 characters


def form(**changed: str) -> dict[str, str]:
    """Return the input of a sign-up that succeeds, with some fields changed."""
    return {"login": "Dora", "name": "Dora", "email": "Dora@example.org", "password": PASSWORD, **changed}


async def users(db: Database) -> list[str]:
    """Return the keys of all members."""
    found: list[str] = await find(db, "user:*")
    return found


async def traces(db: Database, member: Member) -> set[str]:
    """Return every key that names a member or holds their id, and has no expiry."""
    found = set()
    for key, value in (await contents(db)).items():
        named = str(number(member)) in key.replace("}", ":").split(":")
        if (named or str(number(member)) in str(value)) and not key.startswith(("events:", "event-ids:")):
            found |= {key} if await db.one("TTL", key) < 0 else set()
    return found


BAD_LOGINS = [
    ("", "BLANK"),
    (" \t", "BLANK"),
    ("d" * 21, "TOO_LONG"),
    ("do ra", "INVALID"),
    (" dora", "INVALID"),
    ("dora\n", "INVALID"),
    ("do\x00ra", "INVALID"),
    ("@dora", "INVALID"),
    ("do-ra", "INVALID"),
    ("do.ra", "INVALID"),
    ("dor\u00e1", "INVALID"),
    ("дора", "INVALID"),
    ("\uff44\uff4f\uff52\uff41", "INVALID"),
    ("dora\u0661", "INVALID"),
    ("{dora}", "INVALID"),
]
BAD_NAMES = [
    ("", "BLANK"),
    (" \t\n", "BLANK"),
    ("\u200b\u3000\u2060", "BLANK"),
    ("n" * 51, "TOO_LONG"),
    ("e\u0301" * 51, "TOO_LONG"),
    ("n" * 100_000, "TOO_LONG"),
    ("Do\x00ra", "INVALID"),
    ("Do\nra", "INVALID"),
    ("Do\tra", "INVALID"),
    ("Do\x1b[31mra", "INVALID"),
    ("Do\x7fra", "INVALID"),
    ("Do\x85ra", "INVALID"),
    ("Do\u2028ra", "INVALID"),
    ("Do\u202era", "INVALID"),
    ("Do\uffffra", "INVALID"),
]
BAD_EMAILS = [
    ("", "BLANK"),
    (" \t", "BLANK"),
    (f"d{LONGEST_EMAIL}", "TOO_LONG"),
    ("d" * 100_000, "TOO_LONG"),
    ("dora", "INVALID"),
    ("dora@", "INVALID"),
    ("@example.org", "INVALID"),
    ("dora@example", "INVALID"),
    ("dora@example..org", "INVALID"),
    ("dora@-example.org", "INVALID"),
    (".dora@example.org", "INVALID"),
    ("dora@@example.org", "INVALID"),
    ("dora@example@example.org", "INVALID"),
    ("do ra@example.org", "INVALID"),
    ("dora@exam ple.org", "INVALID"),
    ("dora\n@example.org", "INVALID"),
    ("do\x00ra@example.org", "INVALID"),
    ('"do ra"@example.org', "INVALID"),
    ("Dora <dora@example.org>", "INVALID"),
    ("dora@[192.0.2.1]", "INVALID"),
    ("dora@example.org, eve@example.org", "INVALID"),
]


def rows(field: str, table: list[tuple[str, str]]) -> list[Any]:
    """Return pytest parameters of a table of refusals for one field, with distinct names."""
    return [pytest.param(field, text, code, id=f"{field} {ascii(text)[:24]}") for text, code in table]


def samples(field: str, table: list[tuple[str, str]]) -> list[Any]:
    """Return the last row of each kind of refusal, for fields where a rule is used again."""
    return rows(field, [(text, code) for code, text in {code: text for text, code in table}.items()])
