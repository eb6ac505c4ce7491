"""Addresses that an account has had for VERIFICATION_HOURS without verifying them: others may take them over.

Otherwise anybody could keep a stranger's address by signing up with it.
"""

import time

from resolvers.jobs import dispatch
from store import account_names, accounts
from store.client.database import Database
from store.mail import tokens


async def has_lapsed(db: Database, key: str) -> bool:
    """Return whether an address is held by an account that may lose it; `key` is its reservation."""
    return await _lapsed(db, key) is not None


async def release(db: Database, key: str) -> bool:
    """Take an address from the account that may lose it; False if there is none.

    The account stays as it is otherwise: its member logs in by login, and can set another address. The address is
    then free for whoever reserves it first. Where the job is left to a worker, it is free once that has done it.
    """
    lapsed = await _lapsed(db, key)
    job = await tokens.lose_address(db, *lapsed) if lapsed else None
    if job is None:
        return False
    await dispatch.finish(db, job)
    return True


async def _lapsed(db: Database, key: str) -> tuple[int, str] | None:
    """Return the member who may lose an address, and the address as they have it."""
    member = await account_names.holder(db, key)
    if member is None or account_names.unverified_until(db, member) > time.time():
        return None
    stored = await accounts.credentials(db, member)
    if stored is None or stored.is_verified or account_names.email_reservation(stored.email) != key:
        return None
    return member, stored.email
