"""Promotions: their records and the list of running ones agree."""

from collections.abc import Sequence

from store import keys
from store.client.database import Database
from store.promotions import Promotion
from store.records.lists import read_pairs
from store.upkeep.findings import Finding, ask_each

_PREFIX = keys.promotion_prefix()


async def promotions(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each running promotion is listed, and each listed promotion exists and is listed with its end."""
    ids = {int(key.removeprefix(_PREFIX)) for key in found if key.startswith(_PREFIX)}
    if keys.promotions() in found:
        ids |= set(map(int, await db.one("ZRANGE", keys.promotions(), 0, -1)))
    looks = {one: [("HGETALL", keys.promotion(one)), ("ZSCORE", keys.promotions(), one)] for one in ids}
    return [
        finding
        for one, (fields, ends) in await ask_each(db, looks)
        for finding in _findings(one, read_pairs(fields), None if ends is None else int(ends))
    ]


def _findings(one: int, fields: dict[str, str], listed: int | None) -> list[Finding]:
    """Return what is wrong with a promotion that is listed as running until a time, None if it is not listed."""
    key, unlist = keys.promotion(one), [("ZREM", keys.promotions(), one)]
    try:
        promotion = Promotion.read(one, fields)
    except (KeyError, ValueError):
        return [Finding(key, "cannot be read")]
    if promotion is None:
        return [Finding(key, "is listed and gone", unlist)] if listed is not None else []
    if promotion.runs and listed != promotion.ends:
        mend = [("ZADD", keys.promotions(), promotion.ends, one)]
        return [Finding(key, f"ends at {promotion.ends}, is listed with {listed}", mend)]
    if listed is not None and listed != promotion.ends:
        return [Finding(key, "is listed and has ended", unlist)]
    return []
