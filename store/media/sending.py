"""Sends a file to a bucket by a presigned link, a piece at a time, so that it is never in memory as a whole."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import IO, NamedTuple

from aiohttp import ClientConnectionError, ClientError, ClientSession, ClientTimeout, hdrs
from yarl import URL

SENT_BYTES = 64 << 10  # of a file that are read and sent at a time
FIRST_PAUSE = 0.1  # seconds before the first retry; each later pause is twice as long
_PASSING = {408, 429, 500, 502, 503, 504}  # statuses after which S3 asks for a retry


class NotSent(Exception):
    """The bucket cannot be reached, or refuses. The message has no link, because links are signed."""


class SendingLimits(NamedTuple):
    """How long sending may take."""

    connect: float  # seconds to reach the bucket
    request: float  # seconds for one request
    retries: int  # after the first request


async def send(link: str, file: IO[bytes], content_type: str, limits: SendingLimits) -> None:
    """Send what is left of a file by a PUT, and repeat that after an outage that may pass. Raises NotSent."""
    begin, pause = file.tell(), FIRST_PAUSE
    for attempt in range(limits.retries + 1):
        file.seek(begin)
        refusal, may_pass = await _send_once(link, file, content_type, limits)
        if refusal is None:
            return
        if attempt == limits.retries or not may_pass:
            raise NotSent(refusal)
        await asyncio.sleep(pause)
        pause *= 2


async def _send_once(link: str, file: IO[bytes], content_type: str, limits: SendingLimits) -> tuple[str | None, bool]:
    """Return why a bucket has not taken a file, None if it has, and whether a retry may help."""
    begin = file.tell()
    size = file.seek(0, os.SEEK_END) - begin
    file.seek(begin)
    timeout = ClientTimeout(total=limits.request, sock_connect=limits.connect)
    headers = {hdrs.CONTENT_TYPE: content_type, hdrs.CONTENT_LENGTH: str(size)}
    try:
        async with (
            ClientSession(timeout=timeout, trust_env=True) as session,
            session.put(URL(link, encoded=True), data=_pieces(file), headers=headers) as response,
        ):
            if response.ok:
                return None, False
            return f"the bucket answers a PUT with {response.status}", response.status in _PASSING
    except (ClientConnectionError, TimeoutError) as error:
        return f"the bucket cannot be reached: {type(error).__name__}", True
    except ClientError as error:
        return f"the bucket does not take a PUT: {type(error).__name__}", False


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, SENT_BYTES):
        yield piece
