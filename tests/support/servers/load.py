"""Members who post at the same time during failures, and repeat each request that gets no answer."""

import asyncio
from collections import Counter, deque
from collections.abc import Sequence
from functools import partial

from aiohttp import ClientError

from tests.support.people import Member, sign_up
from tests.support.servers.processes import until

POST = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { code } } }"


class Load:
    """A number of posts to be made; each has an idempotency key, so that none is made twice."""

    def __init__(self, authors: Sequence[Member], total: int) -> None:
        self._authors = authors
        self.total = 0
        self.left: deque[tuple[Member, str]] = deque()
        self.add(total)
        self.answered: list[str] = []
        self.refused: Counter[str] = Counter()  # login → number of answers that the database was unavailable

    def add(self, count: int) -> None:
        """Have more posts made."""
        more = range(self.total, self.total + count)
        self.left.extend((self._authors[n % len(self._authors)], f"post {n}") for n in more)
        self.total += count

    async def post(self, clients: int) -> None:
        """Post from several clients at once until nothing is left, or until the server is gone."""
        await asyncio.gather(*(self._post() for _ in range(clients)))

    async def _post(self) -> None:
        while self.left:
            author, key = self.left.popleft()
            try:
                await until(partial(self._is_answered, author, key))
            except ClientError:
                self.left.append((author, key))
                return

    async def _is_answered(self, author: Member, key: str) -> bool:
        body = {
            "query": POST,
            "variables": {"input": {"text": f"{key} #load", "idempotencyKey": key.replace(" ", "-")}},
        }
        headers = {"Authorization": f"Bearer {author.token}"}
        async with author.client.post("/graphql", json=body, headers=headers) as response:
            answer = await response.json()
        if response.status == 503:
            assert [error["extensions"]["code"] for error in answer["errors"]] == ["SERVICE_UNAVAILABLE"]
            self.refused[author.login] += 1
            return False
        assert (response.status, answer["data"]["post"]["userErrors"]) == (200, [])
        self.answered.append(answer["data"]["post"]["status"]["id"])
        return True

    def newest_first(self) -> list[str]:
        """Return the answered posts in the order of a home that lists everybody's."""
        return sorted(self.answered, key=lambda post: post.rpartition("_")[2], reverse=True)


async def friends(anonymous: Member, count: int) -> list[Member]:
    """Return new members, each of whom follows every other."""
    members = [await sign_up(anonymous, f"friend{i}") for i in range(count)]
    for member in members:
        await member.follow(*(other for other in members if other is not member))
    return members


def moved(members: Sequence[Member], anonymous: Member) -> list[Member]:
    """Return the members as clients of a restarted server, with their present tokens."""
    for member in members:
        member.client = anonymous.client
    return list(members)
