"""Promotions: their records, and the list of running ones."""

from collections.abc import Collection

from msgspec import Struct

from store import keys
from store.client.database import Command, Database
from store.records.lists import read_pairs


class PromotionFacts(Struct, frozen=True):
    """A promotion's fields, and the end with which it is listed as running, None if it is not."""

    id: int
    key: str
    fields: dict[str, str]
    listed: int | None


async def listed(db: Database) -> set[int]:
    """Return the promotions that are listed as running. One round trip."""
    return {int(promotion) for promotion in await db.one("ZRANGE", keys.promotions(), 0, -1)}


async def facts(db: Database, promotions: Collection[int]) -> list[PromotionFacts]:
    """Return the facts about some promotions, existing or not. Two round trips."""
    replies = await db.ask(*(("HGETALL", keys.promotion(promotion)) for promotion in promotions))
    ends = await db.ask(*(("ZSCORE", keys.promotions(), promotion) for promotion in promotions))
    return [
        PromotionFacts(promotion, keys.promotion(promotion), read_pairs(reply), None if end is None else int(end))
        for promotion, reply, end in zip(promotions, replies, ends, strict=True)
    ]


def enlist(promotion: int, ends: int) -> Command:
    """Return the command that lists a promotion as running until its end, in ms since 1970."""
    return ("ZADD", keys.promotions(), ends, promotion)


def unlist(promotion: int) -> Command:
    """Return the command that removes a promotion from the list of running ones."""
    return ("ZREM", keys.promotions(), promotion)
