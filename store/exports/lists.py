"""Lists of a member that an export reads, oldest entry first, a page at a time."""

from collections.abc import Sequence

from store import keys
from store.client.database import Command
from store.records.lists import Published
from store.timelines import read_published


def read_places(reply: Sequence[str]) -> list[int]:
    """Return only the scores from the reply to `page_command`, for lists whose entries are more than an id."""
    return [int(place) for place in reply[1::2]]


def read_profile_page(reply: Sequence[str]) -> list[Published]:
    """Return the entries of a profile from the reply to `page_command`."""
    return [read_published(text) for text in reply[::2]]


def invited_command(member: int) -> Command:
    """Return the command that reads the groups that a member is invited to, with who invited them."""
    return ("ZRANGE", keys.invited(member), 0, -1, "WITHSCORES")


def former_logins_command(member: int) -> Command:
    """Return the command that reads the logins that a member gave up, each with the time (s since 1970)."""
    return ("ZRANGE", keys.former_logins(member), 0, -1, "WITHSCORES")


def comments_by_command(post: int, member: int) -> Command:
    """Return the command that reads the comments of one member on a post."""
    return ("ZRANGE", keys.commenters(post), member, member, "BYSCORE")


def scan_cases_command(state: str, cursor: str, count: int) -> Command:
    """Return the command that reads some of the cases in a state; its reply has the next cursor, "0" at the end."""
    return ("ZSCAN", keys.cases(state), cursor, "COUNT", count)


def report_in_case_command(case: int, member: int) -> Command:
    """Return the command that reads a member's report in a case, None without one."""
    return ("ZSCORE", keys.case_reports(case), member)
