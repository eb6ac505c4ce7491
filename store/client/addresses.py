"""The addresses in REDIS_URL: one server, or some nodes of a cluster."""

from __future__ import annotations

from urllib.parse import urlsplit


def addresses(url: str) -> list[str]:
    """Return a complete URL for each address of a URL with several, such as `redis://:secret@one:6379,two:6379/0`."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return [url]
    credentials, at, hosts = parts.netloc.rpartition("@")
    return [parts._replace(netloc=f"{credentials}{at}{host.strip()}").geturl() for host in hosts.split(",")]
