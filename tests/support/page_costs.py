"""The pages whose round trips are counted, and how they are counted."""

from typing import Any

from resolvers.process.services import Services
from tests.support.people import Member

PAGE = 30


MEMBER = """
  id login name isPrivate isSuspended followerCount viewerIsFollowing isFollowingViewer isMutual
  viewerHasRequestedFollow viewerHasBlocked viewerHasMuted
"""


POST = f"""
  __typename ... on Post {{
    id text createdAt hashtags likeCount repostCount quoteCount commentCount replyCount
    viewerHasLiked viewerHasReposted viewerHasFavourited
    author {{ {MEMBER} }}
    ... on Repost {{ original {{
      id text likeCount viewerHasLiked viewerHasReposted viewerHasFavourited author {{ {MEMBER} }} }} }} }}
"""


EDGES = f"""
  edges {{ cursor repostedByCount repostedBy(first: 3) {{ user {{ {MEMBER} }} repostedAt }} node {{ {POST} }} }}
  pageInfo {{ hasNextPage hasPreviousPage endCursor }}
"""


HOME = f"query($after: String) {{ homeTimeline(first: {PAGE}, after: $after) {{ {EDGES} }} }}"


PUBLIC = f"query($after: String) {{ publicTimeline(first: {PAGE}, after: $after) {{ {EDGES} }} }}"


async def cost(services: Services, viewer: Member, query: str, **variables: Any) -> tuple[Any, int]:
    """Return the list that a query asks for, and its round trips; the query's text has been parsed before."""
    await Member(viewer.client).send(query, **variables)
    services.db.round_trips = 0
    answer = await viewer.ask(query, **variables)
    trips = services.db.round_trips
    while "edges" not in answer:
        answer = next(iter(answer.values()))
    return answer, trips
