"""Keys of moderation. All lie in one partition, so that one script decides a case and logs the decision.

Their names begin with a word that no key of a member has.
"""

PARTITION = 0  # has all reports, cases and acts of the site; a member's keys may lie in it, too


def report(report: int) -> str:
    """hash: a report: its case, reporter, reason and note; expires `MODERATION_LOG_DAYS` after its case is resolved"""
    return f"report:{{{PARTITION}}}:{report}"


def report_messages(report: int) -> str:
    """string: the reported message and those before it, as JSON of id, sender and text; expires with the report"""
    return f"report-messages:{{{PARTITION}}}:{report}"


def evidence(message: int) -> str:
    """hash: open case with a copy of a message that has pictures → ""; the pictures, once the message is deleted"""
    return f"evidence:{{{PARTITION}}}:{message}"


def case(case: int) -> str:
    """hash: all reports of one subject until they are resolved: subject, its author, state, who resolved it; expires"""
    return f"case:{{{PARTITION}}}:{case}"


def case_reports(case: int) -> str:
    """zset: reporter → their report in a case; expires with the case"""
    return f"case-reports:{{{PARTITION}}}:{case}"


def open_cases() -> str:
    """hash: subject, such as `status:ID` → its open case"""
    return f"open-cases:{{{PARTITION}}}"


def cases(state: str) -> str:
    """zset: case in a state → number of reports while it is open, then its act; of the last `MODERATION_LOG_DAYS`"""
    return f"cases:{{{PARTITION}}}:{state}"


def moderation_log() -> str:
    """zset: name of what was done, once → its act; nothing is ever removed"""
    return f"moderation-log:{{{PARTITION}}}"


def moderation_act(act: int) -> str:
    """hash: an act of a moderator: actor, kind, subject, report, note, and the digests that chain it"""
    return f"moderation-act:{{{PARTITION}}}:{act}"


def removed_text(act: int) -> str:
    """string: text that a moderator deleted; expires after `MODERATION_LOG_DAYS`"""
    return f"removed-text:{{{PARTITION}}}:{act}"


def log_head() -> str:
    """hash: digest of the newest act in the moderation log, and how many acts it has"""
    return f"log-head:{{{PARTITION}}}"
