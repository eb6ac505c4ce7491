"""The pictures of the demo and of imports."""

from pathlib import Path

from resolvers.process.services import Services
from resolvers.process.tokens import NO_PASSWORD
from resolvers.upkeep.demo import community
from resolvers.upkeep.importing import network as imports
from tests.support.damage.site import look
from tests.support.people import SIGN_UP, Member
from tests.support.pictures import status_of

SHOWN = """{ viewer { user { avatar { alt url } header { url } } conversations(first: 9) { nodes {
  lastMessage { images { alt url } } } } } publicTimeline(first: 100) { nodes { ... on Post { images { url } } } } }"""


async def test_the_demo_has_pictures(services: Services, anonymous: Member) -> None:
    """The demo shows an avatar, a header, pictures of posts and one in a conversation, and all links work."""
    login = await community.fill(services)
    assert login
    payload = await anonymous.do("logIn", SIGN_UP, identifier=login.login, password=login.password)
    guide = Member(anonymous.client, payload["accessToken"])
    answer = await guide.ask(SHOWN)
    user, talks = answer["viewer"]["user"], answer["viewer"]["conversations"]["nodes"]
    sent = [image for talk in talks for image in talk["lastMessage"]["images"]]
    posted = [image for post in answer["publicTimeline"]["nodes"] for image in post["images"]]
    assert user["avatar"]["alt"]
    assert sent[0]["alt"]
    assert posted
    for image in (user["avatar"], user["header"], *sent, *posted):
        assert await status_of(guide, image["url"]) == 200
    assert (await look(services.db)).findings == []


async def test_an_import_draws_pictures(services: Services, anonymous: Member, tmp_path: Path) -> None:
    """The first posts of an import have a picture, and running the import again draws no more."""
    follows, posts = tmp_path / "follows.tsv", tmp_path / "posts.txt"
    follows.write_text("ann\tben\nben\tann\n")
    posts.write_text("one\ntwo\nthree\n")
    network = imports.read_network(follows, posts, services.settings, total=None, most=None, seed=1)
    for _ in range(2):
        await imports.load(services.db, network, NO_PASSWORD, images=2)
    answer = await anonymous.ask("{ publicTimeline(first: 9) { nodes { ... on Post { images { url } } } } }")
    shown = [image for post in answer["nodes"] for image in post["images"]]
    assert [await status_of(anonymous, image["url"]) for image in shown] == [200, 200]
    assert (await look(services.db)).findings == []
