"""Helpers of promotion tests: an administrator, and timelines as a client reads them."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from resolvers import accounts
from store.client.database import Database
from store.credentials.records import Role
from tests.support.people import Member, sign_up

PAGE = """{
  edges { cursor repostedByCount repostedBy { user { id } } node { __typename ... on Node { id } } }
  nodes { ... on Node { id } }
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
}"""
TIMELINES = {
    "home": f"homeTimeline(ARGUMENTS) {PAGE}",
    "public": f"publicTimeline(ARGUMENTS) {PAGE}",
    "hashtag": f'hashtag(name: "tea") {{ timeline(ARGUMENTS) {PAGE} }}',
}
PROFILE = f'user(login: "alice") {{ timeline(ARGUMENTS) {PAGE} }}'
SUBJECT = """id sponsor { login } subject {
  __typename ... on Status { id text } ... on User { login } ... on Advertisement { title text url }
}"""
OFFER = {"title": "Tea", "text": "All you can drink", "url": "https://example.org/tea"}


def instant(**ahead: float) -> str:
    """Return an instant some time ahead, or in the past."""
    return (datetime.now(UTC) + timedelta(**ahead)).isoformat()


async def administrator(db: Database, anonymous: Member) -> Member:
    """Return a new member who is an administrator."""
    made = await sign_up(anonymous, "admin")
    assert await accounts.set_role(db, "admin", Role.ADMIN)
    return made


async def promote(admin: Member, sponsor: Member, **subject: Any) -> str:
    """Promote a subject for an hour, by default as an advertisement; returns the promotion's id."""
    payload = await admin.do(
        "createPromotion",
        "promotion { id }",
        sponsorId=sponsor.id,
        subject=subject or {"advertisement": OFFER},
        endsAt=instant(hours=1),
    )
    assert not payload["userErrors"], payload
    promotion: str = payload["promotion"]["id"]
    return promotion


@dataclass(frozen=True)
class Page:
    """A page as a client holds it; `promoted` holds the places of promotions, counted from 1."""

    ids: list[str]
    cursors: list[str]
    promoted: list[int]
    info: dict[str, Any]

    @property
    def posts(self) -> list[str]:
        return [post_id for place, post_id in enumerate(self.ids, 1) if place not in self.promoted]

    @property
    def promotions(self) -> list[str]:
        return [self.ids[place - 1] for place in self.promoted]


async def read(reader: Member, query: str, arguments: str) -> Page:
    """Return a page of a timeline, after checking what must hold of every page."""
    found = await reader.ask(f"{{ {query.replace('ARGUMENTS', arguments)} }}")
    while "edges" not in found:
        (found,) = found.values()
    edges = found["edges"]
    page = Page(
        [edge["node"]["id"] for edge in edges],
        [edge["cursor"] for edge in edges],
        [place for place, edge in enumerate(edges, 1) if edge["node"]["__typename"] == "Promotion"],
        found["pageInfo"],
    )
    assert [node["id"] for node in found["nodes"]] == page.ids
    assert len(set(page.ids)) == len(page.ids)
    for place in page.promoted:
        assert place % 10 == 0
        assert page.cursors[place - 1] == page.cursors[place - 2]
        assert (edges[place - 1]["repostedByCount"], edges[place - 1]["repostedBy"]) == (0, [])
    return page


NODE = f"query($id: ID!) {{ node(id: $id) {{ ... on Promotion {{ {SUBJECT} }} }} }}"


CREATE = "mutation($input: CreatePromotionInput!) { createPromotion(input: $input) { promotion { id } } }"
