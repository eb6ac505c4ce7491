"""The demo: a small community that fills an empty store, and only an empty store."""

from collections.abc import Iterable, Iterator

import pytest

from resolvers import accounts
from resolvers.process.services import Services
from resolvers.rules.text import is_login, mentions, normalise
from resolvers.upkeep.demo import community as demo
from store import jobs
from store.credentials.records import Role
from store.settings import Settings
from tests.support import conversations
from tests.support.moderation.acts import listed, logged
from tests.support.people import Member, shrunk
from tests.support.work import photograph

LOG_IN = "mutation($input: LogInInput!) { logIn(input: $input) { accessToken userErrors { code } } }"
HOME = """
{ homeTimeline(first: 100) { edges { node { ... on Node { id } } repostedByCount repostedBy { user { login } } } } }
"""
TAG = '{ hashtag(name: "birding") { postCount timeline(first: 50) { nodes { ... on Post { hashtags } } } } }'
COUNTS = "likeCount quoteCount commentCount repostCount"
PUBLIC = f"""
{{ publicTimeline(first: 100) {{ nodes {{ ... on Post {{
    {COUNTS} mentions {{ login }} likedBy(first: 1) {{ nodes {{ bio followerCount followingCount }} }}
    comments(first: 50) {{ nodes {{ text author {{ login }} replyTo {{ text }} }} }} }} }} }} }}
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Room for lists of every post on a page."""
    return shrunk(settings, max_cost=10**9, max_anonymous_cost=10**9)


async def _member(services: Services, anonymous: Member) -> Member:
    login = await demo.fill(services)
    assert login
    payload = await anonymous.ask(LOG_IN, input={"identifier": login.login, "password": login.password})
    assert not payload["userErrors"]
    return Member(anonymous.client, payload["accessToken"])


async def test_the_login_it_returns_opens_a_lively_home(services: Services, anonymous: Member) -> None:
    """The printed password signs in to a home of 30 entries or more, some of them reposts."""
    member = await _member(services, anonymous)
    edges = (await member.ask(HOME))["edges"]
    assert len({edge["node"]["id"] for edge in edges}) == len(edges) >= 30
    assert any(edge["repostedBy"] for edge in edges)
    assert all(edge["repostedByCount"] >= len(edge["repostedBy"]) for edge in edges)


async def test_there_is_something_to_see_everywhere(services: Services, anonymous: Member) -> None:
    """A tag has several posts, and posts have likes, quotes, reposts, mentions, and comments that answer each other."""
    member = await _member(services, anonymous)
    tag = await member.ask(TAG)
    assert tag["postCount"] == len(tag["timeline"]["nodes"]) >= 5
    posts = (await member.ask(PUBLIC))["nodes"]
    assert any(post["likeCount"] and post["commentCount"] for post in posts)
    assert all(any(post[count] for post in posts) for count in COUNTS.split())
    assert any(post["mentions"] for post in posts)
    assert any(comment["replyTo"] for post in posts for comment in post["comments"]["nodes"])
    likers = [user for post in posts for user in post["likedBy"]["nodes"]]
    assert all(user["bio"] and user["followingCount"] >= demo.FOLLOWED_LEAST for user in likers)


async def test_there_are_reports(services: Services, anonymous: Member) -> None:
    """An administrator finds open reports, the most reported subject first, and a moderator's decision."""
    member = await _member(services, anonymous)
    assert await accounts.set_role(services.db, "robin", Role.ADMIN)
    found = await listed(member)
    assert [one["reportCount"] for one in found] == [2, 2, 1]
    assert all(one["subject"] and one["reporter"] for one in found)
    (act,) = await logged(member)
    assert act["kind"] == "REPORT_DISMISSED"


