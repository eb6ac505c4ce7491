"""Reports, decisions and the moderation log, as tests ask for them."""

from typing import Any

from resolvers import accounts
from store.client.database import Database
from store.credentials.records import Role
from tests.support.people import Member, sign_up

SUBJECT = """subject {
  __typename ... on Node { id } ... on User { login } ... on Status { text } ... on Comment { text }
  ... on Message { text } ... on Group { name }
}"""
REPORT = f"""id reason note state reportCount createdAt reporter {{ login }} resolvedBy {{ login }} {SUBJECT}
  messages {{ id text sender {{ login }} }}"""
REPORTS = f"""query($state: ReportState, $first: Int, $after: String) {{
  reports(state: $state, first: $first, after: $after) {{
    nodes {{ {REPORT} }} edges {{ cursor }} pageInfo {{ hasNextPage endCursor }}
  }}
}}"""
ACT = f"id kind note removedText actor {{ login }} report {{ id }} {SUBJECT}"
LOG = f"""query($first: Int, $after: String) {{
  moderationLog(first: $first, after: $after) {{ nodes {{ {ACT} }} pageInfo {{ hasNextPage endCursor }} }}
}}"""
RESOLVE = "mutation($input: ResolveReportInput!) { resolveReport(input: $input) { report { id } } }"
NODE = "query($id: ID!) { node(id: $id) { __typename id } }"


async def appoint(db: Database, anonymous: Member, login: str, role: Role = Role.MODERATOR) -> Member:
    """Return a new member with a role."""
    member = await sign_up(anonymous, login)
    assert await accounts.set_role(db, login, role)
    return member


async def report(reporter: Member, subject: str, reason: str = "SPAM", **fields: Any) -> str:
    """Report something; return the id of the report."""
    payload = await reporter.do("report", f"report {{ {REPORT} }}", subjectId=subject, reason=reason, **fields)
    assert not payload["userErrors"], payload
    identity: str = payload["report"]["id"]
    return identity


async def resolve(moderator: Member, report: str, action: str, **fields: Any) -> dict[str, Any]:
    """Resolve a report; return it."""
    payload = await moderator.do("resolveReport", f"report {{ {REPORT} }}", reportId=report, action=action, **fields)
    assert not payload["userErrors"], payload
    found: dict[str, Any] = payload["report"]
    return found


async def listed(moderator: Member, state: str = "OPEN") -> list[dict[str, Any]]:
    """Return all reports in a state."""
    found: list[dict[str, Any]] = (await moderator.ask(REPORTS, state=state, first=100))["nodes"]
    return found


async def logged(moderator: Member, first: int = 100) -> list[dict[str, Any]]:
    """Return the newest acts in the moderation log, oldest first, without those of operators."""
    found: list[dict[str, Any]] = (await moderator.ask(LOG, first=first))["nodes"]
    return [act for act in reversed(found) if act["actor"]]


async def notified(member: Member, first: int = 20) -> list[str]:
    """Return the kinds of a member's notifications, newest first."""
    query = "query($first: Int) { viewer { notifications(first: $first) { nodes { kind actor { login } } } } }"
    page = await member.ask(query, first=first)
    return [node["kind"] for node in page["notifications"]["nodes"]]
