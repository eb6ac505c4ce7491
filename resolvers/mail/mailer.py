"""The mailer: sends what is in the outbox, apart from all other work, and repeats what was not accepted.

A mail is removed from the outbox directly after the server accepted it. A process that dies in between, or a connection
that is lost before the server's last reply, makes the mail be sent again, with the same Message-ID (RFC 1047).
"""

import asyncio
import contextlib
import random
import time
from typing import Self

import msgspec
import structlog

from resolvers.mail import links
from resolvers.mail.composing import compose
from resolvers.mail.sending import Away, MailRefused, PutOff, Transport, transport
from resolvers.process.tokens import Tokens, digest
from store.client.background import BACKGROUND
from store.client.database import Database, Unavailable
from store.client.tasks import stop
from store.ids import made_at
from store.limits import attempts, windows
from store.limits.windows import DAY_SECONDS, HOUR_SECONDS
from store.mail import outbox
from store.mail.letters import Letter, MailKind
from store.mail.outbox import Addressee, Mail
from store.settings import Settings

LOOK_SECONDS = 1.0  # between two looks into the outbox
TAKEN = 8  # mails leased at a time for each connection
AWAY_SECONDS = (1.0, 60.0)  # first and longest pause while the server is away
PUT_OFF_SECONDS = (5.0, 3600.0)  # first and longest wait of a mail that was put off
SPREAD = 0.25  # share by which waits vary, so that mails that failed together do not come again together
RENEWALS = 3  # renewals per lease while a server takes its time
RECIPIENT = "recipient"  # the kind under which the mails to one recipient are counted

log = structlog.get_logger(__name__)


class _Lease:
    """The lease of a mail that is being sent. It is renewed for as long as the server takes."""

    def __init__(self, db: Database, mail: Mail) -> None:
        self.mail: Mail | None = mail  # None once the lease was lost
        self._db = db
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._renewing = asyncio.create_task(self._renew(), name="renewing a mail's lease")
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop(self._renewing)

    async def _renew(self) -> None:
        while self.mail:
            await asyncio.sleep(self._db.settings.job_lease_seconds / RENEWALS)
            with contextlib.suppress(Unavailable):
                self.mail = await outbox.renew(self._db, self.mail)