async def test_there_is_a_conversation(services: Services, anonymous: Member) -> None:
    """A member's post has replies that have replies."""
    assert await demo.fill(services)
    query = """{ user(login: "theo_l") { timeline(first: 100) { nodes {
        ... on Status { replyCount conversation { nodes { ... on Status { inReplyTo { id } } } } } } } } }"""
    posts = [post for post in (await anonymous.ask(query))["timeline"]["nodes"] if post.get("replyCount")]
    assert any(len({str(node["inReplyTo"]) for node in post["conversation"]["nodes"]}) > 2 for post in posts)


async def test_there_is_somebody_to_talk_to(services: Services, anonymous: Member) -> None:
    """The guide has conversations of two and of more, some of them with unread messages."""
    member = await _member(services, anonymous)
    unread, talks = await conversations.listed(member)
    assert 0 < unread < len(talks)
    sizes = {len((await conversations.seen(member, talk))["participants"]) for talk, _, _ in talks}
    assert sizes == {2, 3, 4}


async def test_there_are_groups(services: Services, anonymous: Member) -> None:
    """The guide owns a group, moderates one that others ask to join, and is in one of announcements; all have posts."""
    member = await _member(services, anonymous)
    query = """{ viewer { groups { nodes { kind viewerRole memberCount joinRequests { nodes { login } }
      timeline { nodes { ... on Status { text } } } } } } }"""
    found = {group["kind"]: group for group in (await member.ask(query))["groups"]["nodes"]}
    roles = {kind: group["viewerRole"] for kind, group in found.items()}
    assert roles == {"PUBLIC": "OWNER", "PRIVATE": "MODERATOR", "ANNOUNCEMENT": "MEMBER"}
    assert found["PRIVATE"]["joinRequests"]["nodes"]
    assert all(group["memberCount"] > 3 and len(group["timeline"]["nodes"]) >= 3 for group in found.values())
    assert len((await member.ask("{ groups { nodes { id } } }"))["nodes"]) == 3


async def test_it_fills_a_store_once(services: Services) -> None:
    """A first fill leaves no work undone, a second one returns nothing and changes nothing."""
    assert await demo.fill(services)
    assert await jobs.backlog(services.db) == (0, 0)
    before = await photograph(services.db)
    assert await demo.fill(services) is None
    assert await photograph(services.db) == before


async def test_it_leaves_a_store_with_a_member_alone(services: Services, alice: Member) -> None:
    """If one member has signed up, nothing is written."""
    assert alice.login == "alice"
    before = await photograph(services.db)
    assert await demo.fill(services) is None
    assert await photograph(services.db) == before


def test_every_text_keeps_the_rules() -> None:
    """Logins, names, bios, posts, quotes and comments are in the data file as the API would store them."""
    settings, community = Settings(), demo.read()
    logins = [person.login for person in community.members]
    assert len(set(logins)) == len(logins)
    assert community.guide in logins
    for person in community.members:
        assert is_login(person.login)
        assert person.login == person.login.lower()
        assert person.circles
        assert normalise(person.name, limit=settings.max_name, multiline=False) == person.name
        assert normalise(person.bio, limit=settings.max_bio) == person.bio
    for words in _all(community.posts):
        assert words.by in logins
        assert normalise(words.text, limit=settings.max_text) == words.text
        assert set(mentions(words.text)) <= set(logins), words.text
    for talk in community.talks:
        assert {login for login, _ in talk.messages} <= set(talk.people) <= set(logins)
        assert all(normalise(text, limit=settings.max_message) == text for _, text in talk.messages)
    for club in community.groups:
        assert normalise(club.name, limit=settings.group_name) == club.name
        assert normalise(club.description, limit=settings.group_description) == club.description
        assert set(club.moderators) <= set(club.members)
        assert {login for login, _ in club.posts} <= {club.owner, *club.members} <= set(logins)
        assert {*club.asking, *club.invited} <= set(logins)
        assert all(normalise(text, limit=settings.max_text) == text for _, text in club.posts)


def _all(texts: Iterable[demo.DemoText]) -> Iterator[demo.DemoText]:
    for words in texts:
        yield words
        yield from _all((*words.replies, *words.quotes, *words.answers))
