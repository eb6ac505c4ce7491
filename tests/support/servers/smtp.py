"""A real SMTP server that tests make slow, rude or dead; run as a program, it can be killed."""

import argparse
import asyncio
import contextlib
import re
import ssl
import sys
import warnings
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from resolvers.mail.mailer import Mailer
from resolvers.process.services import Services
from store.settings import Settings
from tests.support.people import shrunk

MODULE = "tests.support.servers.smtp"
ROOT = Path(__file__).parents[3]
USER, PASSWORD = "perch", "the mail server's pass/word?"
_LINK = re.compile(r"https?://\S+\?token=(\S+)")


@dataclass
class Postbox:
    """A handler of aiosmtpd that keeps the mails it accepts, and answers as a test says."""

    port: int = 0
    accepted: list[EmailMessage] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    was_encrypted: list[bool] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    connections: int = 0
    visited: asyncio.Event = field(default_factory=asyncio.Event)  # once a client has connected
    answers: dict[str, list[str]] = field(default_factory=dict)  # next answers to RCPT and DATA; "" hangs up
    silence: asyncio.Event | None = None  # the server answers DATA once it is set
    file: Path | None = None  # gets the Message-ID of each mail, before it is accepted

    async def handle_EHLO(  # noqa: N802
        self, _: SMTP, session: Session, __: Envelope, hostname: str, responses: list[str]
    ) -> list[str]:
        """Note a client."""
        self.connections += 1
        self.visited.set()
        session.host_name = hostname
        return responses

    async def handle_RCPT(  # noqa: N802  the name that aiosmtpd calls
        self, server: SMTP, _: Session, envelope: Envelope, address: str, __: list[str]
    ) -> str:
        """Answer RCPT TO."""
        answer = self._next("RCPT")
        if answer is None:
            envelope.rcpt_tos.append(address)
            return "250 OK"
        return self._say(server, answer)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        """Accept a mail, and answer."""
        if self.silence:
            await self.silence.wait()
        answer = self._next("DATA")
        if answer:
            return answer
        content = envelope.original_content or b""
        if self.file:
            found = re.search(rb"^Message-ID: (\S+)", content, re.MULTILINE)
            with self.file.open("ab") as file:
                file.write((found[1] if found else b"?") + b"\n")
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.accepted.append(message)
        self.senders.append(envelope.mail_from or "")
        self.recipients.extend(envelope.rcpt_tos)
        self.was_encrypted.append(session.ssl is not None or _extra(server, "sslcontext") is not None)
        return "250 OK" if answer is None else self._say(server, answer)

    def authenticate(self, _: SMTP, __: Session, ___: Envelope, ____: str, given: object) -> AuthResult:
        """Check the password of a client."""
        assert isinstance(given, LoginPassword)
        self.logins.append(given.login.decode())
        is_right = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=is_right, handled=False)

    def _next(self, command: str) -> str | None:
        answers = self.answers.get(command)
        return answers.pop(0) if answers else None

    def _say(self, server: SMTP, answer: str) -> str:
        if not answer:
            _hang_up(server)
        return answer or "250 OK"

    def text(self, kind: str) -> str:
        """Return the text of the newest mail whose subject contains a word."""
        found = [message for message in self.accepted if kind in message["Subject"]]
        return str(found[-1].get_content())

    def token(self, kind: str) -> str:
        """Return the token in the link of the newest mail whose subject contains a word."""
        return token_of(self.text(kind))


def _extra(server: SMTP, name: str) -> object:
    return server.transport.get_extra_info(name) if server.transport else None


def _hang_up(server: SMTP) -> None:
    if isinstance(server.transport, asyncio.Transport):
        server.transport.abort()


def token_of(text: str) -> str:
    """Return the token in the link of a mail."""
    found = _LINK.search(text)
    assert found, text
    return found[1]


@contextlib.asynccontextmanager
async def postbox(
    box: Postbox | None = None,
    *,
    port: int = 0,
    starttls: ssl.SSLContext | None = None,
    tls: ssl.SSLContext | None = None,
    needs_password: bool = False,
) -> AsyncIterator[Postbox]:
    """An SMTP server in this process."""
    box, loop = box or Postbox(), asyncio.get_running_loop()
    served: list[SMTP] = []

    def serve() -> SMTP:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it does not see that the connection is encrypted
            made = SMTP(
                box,
                hostname="localhost",
                enable_SMTPUTF8=True,
                tls_context=starttls,
                authenticator=box.authenticate if needs_password else None,
                auth_required=needs_password,
                auth_require_tls=tls is None,
                loop=loop,
            )
        served.append(made)
        return made

    server = await loop.create_server(serve, "127.0.0.1", port, ssl=tls)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()
        for each in served:
            _hang_up(each)
        await server.wait_closed()
        await asyncio.gather(*(h for each in served if (h := each._handler_coroutine)), return_exceptions=True)  # noqa: SLF001


def mailer(services: Services, settings: Settings, **changes: object) -> Mailer:
    """Return a sender that a test drives by `await mailer.run_once()`."""
    return Mailer(services.db, shrunk(settings, **changes), services.tokens)


# ---------------------------------------------------------------- as a program


@contextlib.asynccontextmanager
async def smtp_process(port: int, file: Path) -> AsyncIterator[Process]:
    """An SMTP server in a process of its own, which notes in a file the Message-ID of each mail that it takes."""
    command = [sys.executable, "-m", MODULE, str(port), str(file)]
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, cwd=ROOT)
    assert process.stdout
    await process.stdout.readline()
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _main(port: int, file: Path) -> None:
    async with postbox(Postbox(file=file), port=port):
        print("serving", flush=True)  # noqa: T201  its parent waits for this
        await asyncio.to_thread(sys.stdin.read)  # its parent's end


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("file", type=Path)
    asked = parser.parse_args()
    asyncio.run(_main(asked.port, asked.file))
