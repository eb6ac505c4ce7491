"""Invariants of promotions."""

from resolvers.upkeep.invariants.findings import Finding
from store.client.database import Database
from store.promotions import Promotion
from store.upkeep import promotions as stored
from store.upkeep.promotions import PromotionFacts
from store.upkeep.scanning import KeyBatch


async def promotions(db: Database, found: KeyBatch) -> list[Finding]:
    """Each running promotion is listed, and each listed promotion exists and is listed with its end."""
    ids = set(found.promotions)
    if found.has_running_promotions:
        ids |= await stored.listed(db)
    findings = [_finding(facts) for facts in await stored.facts(db, ids)]
    return [finding for finding in findings if finding]


def _finding(facts: PromotionFacts) -> Finding | None:
    unlist = [stored.unlist(facts.id)]
    try:
        promotion = Promotion.read(facts.id, facts.fields)
    except (KeyError, ValueError):
        return Finding(facts.key, "cannot be read")
    if promotion is None:
        return Finding(facts.key, "is listed and gone", unlist) if facts.listed is not None else None
    if promotion.runs and facts.listed != promotion.ends:
        message = f"ends at {promotion.ends}, is listed with {facts.listed}"
        return Finding(facts.key, message, [stored.enlist(facts.id, promotion.ends)])
    if facts.listed is not None and facts.listed != promotion.ends:
        return Finding(facts.key, "is listed and has ended", unlist)
    return None
