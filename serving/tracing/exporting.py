"""Sends spans to a collector, in batches and beside all else. What a collector does not take in time is dropped."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial

import structlog
from aiohttp import ClientError, ClientSession, ClientTimeout, hdrs

from serving.running import StartError
from store.client.database import Database
from store.client.tasks import stop
from store.client.tracing import Span

BATCH = 512  # Spans of one request. Encoding them keeps the event loop for a millisecond.
WAITING_MOST = 8_192  # Spans that wait to be sent. Later ones are dropped.
PAUSE_SECONDS = 1.0  # Between two looks at what waits.
SEND_SECONDS = 2.0  # For a collector to take a batch, and for all that waits when the process ends.
LOG_SECONDS = 60.0  # Between two records of spans that were dropped.
PROTOBUF = "application/x-protobuf"

log = structlog.get_logger(__name__)


class Exporter:
    """Holds the spans that have ended until they are sent."""

    def __init__(self, session: ClientSession, url: str, encode: Callable[[Sequence[Span]], bytes]) -> None:
        self._session = session
        self._url = url
        self._encode = encode
        self._waiting: deque[Span] = deque()
        self._dropped = 0
        self._logged = -LOG_SECONDS

    def take(self, span: Span) -> None:
        """Take a span that has ended."""
        if len(self._waiting) < WAITING_MOST:
            self._waiting.append(span)
        else:
            self._dropped += 1

    async def run(self) -> None:
        """Send spans until cancelled."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            await self.send()

    async def send(self) -> None:
        """Send all spans that wait. Raises nothing."""
        reason = "too many wait"
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
            try:
                await self._post(self._encode(batch))
            except (ClientError, TimeoutError, OSError) as error:
                self._dropped += len(batch) + len(self._waiting)
                self._waiting.clear()  # the next ones would wait as long, for the same reason
                reason = f"{type(error).__name__}: {error}"
        if self._dropped and time.monotonic() >= self._logged + LOG_SECONDS:
            log.warning("spans_dropped", spans=self._dropped, reason=reason)
            self._dropped, self._logged = 0, time.monotonic()

    async def _post(self, body: bytes) -> None:
        async with self._session.post(self._url, data=body, headers={hdrs.CONTENT_TYPE: PROTOBUF}) as response:
            response.raise_for_status()


@contextlib.asynccontextmanager
async def exported(db: Database) -> AsyncIterator[None]:
    """Send the spans of operations and jobs to a collector if TRACES_URL names one.

    Raises StartError where OpenTelemetry is not installed.
    """
    settings = db.settings
    if not settings.traces_url:
        yield
        return
    try:
        from serving.tracing import messages  # an extra
    except ImportError as error:
        raise StartError(f"TRACES_URL needs the extra `tracing`: pip install 'perch[tracing]' ({error})") from error
    encode = partial(messages.encoded, of=messages.resource(settings.traces_service))
    headers = dict(header.split("=", 1) for header in settings.traces_headers)
    async with ClientSession(headers=headers, timeout=ClientTimeout(total=SEND_SECONDS)) as session:
        exporter = Exporter(session, settings.traces_url, encode)
        sending = asyncio.create_task(exporter.run())
        db.take_span = exporter.take
        try:
            yield
        finally:
            db.take_span = None
            await stop(sending)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SEND_SECONDS):
                    await exporter.send()
