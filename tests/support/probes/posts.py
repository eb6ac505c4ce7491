"""Helpers of post tests: a post, its counts and lists, and the timelines it is in."""

from typing import Any

from tests.support.people import Member

COUNTS = "likeCount repostCount quoteCount commentCount"
POST = f"""
__typename id text createdAt {COUNTS} viewerHasLiked viewerHasReposted hashtags mentions {{ login }}
author {{ id login postCount }}
"""
NODES = "nodes { ... on Node { id } }"


async def seen(member: Member, post_id: str, selection: str = POST) -> Any:
    """Return a post as a member sees it, None if the member sees none."""
    return await member.ask(f"query($id: ID!) {{ node(id: $id) {{ ... on Post {{ {selection} }} }} }}", id=post_id)


async def counts(member: Member, post_id: str) -> tuple[int, int, int, int]:
    """Return a post's like, plain repost, quote and comment counts."""
    post = await seen(member, post_id, COUNTS)
    return post["likeCount"], post["repostCount"], post["quoteCount"], post["commentCount"]


async def listed(member: Member, post_id: str, field: str) -> list[str]:
    """Return the ids in one of a post's lists."""
    post = await seen(member, post_id, f"list: {field}(first: 100) {{ nodes {{ id }} }}")
    return [node["id"] for node in post["list"]["nodes"]]


async def profile(member: Member, login: str) -> tuple[int, list[str]]:
    """Return a member's post count and post ids."""
    query = f"query($l: String!) {{ user(login: $l) {{ postCount timeline(first: 100) {{ {NODES} }} }} }}"
    user = await member.ask(query, l=login)
    return user["postCount"], [node["id"] for node in user["timeline"]["nodes"]]


async def public(member: Member) -> list[str]:
    """Return the ids of the public timeline."""
    page = await member.ask(f"{{ publicTimeline(first: 100) {{ {NODES} }} }}")
    return [node["id"] for node in page["nodes"]]


async def tagged(member: Member, name: str) -> tuple[int, list[str]] | None:
    """Return a hashtag's post count and post ids, None for a hashtag without posts."""
    query = f"query($n: String!) {{ hashtag(name: $n) {{ postCount timeline(first: 100) {{ {NODES} }} }} }}"
    tag = await member.ask(query, n=name)
    return tag and (tag["postCount"], [node["id"] for node in tag["timeline"]["nodes"]])


async def delete(member: Member, post_id: str) -> None:
    """Delete a post of the member's own."""
    payload = await member.do("deletePost", "deletedPostId", postId=post_id)
    assert payload == {"deletedPostId": post_id, "userErrors": []}


async def hide(member: Member, post: str) -> None:
    payload = await member.do("hidePost", "post { isHidden }", postId=post)
    assert payload == {"post": {"isHidden": True}, "userErrors": []}


async def unhide(member: Member, post: str) -> None:
    payload = await member.do("unhidePost", "post { isHidden }", postId=post)
    assert payload == {"post": {"isHidden": False}, "userErrors": []}
