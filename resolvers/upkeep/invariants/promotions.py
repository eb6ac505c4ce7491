"""Invariants of promotions."""

from __future__ import annotations

from collections.abc import Sequence

from resolvers.upkeep.invariants.findings import Finding
from store import keys
from store.client.database import Command, Database
from store.promotions import Promotion
from store.records import read_pairs


async def promotions(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each running promotion is listed, and each listed promotion exists and is listed with its end."""
    prefix = keys.promotion_prefix()
    things = {int(key.removeprefix(prefix)) for key in found if key.startswith(prefix)}
    if keys.promotions() in found:
        things |= {int(thing) for thing in await db.one("ZRANGE", keys.promotions(), 0, -1)}
    replies = await db.ask(*(("HGETALL", keys.promotion(thing)) for thing in things))
    listed = await db.ask(*(("ZSCORE", keys.promotions(), thing) for thing in things))
    findings = (
        _finding(thing, read_pairs(reply), None if score is None else int(score))
        for thing, reply, score in zip(things, replies, listed, strict=True)
    )
    return [finding for finding in findings if finding]


def _finding(thing: int, fields: dict[str, str], listed: int | None) -> Finding | None:
    unlist: Command = ("ZREM", keys.promotions(), thing)
    try:
        promotion = Promotion.read(thing, fields)
    except (KeyError, ValueError):
        return Finding(keys.promotion(thing), "cannot be read")
    if promotion is None:
        return Finding(keys.promotion(thing), "is listed and gone", (unlist,)) if listed is not None else None
    if promotion.runs and listed != promotion.ends:
        relist: Command = ("ZADD", keys.promotions(), promotion.ends, thing)
        return Finding(keys.promotion(thing), f"ends at {promotion.ends}, is listed with {listed}", (relist,))
    if listed is not None and listed != promotion.ends:
        return Finding(keys.promotion(thing), "is listed and has ended", (unlist,))
    return None