class Mailer:
    """Sends the mails of the outbox. Several mailers, in one process or many, share the work by leases."""

    def __init__(self, db: Database, settings: Settings, signer: Tokens) -> None:
        self._db = db
        self._settings = settings
        self._signer = signer
        self._transports = [transport(settings) for _ in range(settings.mail_connections)]
        self._accepted: set[int] = set()  # mails that the server took, and the outbox still has
        self._away = 0  # how often in a row the server was away

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            wait = 0.0
            while True:
                await asyncio.sleep(wait)
                wait = await self._pause()
        finally:
            await self._close()

    async def _pause(self) -> float:
        """Send what is due; returns how long to wait then, in seconds."""
        try:
            while await self.run_once():
                pass
            self._away = 0
        except Away as error:
            self._away += 1
            wait = backoff(AWAY_SECONDS, self._away)
            log.warning("mail_server_away", reason=str(error), retry_seconds=round(wait, 1))
            return wait
        except Unavailable:
            pass  # already logged
        except Exception:
            log.exception("mailer_failed")
        return LOOK_SECONDS

    async def run_once(self) -> int:
        """Send mails that are due, several at a time; returns how many were settled.

        Raises Away while the server takes no mail, and Unavailable. The mails that were not sent are due again.
        """
        waiting = await outbox.take(self._db, TAKEN * len(self._transports))
        waiting.reverse()
        lanes = await asyncio.gather(*(self._lane(one, waiting) for one in self._transports), return_exceptions=True)
        for mail in waiting:
            await outbox.put_off(self._db, mail, 0)
        errors = [lane for lane in lanes if isinstance(lane, BaseException)]
        if errors:
            raise next((error for error in errors if isinstance(error, Away)), errors[0])
        settled = sum(lane for lane in lanes if isinstance(lane, int))
        if not settled:
            await self._close()
        return settled

    async def _close(self) -> None:
        for each in self._transports:
            await each.close()

    async def _lane(self, carrier: Transport, waiting: list[Mail]) -> int:
        """Send mails over one connection until none is left; returns how many were settled."""
        settled = 0
        while waiting:
            await BACKGROUND.give_way()
            settled += await self._try(carrier, waiting.pop())
        return settled

    async def _try(self, carrier: Transport, mail: Mail) -> bool:
        """Send a mail; returns whether it is settled: sent, refused for good, or not wanted any more.

        It is not when it waits, and when another sender has its lease now.
        """
        letter = mail.letter
        if mail.id in self._accepted:
            return await self._settle(mail)
        held, addressee = await outbox.begin(self._db, mail, links.PURPOSES.get(letter.kind, ""))
        if held is None:
            return False
        if not self._is_wanted(mail, addressee):
            log.info("mail_dropped", mail=mail.id, kind=letter.kind.value)
            return await self._settle(mail)
        # A mail that the server put off was counted when it was first sent.
        if not letter.attempts and (wait := await _recipient_wait(self._db, letter, addressee)):
            return await self._put_off(held, "its recipient has had enough mails", wait)
        lease = _Lease(self._db, held)
        try:
            message = compose(self._settings, self._signer, mail.id, letter, addressee.login or "")
            async with lease:
                await carrier.send(mail.id, message)
        except MailRefused as error:
            log.error("mail_refused", mail=mail.id, kind=letter.kind.value, reason=str(error))  # noqa: TRY400
        except PutOff as error:
            return await self._put_off(lease.mail, str(error))
        except Away:
            if lease.mail:
                await outbox.put_off(self._db, lease.mail, 0)
            raise
        return await self._settle(mail)

    async def _settle(self, mail: Mail) -> bool:
        # While the store is away, this process remembers which mails the server has accepted.
        self._accepted.add(mail.id)
        await self._db.ask(*outbox.finish(mail.id))
        self._accepted.discard(mail.id)
        return True

    async def _put_off(self, mail: Mail | None, reason: str, least_wait: float = 0) -> bool:
        """Make a mail due again. It waits longer after each attempt, or for the limit of its recipient to end."""
        if mail is None:
            return False
        kind = mail.letter.kind.value
        if time.time() - made_at(mail.id) / 1000 > self._settings.mail_retry_days * DAY_SECONDS:
            log.error("mail_given_up", mail=mail.id, kind=kind, reason=reason)
            return await self._settle(mail)
        tried = mail.letter.attempts + (0 if least_wait else 1)
        wait = least_wait + backoff(PUT_OFF_SECONDS, tried)
        log.warning("mail_put_off", mail=mail.id, kind=kind, reason=reason, retry_seconds=round(wait))
        changed = msgspec.structs.replace(mail.letter, attempts=tried)
        await outbox.put_off(self._db, mail, int(wait * 1000), changed)
        return False

    def _is_wanted(self, mail: Mail, addressee: Addressee) -> bool:
        """Return whether the mail's link still works and its account still exists."""
        if addressee.login is None:
            return False
        purpose, letter = links.PURPOSES.get(mail.letter.kind), mail.letter
        if purpose is None:
            return True
        token = self._signer.mail_token(purpose, int(letter.member), letter.nonce)
        if addressee.token is None or addressee.token.digest != digest(token.reveal()):
            return False
        return letter.kind is not MailKind.RESET or addressee.email == letter.to


async def _recipient_wait(db: Database, letter: Letter, addressee: Addressee) -> int:
    """Count a mail to its recipient; returns after how many seconds it may be sent, 0 for now. Two round trips.

    The limit is over all members and kinds. It applies when a mail is sent, so no answer tells. A mail above it waits
    for the next hour or day. A reset is apart: its address gets one an hour anyway, so nobody can hold up somebody's
    reset by other mails.
    """
    settings = db.settings
    mailbox = _mailbox(letter.to)
    is_apart = letter.kind is MailKind.RESET and (addressee.is_verified or mailbox == letter.to.lower())
    if not settings.rate_limit or is_apart:
        return 0
    limits = ((HOUR_SECONDS, settings.recipient_mails_per_hour), (DAY_SECONDS, settings.recipient_mails_per_day))
    for seconds, most in limits:
        (count,) = await attempts.count(db, [(RECIPIENT, digest(f"{seconds} {mailbox}"))], seconds)
        if count > most:
            return windows.rest(seconds)
    return 0


def _mailbox(address: str) -> str:
    """Return an address in lower case without its sub-address (RFC 5233): both usually reach the same person."""
    local, _, domain = address.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


def backoff(bounds: tuple[float, float], attempts: int) -> float:
    """Return the wait before another attempt, in seconds: twice as long each time, within bounds, varied at random."""
    shortest, longest = bounds
    wait: float = min(longest, shortest * 2 ** min(attempts - 1, 30))
    return wait * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311  no secret
