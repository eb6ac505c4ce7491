"""Keys of moderation. All lie in one partition, so that one script decides a case and logs the decision.

Their names begin with a word that no key of a member has.
"""

from store.keys.declaring import owned_by

PARTITION = 0  # has all reports, cases and acts of the site; a member's keys may lie in it, too

_report = owned_by("report", PARTITION)
_message = owned_by("message", PARTITION)
_case = owned_by("case", PARTITION)
_act = owned_by("act", PARTITION)

report = _report("report")
"""hash: a report: its case, reporter, reason and note; expires `MODERATION_LOG_DAYS` after its case is resolved"""
report_messages = _report("report_messages")
"""string: the reported message and those before it, as JSON of id, sender and text; expires with the report"""
evidence = _message("evidence")
"""hash: open case with a copy of a message that has pictures → ""; the pictures, once the message is deleted"""
case = _case("case")
"""hash: all reports of one subject until they are resolved: subject, its author, state, who resolved it; expires"""
case_reports = _case("case_reports")
"""zset: reporter → their report in a case; expires with the case"""


def open_cases() -> str:
    """hash: subject, such as `status:ID` → its open case"""
    return f"open-cases:{{{PARTITION}}}"


def cases(state: str) -> str:
    """zset: case in a state → number of reports while it is open, then its act; of the last `MODERATION_LOG_DAYS`"""
    return f"cases:{{{PARTITION}}}:{state}"


def moderation_log() -> str:
    """zset: name of what was done, once → its act; nothing is ever removed"""
    return f"moderation-log:{{{PARTITION}}}"


moderation_act = _act("moderation_act")
"""hash: an act of a moderator: actor, kind, subject, report, note, and the digests that chain it"""
removed_text = _act("removed_text")
"""string: text that a moderator deleted; expires after `MODERATION_LOG_DAYS`"""


def log_head() -> str:
    """hash: digest of the newest act in the moderation log, and how many acts it has"""
    return f"log-head:{{{PARTITION}}}"
