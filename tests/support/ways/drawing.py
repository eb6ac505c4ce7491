"""Draws requests and how they are sent: most are nearly usual, with a few twists."""

from collections.abc import Sequence
from random import Random
from urllib.parse import quote, urlencode

from tests.support.ways import bodies
from tests.support.ways.bodies import Asked
from tests.support.ways.cases import BREAK, Case, Cut, RawRequest, Write
from tests.support.ways.words import ACCEPTS, LINES, METHODS, TARGETS, USUAL, VALUES, VERSIONS

ADDRESSES = ("127.0.0.1", "127.0.0.1", "127.0.0.9")  # the last one is a trusted proxy
SILENCES = (0.0,) * 8 + (0.15, 0.25, 0.35, 0.45)  # s; the kinds of requests have a patience of 0.1 to 0.4 s
OF_BODY = {b"Content-Length", b"Transfer-Encoding", b"Content-Encoding", b"Expect", b"Upgrade"}
PLAIN = [name for name in VALUES if name not in OF_BODY]


class Drawing:
    """Draws cases for one site, the same ones for the same seed and number."""

    def __init__(self, seed: int, documents: Sequence[Asked], authorizations: Sequence[bytes]) -> None:
        self._seed, self._documents, self._authorizations = seed, documents, authorizations
        self._lot = Random()  # noqa: S311  chance that can be repeated, no secret

    def case(self, number: int) -> Case:
        """Return the case of a number."""
        self._lot = lot = Random(f"{self._seed} {number}")  # noqa: S311  the same
        count = lot.choice([1, 1, 1, 2, 3, 5])
        silence = lot.choice(SILENCES) if lot.random() < 0.3 else 0.0
        return Case(tuple(self._write() for _ in range(count)), lot.choice(ADDRESSES), silence)

    def _write(self) -> Write:
        count = self._lot.choice([1] * 12 + [2, 3, 5])
        requests = tuple(self._request() for _ in range(count))
        return Write(requests, tuple(self._cuts(requests)))

    def _request(self) -> RawRequest:
        """Return a request; in an eighth of all cases anything about it may be odd. The connection often ends then."""
        lot = self._lot
        is_odd = lot.random() < 0.13
        twists = lot.choice([1, 1, 1, 2, 3, 6] if is_odd else [0, 0, 0, 1, 1, 2])
        if lot.random() < 0.12:
            return self._get(twists, is_odd=is_odd)
        data, headers = bodies.payload(lot, self._documents), list[bytes]()
        if lot.random() < 0.06:
            data, headers = bodies.coded(lot, data)
        more = [b"Content-Length: %d" % len(data)]
        if is_odd:
            data, more = bodies.framed(lot, data)
        elif lot.random() < 0.05:
            data, more = bodies.chunked(lot, data), [b"Transfer-Encoding: chunked"]
        line = self._line(b"POST", b"/graphql", is_odd=is_odd)
        wire_break = b"\n" if lot.random() < 0.01 else BREAK
        return RawRequest(line, tuple(self._headers([*headers, *more], twists, is_odd=is_odd)), data, wire_break)

    def _get(self, twists: int, *, is_odd: bool) -> RawRequest:
        lot = self._lot
        asked = lot.choice(self._documents)
        query = urlencode({"query": asked.query.encode("utf-8", "replace")}) if lot.random() < 0.8 else ""
        if asked.name and lot.random() < 0.8:
            query += f"&operationName={quote(asked.name)}"
        if lot.random() < 0.2:
            query += lot.choice(["&variables={}", "&variables=x", "&extensions=[]", "&query=x", "&documentId=x", "&a"])
        target = f"/graphql?{query}".encode()
        line = self._line(b"GET", target, is_odd=is_odd)
        return RawRequest(line, tuple(self._headers([], twists, is_odd=is_odd)))

    def _line(self, method: bytes, target: bytes, *, is_odd: bool) -> bytes:
        lot, version = self._lot, b"HTTP/1.1"
        kind = lot.random() if is_odd else 1.0
        if kind < 0.1:
            method = lot.choice(METHODS)
        elif kind < 0.2:
            target = lot.choice(TARGETS)
        elif kind < 0.3:
            version = lot.choice(VERSIONS)
        elif kind < 0.32:
            target += b"?" + b"x" * lot.choice([8_100, 8_170, 8_180, 8_190, 9_000])
        elif kind < 0.34:
            return lot.choice(
                [b"", b"\r\nPOST /graphql HTTP/1.1", b"POST  /graphql  HTTP/1.1", b"POST", b"\x16\x03\x01"]
            )
        return b" ".join([method, target, version])

    def _headers(self, of_body: list[bytes], twists: int, *, is_odd: bool) -> list[bytes]:
        lot = self._lot
        some = dict(list(USUAL.items())[: lot.choice([2, 2, 3, 4, 7, 7, 7, 1 if is_odd else 2])])
        if b"Accept" in some:
            some[b"Accept"] = lot.choice(ACCEPTS)
        if lot.random() < 0.6:
            some[b"Authorization"] = lot.choice(self._authorizations)
        if lot.random() < 0.3:
            some[b"X-Request-Id"] = lot.choice([b"r-1", b"r-2"])
        lines = [name + b": " + value for name, value in some.items()]
        place = lot.randrange(len(lines) + 1)
        lines[place:place] = of_body
        for _ in range(twists):
            self._twist(lines, is_odd=is_odd)
        return lines

    def _twist(self, lines: list[bytes], *, is_odd: bool) -> None:
        """Change one thing about the headers."""
        lot, kind = self._lot, self._lot.random() * (1.0 if is_odd else 0.58)
        if kind < 0.5 or not lines:
            name = lot.choice(list(VALUES) if is_odd else PLAIN)
            self._set(lines, name, lot.choice(VALUES[name]))
        elif kind < 0.58:
            self._set(lines, b"Authorization", lot.choice(self._authorizations))
        elif kind < 0.66:
            del lines[lot.randrange(len(lines))]
        elif kind < 0.72:
            lines.insert(lot.randrange(len(lines) + 1), lot.choice(lines))
        elif kind < 0.78:
            lot.shuffle(lines)
        elif kind < 0.86:
            self._respell(lines)
        elif kind < 0.96:
            lines.insert(lot.randrange(len(lines) + 1), lot.choice(LINES))
        else:
            lines += [
                b"X-%d: %d" % (number, number) for number in range(lot.choice([20, 110, 118, 124, 126, 128, 300]))
            ]

    def _set(self, lines: list[bytes], name: bytes, value: bytes) -> None:
        """Add a header; in most cases, in place of the one of this name."""
        kept = [line for line in lines if not line.lower().startswith(name.lower() + b":")]
        if self._lot.random() < 0.8:
            lines[:] = kept
        lines.insert(self._lot.randrange(len(lines) + 1), name + b": " + value)

    def _respell(self, lines: list[bytes]) -> None:
        """Write the name of a header, or the space around its value, in another way."""
        lot, place = self._lot, self._lot.randrange(len(lines))
        name, colon, value = lines[place].partition(b":")
        name = lot.choice([name.lower(), name.upper(), name.title(), name.swapcase(), name])
        value = value.strip(b" ")
        before, after = lot.choice([b"", b" ", b"  ", b"\t", b" \t "]), lot.choice([b"", b"", b" ", b"\t"])
        lines[place] = name + colon + before + value + after

    def _cuts(self, requests: Sequence[RawRequest]) -> list[Cut]:
        """Return where the bytes are cut: in most cases nowhere, else anywhere, or where something ends."""
        lot, wires = self._lot, [one.wire for one in requests]
        size, kind = sum(map(len, wires)), lot.random()
        if kind < 0.55 or size < 2:
            return []
        if kind < 0.57 and size < 600:
            return [Cut(at, settles=False) for at in range(1, size)]
        places = [lot.randrange(1, size) for _ in range(lot.choice([1, 1, 2, 5]))]
        if kind < 0.8:
            ends = self._ends(requests)
            places = [min(max(1, lot.choice(ends) + lot.choice([-3, -2, -1, 0, 0, 0, 1])), size - 1) for _ in range(2)]
        return [Cut(at, settles=lot.random() < 0.5) for at in sorted(set(places))]

    def _ends(self, requests: Sequence[RawRequest]) -> list[int]:
        ends, begin = [], 0
        for one in requests:
            begin += len(one.wire)
            ends += [begin - len(one.body), begin]
        return ends
