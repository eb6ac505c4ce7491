"""Refuses requests while the process has too much to do, the least important ones first."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from graphql import OperationDefinitionNode, OperationType

from resolvers.process.errors import ServiceUnavailable
from serving.overload.controller import Controller
from store.client.background import BACKGROUND
from store.client.metering import METER
from store.settings import Settings

REPORT_SECONDS = 60.0  # Time between two log records of refused requests.
RETRY_SECONDS = (1, 2, 3)  # In turn, so that clients who were refused together do not come again together.
TOO_MUCH = "The server has too much to do: try again"
SLOW_STORE = "The database takes too long to answer: try again"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RequestKind:
    """A kind of request, and what it may use before it is refused."""

    name: str
    share: float  # of the requests that may be answered at a time
    patience: int  # how many times STORE_PATIENCE_MS the store may be silent


ANONYMOUS = RequestKind("anonymous", 0.4, 1)
STREAM = RequestKind("stream", 0.6, 2)
READ = RequestKind("read", 1.0, 3)
WRITE = RequestKind("write", 1.0, 4)
KINDS = (ANONYMOUS, STREAM, READ, WRITE)

_OF_OPERATIONS = {OperationType.MUTATION: WRITE, OperationType.SUBSCRIPTION: STREAM, OperationType.QUERY: READ}


def of_operation(operation: OperationDefinitionNode | None, *, is_signed_in: bool) -> RequestKind:
    """Return the kind of an operation, None for one whose document has not been parsed yet.

    Whatever an anonymous client asks for ranks below all that members do. So no text of a client makes it rank higher.
    """
    if not is_signed_in:
        return ANONYMOUS
    return READ if operation is None else _OF_OPERATIONS[operation.operation]


class Shedder:
    """The requests that this process is answering, and whether it refuses more of them."""

    def __init__(
        self,
        settings: Settings,
        silence: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
        worked: Callable[[], float] = time.thread_time,
    ) -> None:
        """`silence` returns for how long the store has left a command unanswered, `worked` the thread's own time, s."""
        self.is_on = settings.overload_delay_ms > 0
        self.controller = Controller(settings.overload_delay_ms / 1000, settings.max_requests)
        self.requests: Sized = ()  # Those that are being answered, streams excepted.
        self._operations = 0  # Of websockets, that are being answered.
        self._patience = settings.store_patience_ms / 1000
        self._silence = silence
        self._silent = 0.0  # s, as of the last interval
        self.clock, self._worked = clock, worked  # a test moves the clock
        self._is_probing = False
        self.retries = itertools.cycle(RETRY_SECONDS)
        self._shed: Counter[str] = Counter()  # Refusals by kind since the last report.
        self._reported = -REPORT_SECONDS

    @property
    def running(self) -> int:
        """How many requests and operations of websockets are being answered."""
        return len(self.requests) + self._operations

    def arrive(self) -> bool:
        """Note that a request has arrived; returns whether some kind is refused now."""
        if not self.is_on:
            return False
        now = self.clock()
        if not self._is_probing:
            self._is_probing = True
            asyncio.get_running_loop().call_soon(self._turn, now)
        running = self.running
        if self.controller.arrive(now, running):
            self.controller.adjust(now, self._worked())
            self._silent = self._silence()
            if self.controller.is_standing or self._silent >= self._patience:
                BACKGROUND.note_load()
            self._report(now)
        return running >= ANONYMOUS.share * self.controller.limit or self._silent >= self._patience

    def _turn(self, began: float) -> None:
        # The first turn was due in the middle of an iteration of the loop. The second one waits for a whole one.
        asyncio.get_running_loop().call_soon(self._second_turn, began)

    def _second_turn(self, began: float) -> None:
        self._is_probing = False
        self.controller.delayed(self.clock() - began)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count an operation of a websocket as being answered."""
        self._operations += 1
        try:
            yield
        finally:
            self._operations -= 1

    def refuse(self, kind: RequestKind) -> ServiceUnavailable | None:
        """Return the refusal of a request that has arrived, None where there is room for it."""
        message = self.reason(kind)
        return ServiceUnavailable(message, next(self.retries)) if message else None

    def refuses(self, kind: RequestKind) -> bool:
        """Return whether a request of a kind that arrives now is refused."""
        is_impatient = self._silent >= kind.patience * self._patience
        return self.is_on and (is_impatient or self.running >= kind.share * self.controller.limit)

    def reason(self, kind: RequestKind) -> str:
        """Return why a request that has arrived is refused, "" where there is room for it; counts the refusal."""
        if not self.refuses(kind):
            return ""
        if self._silent >= kind.patience * self._patience:
            limit, message = "store_patience_ms", SLOW_STORE
        else:
            is_most = self.controller.limit >= self.controller.most
            limit, message = "max_requests" if is_most else "overload_delay_ms", TOO_MUCH
        self.controller.refused += 1
        METER.refusals[limit] += 1
        METER.shed[kind.name] += 1
        self._shed[kind.name] += 1
        BACKGROUND.note_load()
        return message

    def _report(self, now: float) -> None:
        if self._shed and now - self._reported >= REPORT_SECONDS:
            log.warning(
                "load_shed",
                running=self.running,
                limit=int(self.controller.limit),
                store_silent_ms=round(self._silent * 1000),
                **self._shed,
            )
            self._shed.clear()
            self._reported = now
