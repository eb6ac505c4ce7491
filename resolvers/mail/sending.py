"""Hands mails over: to an SMTP server, or to files where none is configured."""

import asyncio
import contextlib
import os
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import Path
from typing import Protocol

import aiosmtplib
import structlog

from store.settings import Settings
from store.settings.urls import SmtpServer, smtp_server

DATA_FACTOR = 10  # After a mail's end, a server may take so many times as long. RFC 5321 §4.5.3.2.6 asks for 10 min.
PERMANENT = 500  # SMTP replies from here on are final, those below ask to try again
CLOSING = 421  # reply of a server that closes the connection
QUIT_SECONDS = 5.0

log = structlog.get_logger(__name__)


class MailRefused(Exception):
    """The server refuses this mail for good. The message has the server's code, and no address."""


class PutOff(Exception):
    """The server does not take this mail now, or it is unknown whether it did. It is sent again, as the same mail."""


class Away(Exception):
    """The server cannot be reached, or takes no mail at all. No mail was sent, and no mail is to blame."""


class Transport(Protocol):
    """Sends one mail at a time."""

    async def send(self, mail: int, message: EmailMessage) -> None:
        """Return once the mail is handed over; raises Refused, PutOff or Away."""

    async def close(self) -> None:
        """Release the connection. It may be used again."""


def transport(settings: Settings) -> Transport:
    """Return a transport of its own to the server of SMTP_URL, or to files without one."""
    if settings.smtp_url:
        return SmtpTransport(smtp_server(settings.smtp_url), settings)
    return FileTransport(settings.data_dir / "mail", settings.mail_files_kept)


class FileTransport:
    """Writes each mail to a file, and removes the oldest ones. The log has the path, not the text with its token."""

    def __init__(self, folder: Path, kept: int) -> None:
        self._folder, self._kept = folder, kept

    async def send(self, mail: int, message: EmailMessage) -> None:
        """Write one mail; a repetition replaces the file. Raises Away for a folder that cannot be written."""
        path = self._folder / f"{mail}.eml"
        try:
            await asyncio.to_thread(_write, path, message.as_bytes())
            await asyncio.to_thread(_remove_oldest, self._folder, self._kept)
        except OSError as error:
            raise Away(f"{path.parent}: {error.strerror}") from error
        log.info("mail_written", mail=mail, path=str(path.resolve()))

    async def close(self) -> None:
        """Do nothing: no file stays open."""


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # its link opens the account
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _remove_oldest(folder: Path, kept: int) -> None:
    """Remove all but the newest mails. Their names are ids, which rise with time."""
    numbers = sorted(int(file.stem) for file in folder.glob("*.eml") if file.stem.isdecimal())
    for number in numbers[:-kept]:
        (folder / f"{number}.eml").unlink(missing_ok=True)  # other processes remove them, too


class SmtpTransport:
    """One connection to an SMTP server, opened when it is needed and used for many mails."""

    def __init__(self, server: SmtpServer, settings: Settings) -> None:
        self._server = server
        self._seconds = settings.smtp_seconds
        self._sender = parseaddr(settings.mail_from)[1]
        self._client: aiosmtplib.SMTP | None = None

    async def send(self, mail: int, message: EmailMessage) -> None:  # noqa: ARG002  the message has its id
        """Send one mail. Raises Refused, PutOff or Away."""
        recipient, content = message["To"].addresses[0].addr_spec, message.as_bytes()
        options = [] if recipient.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
        was_open = self._client is not None and self._client.is_connected
        try:
            await self._envelope(recipient, options)
        except Away:
            if not was_open:
                raise
            await self._envelope(recipient, options)  # the server had closed the idle connection
        await self._content(content)

    async def close(self) -> None:
        """End the connection politely."""
        client, self._client = self._client, None
        if client is not None and client.is_connected:
            with contextlib.suppress(aiosmtplib.SMTPException, OSError):
                await client.quit(timeout=QUIT_SECONDS)
            client.close()

    async def _envelope(self, recipient: str, options: list[str]) -> None:
        """Connect if needed, and name sender and recipient. Until here, no mail can have been sent."""
        client = await self._connected()
        try:
            await client.mail(self._sender, options=options, encoding="utf-8" if options else "ascii")
            await client.rcpt(recipient, encoding="utf-8" if options else "ascii")
        except aiosmtplib.SMTPRecipientRefused as error:
            await self._reset()
            raise _verdict(error) from None
        except (aiosmtplib.SMTPException, OSError) as error:
            self._drop()
            raise Away(_shown(error)) from error

    async def _content(self, content: bytes) -> None:
        assert self._client
        try:
            await self._client.data(content, timeout=self._seconds * DATA_FACTOR)
        except aiosmtplib.SMTPDataError as error:
            await self._reset()
            raise _verdict(error) from None
        except (aiosmtplib.SMTPException, OSError) as error:
            # RFC 1047: the server may have taken the mail, and the reply is lost.
            self._drop()
            raise PutOff(_shown(error)) from error

    async def _connected(self) -> aiosmtplib.SMTP:
        if self._client is not None and self._client.is_connected:
            return self._client
        server, starttls = self._server, {"offered": None, "required": True, "never": False}
        client = aiosmtplib.SMTP(
            hostname=server.host,
            port=server.port,
            use_tls=server.is_tls,
            start_tls=False if server.is_tls else starttls[server.starttls],
            timeout=self._seconds,
            username=server.user or None,
            password=server.password.reveal() or None,
        )
        try:
            await client.connect()
        except (aiosmtplib.SMTPException, OSError) as error:
            client.close()
            raise Away(_shown(error)) from error
        self._client = client
        return client

    async def _reset(self) -> None:
        """Prepare the connection for the next mail."""
        try:
            if self._client is not None:
                await self._client.rset()
        except (aiosmtplib.SMTPException, OSError):
            self._drop()

    def _drop(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()


def _verdict(error: aiosmtplib.SMTPResponseException) -> Exception:
    if error.code == CLOSING:
        return Away(_shown(error))
    return (MailRefused if error.code >= PERMANENT else PutOff)(_shown(error))


def _shown(error: BaseException) -> str:
    """Return what happened, without the server's own text, which may quote the address or a password."""
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return f"{type(error).__name__} {error.code}"
    return type(error).__name__
