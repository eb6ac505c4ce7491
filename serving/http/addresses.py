"""Client addresses: reads `X-Forwarded-For`, as far as trusted proxies wrote it."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp import web

FORWARDED_FOR = "X-Forwarded-For"

PREFIX_BITS = 64  # of an IPv6 prefix: one customer's network, in which they can use any address (RFC 6177)
ADDRESSES_KEPT = 10_000  # cached results, both of parsed addresses and of clients


class Proxies:
    """The trusted networks, whose `X-Forwarded-For` is believed."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(network) for network in networks]
        self._known = lru_cache(ADDRESSES_KEPT)(self._client)

    def client(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """Return the address that a client is counted by: the last one that is not a trusted proxy.

        An IPv6 client is counted by its /64 prefix, such as `2001:db8::/64`.
        `peer` is the other end of the connection, None for a Unix socket. `forwarded` holds the values of the
        X-Forwarded-For headers in order. Each proxy appends the address that it saw. So only the end of the list, as
        far as trusted proxies wrote it, is reliable. The rest is the client's own claim.
        """
        return self._known(peer, tuple(forwarded))

    def of_request(self, request: web.BaseRequest) -> str:
        """Return the address that the client of a request is counted by."""
        return self.client(request.remote, request.headers.getall(FORWARDED_FOR, []))

    def share(self, peer: str | None) -> str | None:
        """Return the address that a connection is counted by; None for a trusted proxy and a Unix socket."""
        address = _read(peer or "")
        return None if address is None or self.trusts(address) else _counted(address)

    def is_proxy(self, peer: str | None) -> bool:
        """Return whether the other end of a connection is a trusted proxy, or comes by a Unix socket."""
        return self.share(peer) is None

    def _client(self, peer: str | None, forwarded: Sequence[str]) -> str:
        address = _read(peer or "")
        if address is None or not self.trusts(address):
            return _counted(address) if address else peer or ""
        for entry in reversed(",".join(forwarded).split(",")):
            named = _read(entry)
            if named is None:
                break
            address = named
            if not self.trusts(named):
                break
        return _counted(address)

    def trusts(self, address: IPv4Address | IPv6Address) -> bool:
        """Return whether an address lies in a trusted network."""
        return any(address in network for network in self._networks)


def _counted(address: IPv4Address | IPv6Address) -> str:
    return str(address if isinstance(address, IPv4Address) else IPv6Network((int(address), PREFIX_BITS), strict=False))


@lru_cache(ADDRESSES_KEPT)
def _read(text: str) -> IPv4Address | IPv6Address | None:
    """Return the address in an entry such as `192.0.2.1`, `192.0.2.1:4711` or `[2001:db8::1]:4711`."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host)
    except ValueError:
        return None
    # A dual-stack listener reports IPv4 peers as IPv4-mapped IPv6 addresses.
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
