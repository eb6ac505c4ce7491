"""Promotions: posts, members and advertisements that sponsors pay to show.

All keys of promotions are in one hash slot, so each change is one script.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import PromotionField
from store.records.lists import Fields, read_pairs
from store.refusals import Refusal, refused

LAST: Command = ("ZRANGE", keys.promotions(), "+inf", "-inf", "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES")


@dataclass(frozen=True, slots=True)
class Advertisement:
    """A sponsor's own title, text and link."""

    title: str
    text: str
    url: str


@dataclass(frozen=True, slots=True)
class Promotion:
    """A paid promotion of one status, one member or one advertisement.

    `ends` is in ms since 1970, or 0 if the promotion was ended early.
    """

    id: int
    sponsor: int
    ends: int
    status: int | None = None
    member: int | None = None
    advertisement: Advertisement | None = None

    @property
    def runs(self) -> bool:
        return self.ends > _now()

    @classmethod
    def read(cls, promotion: int, fields: Fields) -> "Promotion | None":
        """Return a promotion from its hash, None when there is none; raises KeyError or ValueError for a broken one."""
        return _read(promotion, fields) if fields else None


def _read(promotion: int, fields: Fields) -> Promotion:
    sponsor, ends = int(fields[PromotionField.SPONSOR]), int(fields[PromotionField.ENDS])
    if PromotionField.STATUS in fields:
        return Promotion(promotion, sponsor, ends, status=int(fields[PromotionField.STATUS]))
    if PromotionField.MEMBER in fields:
        return Promotion(promotion, sponsor, ends, member=int(fields[PromotionField.MEMBER]))
    words = Advertisement(fields[PromotionField.TITLE], fields[PromotionField.TEXT], fields[PromotionField.URL])
    return Promotion(promotion, sponsor, ends, advertisement=words)


async def create(
    db: Database, *, sponsor: int, ends: int, subject: Mapping[str, str | int], promotion: int | None = None
) -> Promotion | Literal[Refusal.FULL]:
    """Commit a promotion, unless `MAX_PROMOTIONS` run. Its id, if given, was minted before.

    `subject` has the field `STATUS`, or `MEMBER`, or `TITLE`, `TEXT` and `URL`.
    """
    promotion = promotion or await db.mint()
    fields = {PromotionField.SPONSOR: sponsor, **subject}
    reply = await db.call(
        "create_promotion",
        promotions=keys.promotions(),
        record=keys.promotion(promotion),
        promotion=promotion,
        now=_now(),
        max_promotions=db.settings.max_promotions,
        ends=ends,
        fields=[part for pair in fields.items() for part in pair],
    )
    stored = {field: str(value) for field, value in {**fields, PromotionField.ENDS: ends}.items()}
    return refused(reply) or _read(promotion, stored)


async def end(db: Database, promotion: int) -> Promotion | Literal[Refusal.GONE]:
    """End a promotion permanently and return it."""
    reply = await db.call(
        "end_promotion", promotions=keys.promotions(), record=keys.promotion(promotion), promotion=promotion
    )
    return refused(reply) or _read(promotion, read_pairs(reply))


async def promotion(db: Database, promotion: int) -> Promotion | None:
    """Return one promotion."""
    return Promotion.read(promotion, read_pairs(await db.one(*promotion_command(promotion))))


def promotion_command(promotion: int) -> Command:
    """Return the command that reads a promotion's hash."""
    return ("HGETALL", keys.promotion(promotion))


def read_last(reply: Sequence[Any]) -> int:
    """Return when the last promotion ends, in ms since 1970, from the reply to `LAST`; 0 without promotions."""
    if not reply:
        return 0
    last = reply[-1]  # RESP2: the end; RESP3: a pair of promotion and end
    return int(float(last[1] if isinstance(last, list) else last))


def are_running(last: int) -> bool:
    """Return whether any promotion runs, given when the last one ends, in ms since 1970."""
    return last > _now()


def running(seed: int, count: int) -> Command:
    """Return the command that reads `count` running promotions; if there are more, the seed selects them."""
    return script(
        "running_promotions",
        promotions=keys.promotions(),
        now=_now(),
        seed=seed,
        count=count,
        record_prefix=keys.promotion_prefix(),
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
