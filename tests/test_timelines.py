"""Timelines: whose posts stand where, page by page."""

from __future__ import annotations

from resolvers.context import Services
from tests.conftest import Member, sign_up

HOME_PAGE = """
{ homeTimeline(first: 30) {
    edges { cursor repostedByCount repostedBy(first: 3) { user { login } repostedAt }
      node { __typename ... on Post {
        id text createdAt likeCount repostCount quoteCount commentCount viewerHasLiked viewerHasReposted
        author { id login name viewerIsFollowing }
        ... on Repost { original { id text likeCount viewerHasLiked author { login name } } }
      } } }
    pageInfo { hasNextPage endCursor } } }
"""


async def test_a_home_page_of_30_takes_four_round_trips(services: Services, anonymous: Member, alice: Member) -> None:
    """Posts, authors, counts, flags, sources and one level of quotes cost four round trips, however many there are."""
    authors = [await sign_up(anonymous, f"author{i}") for i in range(6)]
    stranger = await sign_up(anonymous, "stranger")
    await alice.follow(*authors)
    for i, author in enumerate(authors * 5):
        post = await author.post(f"post {i}")
        foreign = await stranger.post(f"foreign {i}")
        await authors[(i + 1) % 6].repost(post)
        await author.repost(foreign)
        await author.repost(foreign, "look at this")
    services.db.round_trips = 0
    page = await alice.ask(HOME_PAGE)
    assert len(page["edges"]) == 30
    assert any(edge["repostedByCount"] for edge in page["edges"])
    assert services.db.round_trips == 4
