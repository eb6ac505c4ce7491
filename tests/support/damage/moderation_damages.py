"""Damages to reports, cases and the moderation log."""

from store import keys
from store.keys.fields import LogHeadField, ModerationActField
from tests.support.damage.site import GHOST, Damage

OPEN = keys.cases("OPEN")

MODERATION = [
    Damage(
        "case of a report gone",
        lambda s: keys.report(s.report),
        lambda s: [("DEL", keys.case(s.case), keys.case_reports(s.case))],
    ),
    Damage("record of a case gone", lambda s: keys.case_reports(s.case), lambda s: [("DEL", keys.case(s.case))]),
    Damage(
        "report that its case does not list",
        lambda s: keys.report(s.report),
        lambda s: [("ZREM", keys.case_reports(s.case), s.ann), ("ZREM", OPEN, s.case)],
    ),
    Damage(
        "copy of messages without a report",
        lambda _: keys.report_messages(GHOST),
        lambda _: [("SET", keys.report_messages(GHOST), "[]")],
    ),
    Damage(
        "resolved case among the open ones", lambda s: keys.case(s.settled), lambda s: [("ZADD", OPEN, 1, s.settled)]
    ),
    Damage(
        "resolved case that never expires",
        lambda s: keys.case(s.settled),
        lambda s: [("PERSIST", keys.case(s.settled))],
    ),
    Damage(
        "unknown case in the list of dismissed ones",
        lambda _: keys.cases("DISMISSED"),
        lambda s: [("ZADD", keys.cases("DISMISSED"), s.act, GHOST)],
    ),
    Damage(
        "removed text that never expires",
        lambda s: keys.removed_text(s.removal),
        lambda s: [("PERSIST", keys.removed_text(s.removal))],
    ),
]

CHANGED_LOG = [
    Damage(
        "changed act",
        lambda s: keys.moderation_act(s.act),
        lambda s: [("HSET", keys.moderation_act(s.act), ModerationActField.NOTE, "nothing")],
    ),
    Damage(
        "changed actor",
        lambda s: keys.moderation_act(s.act),
        lambda s: [("HSET", keys.moderation_act(s.act), ModerationActField.ACTOR, s.ben)],
    ),
    Damage(
        "changed removed text",
        lambda s: keys.removed_text(s.removal),
        lambda s: [("SET", keys.removed_text(s.removal), "nothing", "KEEPTTL")],
    ),
    Damage(
        "number of acts", lambda _: keys.log_head(), lambda _: [("HINCRBY", keys.log_head(), LogHeadField.COUNT, 1)]
    ),
    Damage(
        "act that is not in the log",
        lambda _: keys.moderation_act(GHOST),
        lambda _: [("HSET", keys.moderation_act(GHOST), ModerationActField.ACTOR, 1)],
    ),
]
