"""A site whose members act on command; each act is applied to the model, and homes are compared with it."""

from dataclasses import dataclass, field

from resolvers.upkeep import verify
from store.client.database import Database
from store.homes import bounds
from tests.support.home_pages import read, seen, walk
from tests.support.model.facts import Post
from tests.support.model.model import Model
from tests.support.people import Member, sign_up
from tests.support.work import number


@dataclass
class Site:
    """Members by login, and the model of what they did."""

    db: Database
    anonymous: Member
    model: Model = field(init=False)
    people: dict[str, Member] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.model = Model(bounds.lift(self.db))

    async def sign_up(self, *logins: str) -> None:
        for login in logins:
            self.people[login] = await sign_up(self.anonymous, login)
            self.model.members.append(login)

    async def follow(self, login: str, *others: str) -> None:
        for other in others:
            await self.people[login].follow(self.people[other])
            self.model.follow(login, other)

    async def unfollow(self, login: str, *others: str) -> None:
        for other in others:
            await self.people[login].unfollow(self.people[other])
            self.model.unfollow(login, other)

    async def post(self, login: str, text: str = "post") -> str:
        made = await self.people[login].post(text)
        self.model.publish(Post(number(made), login, text))
        return made

    async def repost(self, login: str, post: str, text: str = "") -> str:
        made = await self.people[login].repost(post, text)
        self.model.publish(Post(number(made), login, text, number(post)))
        return made

    async def unrepost(self, login: str, post: str) -> None:
        payload = await self.people[login].do("unrepost", postId=post)
        assert not payload["userErrors"], payload
        repost = self.model.repost_of(login, number(post))
        assert repost
        self.model.delete(repost)

    async def delete(self, login: str, post: str) -> None:
        payload = await self.people[login].do("deletePost", postId=post)
        assert not payload["userErrors"], payload
        self.model.delete(number(post))

    async def hide(self, login: str, post: str) -> None:
        payload = await self.people[login].do("hidePost", postId=post)
        assert not payload["userErrors"], payload
        self.model.hidden.add(number(post))

    async def check(self, *logins: str) -> None:
        """Assert that homes, read whole and in pages of either direction, are what the model says."""
        for login in logins or self.people:
            member = self.people[login]
            whole = [seen(edge) for edge in (await read(member, first=100))["edges"]]
            lines = [(line.post, line.place, list(line.sources)) for line in self.model.home(login)]
            assert whole == lines, login
            for forward in (True, False):
                assert await walk(member, 2, forward=forward) == whole, f"{login} in pages, {forward=}"

    async def verify(self) -> None:
        """Assert that verify finds nothing wrong in the store."""
        report = await verify.verify(self.db, homes=None, seed=0, progress=lambda _: None)
        assert report.clean, report.findings
