"""The objects that a process has once: settings, database, tokens, event log."""

import asyncio
from collections.abc import Callable, Hashable

from resolvers.process.answers import Answers
from resolvers.process.cached_kinds import BigAuthors, CachedKinds
from resolvers.process.compute_once import ComputeOnce
from resolvers.process.errors import unavailable
from resolvers.process.one_time_codes import OneTimeCodes
from resolvers.process.picture_links import PictureLinks
from resolvers.process.session_check import lives
from resolvers.process.site_stream import Listeners
from resolvers.process.tokens import Claims, Passwords, Tokens
from store import jobs, sessions
from store.client import health
from store.client.database import Database, Unavailable
from store.client.health import Readiness
from store.client.pubsub import PubSub
from store.client.tasks import stop
from store.events.reader import Log
from store.sessions import SESSIONS
from store.settings import Settings

MIB = 1_048_576
RENDERINGS_KEPT = 1_000  # Cached events, each rendered for one selection.
ANNOUNCED_KEPT = 1_000  # Cached announced events: subscribers are not all equally fast.
LOOKS_AT_ONCE = 16  # Subscription events that are read and rendered at a time, each for a single viewer.
OnSessionEnd = Callable[[int, str | None], None]


class Services:
    """The objects that a process has once: settings, database, tokens, event log."""

    def __init__(self, settings: Settings, db: Database, secret: str) -> None:
        self.settings = settings
        self.db = db
        self.tokens = Tokens(settings, secret)
        self.passwords = Passwords(settings)
        self.codes = OneTimeCodes(secret)
        self.picture_links = PictureLinks(settings, secret)
        self.pubsub = PubSub(db.servers, db.channel_prefix, db.outages)
        db.servers.watch(self.pubsub.rearrange)
        self.log = Log(db, self.pubsub)
        self.listeners = Listeners(self.log, settings.subscriber_queue, self._forget_events)
        self.renderings: ComputeOnce[Hashable, object] = ComputeOnce(RENDERINGS_KEPT)
        self.announced: ComputeOnce[str, object] = ComputeOnce(ANNOUNCED_KEPT)
        self.looks = asyncio.Semaphore(LOOKS_AT_ONCE)
        self.big = BigAuthors()
        self.cached = CachedKinds(db.cache)
        self.answers = Answers(settings.answers_kept_mib * MIB)
        self._on_session_end: list[OnSessionEnd] = []
        self._handing_over: asyncio.Task[None] | None = None
        self.silences = 0  # How often Pub/Sub has (re)subscribed. Before each, the end of a session may be missed.

    async def start(self) -> None:
        """Subscribe to Pub/Sub and the event log, and start to hand over jobs."""
        self.pubsub.listen(SESSIONS, self._session_ended)
        await self.log.start()
        self.pubsub.start()
        self._handing_over = asyncio.create_task(jobs.keep_handing_over(self.db), name="handing over")

    async def close(self) -> None:
        """Unsubscribe, and release threads. The database stays open."""
        await stop(self._handing_over)
        await self.log.close()
        await self.listeners.close()
        await self.pubsub.close()
        self.passwords.close()

    async def session_is_valid(self, claims: Claims) -> bool:
        """Return whether the session is still valid; one round trip, raises ServiceUnavailable."""
        try:
            return lives(claims.session, await sessions.session_text(self.db, claims.member, claims.session))
        except Unavailable as error:
            raise unavailable(error) from error

    def store_silence(self) -> float:
        """Return for how long the store has left a command unanswered, s; no round trip."""
        return health.silence(self.db.cache.silence, self.db.nodes)

    async def readiness(self) -> Readiness:
        """Return whether the store answers reads and accepts writes, within a second; raises nothing."""
        return health.readiness(await health.look(self.db.servers))

    def on_session_end(self, callback: OnSessionEnd) -> None:
        """Register a callback for the end of sessions, in this or another process; it gets member and session."""
        self._on_session_end.append(callback)

    def _forget_events(self) -> None:
        # Slow subscribers then read the events before this one again.
        self.announced.clear()
        self.renderings.clear()

    def _session_ended(self, message: str) -> None:
        if not message:  # resubscribed: messages in between are lost, so sessions have to be read
            self.silences += 1
            return
        member, _, session = message.partition(" ")
        for callback in self._on_session_end:
            callback(int(member), session or None)
