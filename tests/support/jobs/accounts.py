"""Changes of an account's names that leave a job."""

from collections.abc import Awaitable, Callable

from store import account_names, accounts, keys
from store.client.database import Database
from store.keys.fields import CredentialsField, UserField
from store.mail import tokens
from store.mail.letters import Letter, MailKind, MailLink
from store.records.jobs import Job
from store.refusals import accepted
from tests.support.scene import Scene


async def _names(db: Database, s: Scene) -> Job | None:
    await account_names.reserve(db, keys.login("anna"), s.ann)
    return accepted(await accounts.update(db, s.ann, profile={UserField.LOGIN: "anna"}, names={"login": "anna"}))


async def _name(db: Database, s: Scene) -> Job | None:
    return accepted(await accounts.update(db, s.ann, profile={UserField.NAME: "Anna"}, names={"name": "Anna"}))


async def _address(db: Database, s: Scene) -> Job | None:
    address, digest, letter = (
        "anna@example.org",
        "the digest of a token",
        Letter(kind=MailKind.VERIFICATION, member=str(s.ann)),
    )
    await db.one("HSET", keys.credentials(s.ann), CredentialsField.VERIFIED, "1")  # so the old one stays reserved
    await account_names.reserve(db, keys.email(address), s.ann, 3600)
    await tokens.send_verification(db, s.ann, address, MailLink(letter, digest, 3600))
    return accepted(await tokens.verify_email(db, s.ann, digest, letter))


async def _lost_address(db: Database, s: Scene) -> Job | None:
    return await tokens.lose_address(db, s.ann, "ann@example.org")


ACCOUNT_KINDS: dict[str, Callable[[Database, Scene], Awaitable[Job | None]]] = {
    "new login": _names,
    "new name": _name,
    "new address": _address,
    "lost address": _lost_address,
}
