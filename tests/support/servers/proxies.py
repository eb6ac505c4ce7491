"""Caddy and HAProxy with the configurations of docs/deployment, on a free port and with a certificate of a test."""

import asyncio
import contextlib
import os
import socket
import ssl
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trustme
from aiohttp import ClientSession, TCPConnector

from tests.support.people import Member
from tests.support.servers.processes import until

FOLDER = Path(__file__).parents[3] / "docs/deployment"
UPSTREAM = "127.0.0.1:8000"  # in the configurations
PROXY, CLIENT, OTHER_CLIENT = "127.0.0.1", "127.0.0.2", "127.0.0.3"  # addresses that Perch may see


@dataclass(frozen=True)
class Certificate:
    """A certificate for localhost, and the authority that clients trust."""

    authority: Path
    chain: Path
    key: Path
    both: Path

    @classmethod
    def made(cls, folder: Path) -> "Certificate":
        """Return a new certificate, in files of a folder."""
        authority = trustme.CA()
        issued = authority.issue_cert("localhost")
        made = cls(*(folder / name for name in ("authority.pem", "chain.pem", "key.pem", "both.pem")))
        authority.cert_pem.write_to_path(made.authority)
        issued.cert_chain_pems[0].write_to_path(made.chain)
        issued.private_key_pem.write_to_path(made.key)
        issued.private_key_and_cert_chain_pem.write_to_path(made.both)
        return made


@dataclass(frozen=True)
class Proxy:
    """A proxy that runs."""

    port: int
    certificate: Certificate

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://localhost:{self.port}"

    @property
    def tls(self) -> ssl.SSLContext:
        """What its clients trust."""
        return ssl.create_default_context(cafile=self.certificate.authority)

    @contextlib.asynccontextmanager
    async def visiting(self, address: str = CLIENT) -> AsyncIterator[Member]:
        """A client without a token, at an address of the loopback network."""
        connector = TCPConnector(ssl=self.tls, local_addr=(address, 0), family=socket.AF_INET)
        async with ClientSession(self.url, connector=connector) as session:
            yield Member(session)  # type: ignore[arg-type]  # it has what members use of a test's client

    async def curl(self, *arguments: str, address: str = CLIENT) -> str:
        """Return what curl prints of a request over HTTP/2."""
        done = await self.curling(*arguments, address=address)
        out, _ = await done.communicate()
        assert done.returncode == 0, (arguments, out)
        return out.decode()

    async def curling(self, *arguments: str, address: str = CLIENT) -> Process:
        """Start curl with a request over HTTP/2."""
        options = ("-sSN", "--http2", "--cacert", str(self.certificate.authority), "--interface", address)
        return await asyncio.create_subprocess_exec("curl", *options, "--ipv4", *arguments, stdout=PIPE)


def _caddy(folder: Path, certificate: Certificate, port: int, upstream: str) -> list[str]:
    text = (FOLDER / "Caddyfile").read_text(encoding="utf-8")
    for shown, taken in (
        ("example.org {", f"localhost:{port} {{\n\ttls {certificate.chain} {certificate.key}"),
        (UPSTREAM, upstream),
    ):
        assert shown in text
        text = text.replace(shown, taken)
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def _haproxy(folder: Path, certificate: Certificate, port: int, upstream: str) -> list[str]:
    text = (FOLDER / "haproxy.cfg").read_text(encoding="utf-8")
    for shown, taken in (
        ("bind :443", f"bind 127.0.0.1:{port}"),
        ("/etc/haproxy/example.org.pem", str(certificate.both)),
        (UPSTREAM, upstream),
    ):
        assert shown in text
        text = text.replace(shown, taken)
    (folder / "haproxy.cfg").write_text(text)
    return ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]


PROXIES: dict[str, Callable[[Path, Certificate, int, str], list[str]]] = {"caddy": _caddy, "haproxy": _haproxy}


@contextlib.asynccontextmanager
async def before(name: str, folder: Path, url: str, certificate: Certificate) -> AsyncIterator[Proxy]:
    """Run a proxy before the Perch at a URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    proxy = Proxy(port, certificate)
    command = PROXIES[name](folder, proxy.certificate, port, url.removeprefix("http://"))
    with (folder / f"{name}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command, stdout=log, stderr=log, env={**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
        )
    try:
        await until(partial(_accepts, process, port))
        yield proxy
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _accepts(process: Process, port: int) -> bool:
    assert process.returncode is None, "the proxy does not start: see its log"
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.close()
    return True
