"""Helpers of tests of groups: creating them, changing who is in them, and reading what they show."""

from typing import Any

from tests.support.people import Member

GROUP = """id name description kind memberCount viewerRole viewerHasRequestedToJoin
  members(first: 100) { edges { node { login } role } } joinRequests(first: 100) { nodes { login } }"""
KINDS = ("PUBLIC", "PRIVATE", "ANNOUNCEMENT")
PROFILE = """query($id: ID!) { node(id: $id) { ... on User {
  postCount timeline(first: 100) { nodes { ... on Node { id } } } } } }"""
NODE = "query($id: ID!) { node(id: $id) { __typename ... on Status { text group { id name } } } }"
EVERYWHERE = """{ publicTimeline(first: 100) { nodes { ... on Node { id } } }
  important: publicTimeline(first: 100, order: IMPORTANT) { nodes { ... on Node { id } } }
  hashtag(name: "tea") { postCount } trendingHashtags { name } }"""


async def create(member: Member, kind: str = "PUBLIC", name: str = "Birds", **fields: Any) -> str:
    """Create a group, and return its id."""
    payload = await member.do("createGroup", "group { id }", name=name, kind=kind, **fields)
    assert not payload["userErrors"], payload
    identity: str = payload["group"]["id"]
    return identity


async def act(member: Member, mutation: str, group: str, *others: Member, **fields: Any) -> dict[str, Any]:
    """Run a mutation of a group, which must succeed, and return the group as the payload shows it."""
    if others:
        fields["userIds"] = [other.id for other in others]
    payload = await member.do(mutation, f"group {{ {GROUP} }}", groupId=group, **fields)
    assert not payload["userErrors"], payload
    found: dict[str, Any] = payload["group"]
    return found


async def join(group: str, *members: Member) -> None:
    """Have members join a group, or ask a private one."""
    for member in members:
        await act(member, "joinGroup", group)


async def give(owner: Member, group: str, member: Member, role: str) -> None:
    """Give a member of a group a role."""
    await act(owner, "setGroupRole", group, userId=member.id, role=role)


async def let_in(owner: Member, group: str, *members: Member) -> None:
    """Make members of any kind of group, by its owner's invitation."""
    await act(owner, "inviteToGroup", group, *members)
    await join(group, *members)


async def show(viewer: Member, group: str) -> dict[str, Any] | None:
    """Return a group as a viewer sees it."""
    found: dict[str, Any] | None = await viewer.ask(
        f"query($id: ID!) {{ node(id: $id) {{ ... on Group {{ {GROUP} }} }} }}", id=group
    )
    return found


async def members_of(viewer: Member, group: str) -> dict[str, str] | None:
    """Return the roles of a group's members by login, newest member first; None where the viewer may not see them."""
    found = await show(viewer, group)
    assert found
    page = found["members"]
    return None if page is None else {edge["node"]["login"]: edge["role"] for edge in page["edges"]}


async def directory(viewer: Member) -> list[tuple[str, int]]:
    """Return names and numbers of members of the groups in the directory."""
    page = await viewer.ask("{ groups(first: 100) { nodes { name memberCount } } }")
    return [(node["name"], node["memberCount"]) for node in page["nodes"]]


async def groups_of(viewer: Member) -> list[str]:
    """Return the names of the groups that a viewer is in, newest first."""
    page = (await viewer.ask("{ viewer { groups(first: 100) { nodes { name } } } }"))["groups"]
    return [node["name"] for node in page["nodes"]]


async def timeline(viewer: Member, group: str, arguments: str = "first: 100") -> list[str] | None:
    """Return the ids of a group's posts, newest first; None where the viewer may not see them."""
    shown = f"timeline({arguments}) {{ nodes {{ ... on Node {{ id }} }} }}"
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on Group {{ {shown} }} }} }}"
    page = (await viewer.ask(query, id=group))["timeline"]
    return None if page is None else [node["id"] for node in page["nodes"]]


async def profile(viewer: Member, member: Member) -> list[str]:
    """Return the ids of the posts that a viewer finds on a member's profile."""
    found = await viewer.ask(PROFILE, id=member.id)
    return [node["id"] for node in found["timeline"]["nodes"]]
