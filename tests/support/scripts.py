"""Random acts of a few members, for tests that watch their effects."""

import random
from collections.abc import Mapping
from types import MappingProxyType

from resolvers import accounts
from store.client.database import Database
from tests.support.people import PASSWORD, SIGN_UP, Member

WEIGHTS = {
    "post": 12,
    "answer": 8,
    "quote": 4,
    "repost": 14,
    "unrepost": 4,
    "delete": 2,
    "hide": 2,
    "unhide": 3,
    "follow": 10,
    "unfollow": 2,
    "remove_follower": 1,
    "approve": 8,
    "reject": 1,
    "privacy": 3,
    "block": 2,
    "unblock": 4,
    "mute": 3,
    "unmute": 3,
    "suspend": 2,
    "restore": 4,
}


class Script:
    """Random acts of a few members, the same for the same seed. The first member watches, and is never suspended.

    Each act is as likely as its weight. Weights given replace the defaults of the same name.
    """

    def __init__(
        self, db: Database, members: list[Member], seed: int, weights: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        self._db = db
        self._weights = {**WEIGHTS, **weights}
        self._lot = random.Random(seed)  # noqa: S311  which acts are tried, no secret
        self._members = members
        self._posts: dict[str, Member] = {}  # statuses and quotes, with their authors
        self._hidden: dict[str, Member] = {}
        self._private: set[str] = set()
        self._suspended: list[Member] = []

    async def act(self) -> None:
        """Do something that may be done now, though it may be refused."""
        needed = {"unhide": self._hidden, "restore": self._suspended, "suspend": not self._suspended}
        needed |= dict.fromkeys(("answer", "quote", "repost", "unrepost", "delete", "hide"), self._posts)
        acts = {name: weight for name, weight in self._weights.items() if needed.get(name, True)}
        (name,) = self._lot.choices(list(acts), list(acts.values()))
        active = [member for member in self._members if member not in self._suspended]
        # The watching member acts twice as often, because their home is the one compared.
        await getattr(self, f"_{name}")(self._lot.choice([self._members[0], *active]))

    async def _post(self, member: Member) -> None:
        self._posts[await member.post("words")] = member

    async def _answer(self, member: Member) -> None:
        payload = await member.do("post", "status { id }", text="an answer", inReplyToId=self._any())
        if payload["status"]:
            self._posts[payload["status"]["id"]] = member

    async def _quote(self, member: Member) -> None:
        payload = await member.do("repost", "repost { id }", postId=self._any(), text="more words")
        if payload["repost"]:
            self._posts[payload["repost"]["id"]] = member

    async def _repost(self, member: Member) -> None:
        await member.do("repost", postId=self._any())

    async def _unrepost(self, member: Member) -> None:
        await member.do("unrepost", postId=self._any())

    async def _delete(self, _member: Member) -> None:
        await self._change("deletePost", self._posts)

    async def _hide(self, _member: Member) -> None:
        await self._change("hidePost", self._posts, self._hidden)

    async def _unhide(self, _member: Member) -> None:
        await self._change("unhidePost", self._hidden, self._posts)

    async def _change(self, mutation: str, posts: dict[str, Member], after: dict[str, Member] | None = None) -> None:
        post = self._lot.choice(list(posts))
        author = posts.pop(post)  # removed at once, so that no other act chooses it meanwhile
        refused = (await author.do(mutation, postId=post))["userErrors"]
        if refused or after is not None:
            (posts if refused or after is None else after)[post] = author

    async def _follow(self, member: Member) -> None:
        await self._named("follow", member, 2)

    async def _unfollow(self, member: Member) -> None:
        await self._named("unfollow", member)

    async def _remove_follower(self, member: Member) -> None:
        await self._named("removeFollowers", member)

    async def _approve(self, member: Member) -> None:
        await self._named("approveFollowRequests", member, 3)

    async def _reject(self, member: Member) -> None:
        await self._named("rejectFollowRequests", member)

    async def _block(self, member: Member) -> None:
        await self._named("block", member)

    async def _unblock(self, member: Member) -> None:
        await self._named("unblock", member, 3)

    async def _mute(self, member: Member) -> None:
        await self._named("mute", member)

    async def _unmute(self, member: Member) -> None:
        await self._named("unmute", member, 2)

    async def _named(self, mutation: str, member: Member, count: int = 1) -> None:
        others = [other.id for other in self._members if other is not member]
        await member.do(mutation, userIds=self._lot.sample(others, count))

    async def _privacy(self, member: Member) -> None:
        self._private ^= {member.id}
        await member.do("updateProfile", isPrivate=member.id in self._private)

    async def _suspend(self, _member: Member) -> None:
        member = self._lot.choice(self._members[1:])
        self._suspended.append(member)
        await accounts.set_suspension(self._db, member.login, suspended=True)
        payload = await Member(member.client).do("logIn", SIGN_UP, identifier=member.login, password=PASSWORD)
        member.token = payload["accessToken"]

    async def _restore(self, _member: Member) -> None:
        member = self._suspended.pop(self._lot.randrange(len(self._suspended)))
        await accounts.set_suspension(self._db, member.login, suspended=False)

    def _any(self) -> str:
        return self._lot.choice(list(self._posts))
