"""Sessions as the session check of each operation reads them."""

from __future__ import annotations

from store import keys
from store.client.database import Command, Database
from store.keys.fields import CredentialsField


def session_commands(member: int, session: str) -> list[Command]:
    """Return the commands that read a session's text, then the role and suspension of its member."""
    return [
        ("HGET", keys.sessions(member), session),
        ("HMGET", keys.credentials(member), CredentialsField.ROLE, CredentialsField.SUSPENDED),
    ]


async def session_text(db: Database, member: int, session: str) -> str | None:
    """Return a session as it is stored, None when it has ended; one round trip."""
    text: str | None = await db.one("HGET", keys.sessions(member), session)
    return text
