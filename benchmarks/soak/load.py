"""Members who read, like, follow and post, and what they were answered."""

import asyncio
import random
import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector

from benchmarks.clients import FOLLOW, PAUSE, POST, SignedIn, ask
from benchmarks.versus import graph, queries
from benchmarks.versus.contenders import BenchmarkError
from resolvers.reading import global_ids
from store import keys
from store.client.database import Command, Database

LIKE = "like"
SHARES = {"home": 0.5, "profile": 0.25, LIKE: 0.15, "follow": 0.05, "post": 0.05}  # of the requests
CONNECTIONS = 64
OUTSTANDING = 500  # requests that wait for answers, above which no more are sent
ANSWER_SECONDS = 30
LIKES = "mutation($input: PostIdInput!) { like(input: $input) { post { likeCount } userErrors { message } } }"
UNFOLLOW = FOLLOW.replace("follow(", "unfollow(")
PAGES = {"home": queries.HOME, "profile": queries.PROFILE}


@dataclass
class MemberLoad:
    """Requests that become due at random moments."""

    port: int
    readers: Sequence[SignedIn]
    authors: Sequence[SignedIn]
    logins: Sequence[str]
    posts: Sequence[int]  # that can be liked
    seed: int
    is_troubled: Callable[[], bool] = lambda: False
    answered: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)  # requests, by the error in place of an answer
    failed_in_peace: Counter[str] = field(default_factory=Counter)  # those of them long after any restart
    skipped: int = 0
    posted: set[str] = field(default_factory=set)
    _taken: "defaultdict[str, array[float]]" = field(default_factory=lambda: defaultdict(lambda: array("d")))  # ms
    _liked: set[tuple[int, int]] = field(default_factory=set)  # post and member
    _follows: dict[tuple[int, int], bool] = field(default_factory=dict)  # who, whom
    _busy: set[tuple[int, int]] = field(default_factory=set)  # those that are being changed

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)  # noqa: S311
        self._texts = graph.texts(self._dice)
        self._waiting: set[asyncio.Task[None]] = set()

    async def run(self, rate: float, seconds: float) -> None:
        """Send so many requests a second for some time, and wait for the last answers."""
        async with self._session() as session:
            end = due = time.monotonic()
            end += seconds
            while (due := due + self._dice.expovariate(rate)) < end:
                await asyncio.sleep(due - time.monotonic())
                if len(self._waiting) >= OUTSTANDING:
                    self.skipped += 1
                    continue
                sending = asyncio.create_task(self._send(session))
                self._waiting.add(sending)
                sending.add_done_callback(self._sent)
            await asyncio.gather(*self._waiting)

    async def follow_all(self, who: SignedIn, whom: Sequence[SignedIn]) -> None:
        """Have a member follow others."""
        async with self._session() as session:
            await self._write(session, FOLLOW, who, {"userIds": [one.id for one in whom]})

    def percentile(self, kind: str, share: float) -> float:
        """Return the time in ms in which this share of requests was answered."""
        taken = sorted(self._taken[kind])
        return taken[int(len(taken) * share)] if taken else 0.0

    def kept(self, kind: str) -> int:
        """Return how many likes, or pairs of members, the answers told of."""
        return len(self._liked if kind == LIKE else self._follows)

    async def lost(self, db: Database) -> int:
        """Return how many answered likes and follows the store does not have as they were answered."""
        looks: list[Command] = [("ZSCORE", keys.likes(post), member) for post, member in self._liked]
        looks += [("ZSCORE", keys.followers(whom), who) for who, whom in self._follows]
        wanted = [True] * len(self._liked) + list(self._follows.values())
        scores = await db.ask(*looks)
        return sum((score is not None) != is_there for score, is_there in zip(scores, wanted, strict=True))

    def _session(self) -> ClientSession:
        return ClientSession(
            connector=TCPConnector(limit=CONNECTIONS), timeout=ClientTimeout(total=ANSWER_SECONDS, connect=None)
        )

    def _sent(self, sending: asyncio.Task[None]) -> None:
        self._waiting.discard(sending)
        if not sending.cancelled() and (error := sending.exception()):
            raise error

    async def _send(self, session: ClientSession) -> None:
        (kind,), began = self._dice.choices([*SHARES], [*SHARES.values()]), time.monotonic()
        match kind:
            case "post":
                await self._post(session)
            case "like":
                await self._like(session)
            case "follow":
                await self._follow(session)
            case _ if not await self._page(session, kind):
                return
        self.answered[kind] += 1
        self._taken[kind].append((time.monotonic() - began) * 1000)

    async def _page(self, session: ClientSession, kind: str) -> bool:
        variables = {"first": queries.PAGE, "login": self._dice.choice(self.logins)}
        return await self._ask(session, PAGES[kind], self._dice.choice(self.readers), variables) is not None

    async def _post(self, session: ClientSession) -> None:
        text = self._dice.choice(self._texts)
        fields = {"text": text, "idempotencyKey": f"soak-{self._dice.getrandbits(64):x}"}
        data = await self._write(session, POST, self._dice.choice(self.authors), fields)
        self.posted.add(data["post"]["status"]["id"])

    async def _like(self, session: ClientSession) -> None:
        post, reader = self._dice.choice(self.posts), self._dice.choice(self.readers)
        await self._write(session, LIKES, reader, {"postId": global_ids.post_id(post, is_repost=False)})
        self._liked.add((post, reader.member))

    async def _follow(self, session: ClientSession) -> None:
        """Have one member follow another, or unfollow them if they did so before."""
        who, whom = self._dice.sample(self.readers, 2)
        pair = who.member, whom.member
        if pair in self._busy:
            return
        self._busy.add(pair)
        follows = not self._follows.get(pair, False)
        await self._write(session, FOLLOW if follows else UNFOLLOW, who, {"userIds": [whom.id]})
        self._follows[pair] = follows
        self._busy.discard(pair)

    async def _write(self, session: ClientSession, document: str, who: SignedIn, fields: dict[str, Any]) -> Any:
        """Repeat a mutation until it is answered, and return its data."""
        while (data := await self._ask(session, document, who, {"input": fields})) is None:  # noqa: ASYNC110
            await asyncio.sleep(PAUSE * (1 + self._dice.random()))
        (payload,) = data.values()
        if payload["userErrors"]:
            raise BenchmarkError(str(payload)[:600])
        return data

    async def _ask(self, session: ClientSession, document: str, who: SignedIn, variables: dict[str, Any]) -> Any:
        """Return the data of an answer, None where there is none."""
        try:
            answer = await ask(session, f"http://127.0.0.1:{self.port}", document, who.token, variables)
        except (ClientError, TimeoutError) as error:
            self._fail(type(error).__name__)
            return None
        if "errors" in answer:
            self._fail(f"{answer['errors'][0]['extensions']['code']}, {answer['errors'][0]['message']}"[:100])
            return None
        return answer["data"]

    def _fail(self, error: str) -> None:
        self.failed[error] += 1
        if not self.is_troubled():
            self.failed_in_peace[error] += 1
