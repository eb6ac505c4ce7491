"""Invariants of pictures: records, the copies that posts, messages and profiles have, and lists agree."""

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Check, Finding
from store.client.database import Database
from store.upkeep import pictures as stored


async def records(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each picture is listed, is shown by what it is attached to, and waits if it is attached to nothing."""
    found: list[Finding] = []
    for one in await stored.kept(db, ids):
        upload = one.upload
        if not one.owner_exists and not one.lasts:
            found.append(
                Finding(one.key, f"its owner {upload.owner} does not exist", stored.remove_commands(db, upload))
            )
            continue
        if not one.is_shown:
            message = f"belongs to {upload.subject}, which does not show it"
            found.append(Finding(one.key, message, stored.remove_commands(db, upload)))
            continue
        if one.owner_exists and not one.is_listed:
            found.append(Finding(one.key, "is not among its owner's pictures", [stored.list_command(upload)]))
        if one.is_waiting == bool(upload.subject):
            message = "waits to be attached, and is" if upload.subject else "is attached to nothing, and not removed"
            mend = [stored.wait_command(upload, waits=not upload.subject)]
            found.append(Finding(one.key, message, mend))
    return found


def copies(kind: str) -> Check:
    """Return the check that what posts, messages or profiles show of pictures agrees with the pictures' records."""

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        return [
            Finding(one.key, f"its {one.holder[2]} differ from the pictures' records", stored.mend_copies(one))
            for one in await stored.copies(db, kind, ids)
            if one.right != one.stored or one.unlinked
        ]

    return check


async def waiting(db: Database, partitions: Sequence[int]) -> list[Finding]:
    """Each picture that waits to be attached has a record."""
    return [
        Finding(one.key, f"lists {one.image}, which does not exist", [one.removal])
        for one in await stored.waiting_without_record(db, partitions)
    ]
