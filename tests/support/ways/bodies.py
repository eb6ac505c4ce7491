"""Bodies of requests: GraphQL parameters of all kinds, JSON that is odd or none, encodings and framings."""

import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from schema.execution.parameters import digest

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    7,
    1.5,
    1e300,
    2**63,
    10**30,
    "",
    "x",
    "ü😀",
    "\x00",
    "\ud800",
    "a\nb",
    [],
    [1],
    [None],
    {},
    {"a": {"b": [1, "2", None]}},
    {"input": {}},
    {"persistedQuery": 1},
    {"persistedQuery": {"version": 1}},
    {"persistedQuery": {"version": 2, "sha256Hash": "0"}},
    {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}},
)
# The texts are JSON or nearly so.
RAW = (
    b"",
    b" ",
    b"\n",
    b"{",
    b"}",
    b"{}",
    b"[]",
    b"null",
    b"true",
    b"7",
    b'"x"',
    b"nonsense",
    b"\x00",
    b"{'query': '{ __typename }'}",
    b'{"query": "{ __typename }",}',
    b'{"query": "{ __typename }"} ',
    b'{"query": "{ __typename }"} x',
    b'{"query": "{ __typename }"}{"query": "{ __typename }"}',
    b'\xef\xbb\xbf{"query": "{ __typename }"}',
    b'{"query": "\xff"}',
    b'{"query": "{ __typename }", "x": "\xed\xa0\x80"}',
    b'{"query": "{ __typename }", "x": "\\ud800"}',
    b'{"query": "{ __typename }", "x": "\\ud83d\\ude00"}',
    b'{"query": "{ __typename }", "x": "\\u12"}',
    b'{"query": "{ __typename }", "x": "\\x"}',
    b'{"query": "{ __typename }", "x": "a\tb"}',
    b'{"query": "{ __typename }", "x": NaN}',
    b'{"query": "{ __typename }", "variables": {"x": Infinity}}',
    b'{"query": "{ __typename }", "variables": {"x": 1e999}}',
    b'{"query": "{ __typename }", "variables": {"x": -0}}',
    b'{"query": "{ __typename }", "variables": {"x": 01}}',
    b'{"query": "{ __typename }", "variables": {"x": 1, "x": 2}}',
    b'{"query": "{ nope }", "query": "{ __typename }"}',
    b'{"query": "{ __typename }", "query": "{ nope }"}',
    b'{"query": "{ __typename }", "query": null}',
    b'{"\\u0071uery": "{ __typename }"}',
    b'{"Query": "{ __typename }"}',
    b'{"query": "{ __typename }", "variables": {"\\ud800": 1}}',
    b'[{"query": "{ __typename }"}, {"query": "{ __typename }"}]',
    b'{"query": "{ __typename }", "variables": "{}"}',
    b'/* */ {"query": "{ __typename }"}',
    b"query=%7B%20__typename%20%7D",
    b'\r\n{"query":\r\n"{ __typename }"}\r\n',
    '{"query": "{ __typename }"}'.encode("utf-16"),
    '{"query": "{ __typename }"}'.encode("utf-32-le"),
    '{"query": "{ __typename }", "x": "ü"}'.encode("latin-1"),
)
LENGTHS = (b"+%d", b"-%d", b" %d", b"%d ", b"0%d", b"%d, %d", b"%dx", b"0x%x", b"%d.0", b"1%030d", b"%d\x00", b"\t%d\t")
TRANSFERS = (b"chunked", b"Chunked", b"gzip, chunked", b"chunked, gzip", b"identity", b"xchunked", b"chunked\t", b"")
SIZES = (4_000, 4_095, 4_096, 4_097, 4_097, 9_000, 70_000, 140_000, 262_144, 262_145)  # bytes, about usual limits
NAMES = ("query", "variables", "operationName", "extensions", "documentId", "doc_id", "id", "x")


@dataclass(frozen=True)
class Asked:
    """One operation that clients ask for."""

    query: str
    variables: dict[str, Any] = field(default_factory=dict)
    name: str | None = None


def payload(lot: Random, documents: Sequence[Asked]) -> bytes:
    """Return a body before it is encoded: mostly that of a usual client."""
    kind = lot.random()
    if kind < 0.07:
        return lot.choice(RAW)
    if kind < 0.08:
        return _deep(lot)
    if kind < 0.1:
        return json.dumps([_parameters(lot, documents) for _ in range(lot.randrange(3))]).encode()
    sent = _parameters(lot, documents)
    if kind < 0.2:
        for _ in range(lot.choice([1, 1, 2])):
            sent[lot.choice(NAMES)] = lot.choice(ODD)
    if kind < 0.22:
        sent.pop(lot.choice(list(sent)))
    return _text(lot, sent)


def _parameters(lot: Random, documents: Sequence[Asked]) -> dict[str, Any]:
    asked = lot.choice(documents)
    sent: dict[str, Any] = {"query": asked.query}
    if asked.variables or lot.random() < 0.2:
        sent["variables"] = asked.variables
    if asked.name is not None or lot.random() < 0.1:
        sent["operationName"] = asked.name
    if lot.random() < 0.1:
        _name(lot, sent)
    if lot.random() < 0.1:
        sent = dict(reversed(sent.items()))
    return sent


def _name(lot: Random, sent: dict[str, Any]) -> None:
    """Name the document by its hash, beside its text or in place of it."""
    sha = digest(sent["query"])
    match lot.randrange(4):
        case 0:
            sent["documentId"] = f"sha256:{sha}"
        case 1:
            sent["doc_id"] = sha
        case 2:
            sent["extensions"] = {"persistedQuery": {"version": 1, "sha256Hash": sha}}
        case _:
            sent["documentId"] = sha[:-1] + "0"
    if lot.random() < 0.6:
        del sent["query"]


def _text(lot: Random, sent: dict[str, Any]) -> bytes:
    style = lot.randrange(5)
    text = json.dumps(
        sent,
        ensure_ascii=style != 1,
        separators=(",", ":") if style in {2, 3} else None,
        indent=2 if style == 4 else None,
    )
    data = text.encode("utf-8", "surrogatepass")
    if lot.random() < 0.06:  # about the limit of the body, exactly at it as well
        data = data[:-1] + b" " * max(0, lot.choice(SIZES) - len(data)) + b"}"
    return data


def _deep(lot: Random) -> bytes:
    depth, (begin, end) = lot.choice([50, 500, 1_000, 1_900]), lot.choice([(b"[", b"]"), (b'{"a":', b"}")])
    place = lot.choice(["variables", "extensions", "x"])
    return b'{"query": "{ __typename }", "%s": {"a": ' % place.encode() + begin * depth + b"1" + end * depth + b"}}"


def coded(lot: Random, data: bytes) -> tuple[bytes, list[bytes]]:
    """Return a body in some content coding, rightly or not, and the header of that."""
    code = lot.choice(
        [b"gzip", b"deflate", b"br", b"zstd", b"identity", b"GZIP", b"x-gzip", b"gzip, gzip", b"", b"nope"]
    )
    if code.lower() in {b"gzip", b"x-gzip"} and lot.random() < 0.8:
        data = gzip.compress(data, mtime=0)
    elif code == b"deflate" and lot.random() < 0.8:
        data = zlib.compress(data)[2:-4] if lot.random() < 0.5 else zlib.compress(data)
    if lot.random() < 0.1:
        data = data[: len(data) // 2]
    elif lot.random() < 0.05:
        data = gzip.compress(data + b" " * 200_000, mtime=0)
    return data, [b"Content-Encoding: " + code]


def framed(lot: Random, data: bytes) -> tuple[bytes, list[bytes]]:
    """Return a body as it is sent, and the headers that say where it ends: rightly, in most cases."""
    size, kind = len(data), lot.random()
    if kind < 0.15:
        return chunked(lot, data), [b"Transfer-Encoding: chunked"]
    if kind < 0.25:
        return _coded_for_transfer(lot, data)
    headers = [b"Content-Length: %d" % size]
    if kind < 0.3:
        headers = []
    elif kind < 0.35:
        headers = [b"Content-Length: %d" % max(0, size + lot.choice([-7, -1, 1, 2, 50]))]
    elif kind < 0.45:
        form = lot.choice(LENGTHS)
        headers = [b"Content-Length: " + form % ((size,) * form.count(b"%"))]
    elif kind < 0.5:
        headers.append(b"Content-Length: %d" % (size + lot.choice([0, 1])))
    return data, headers


def _coded_for_transfer(lot: Random, data: bytes) -> tuple[bytes, list[bytes]]:
    """Return a body with a Transfer-Encoding of some kind, perhaps with a length beside it."""
    code = lot.choice(TRANSFERS)
    headers = [b"Transfer-Encoding: " + code]
    if b"chunked" in code.lower() and lot.random() < 0.8:
        data = chunked(lot, data)
    if lot.random() < 0.5:
        headers.insert(lot.choice([0, 1]), b"Content-Length: %d" % len(data))
    return data, headers


def chunked(lot: Random, data: bytes) -> bytes:
    """Return a body in chunks of all sizes; in one of ten cases something is wrong."""
    parts, place = [], 0
    while place < len(data):
        size = min(lot.choice([1, 5, 30, 1_000, 5_000]), len(data) - place)
        extension = lot.choice([b""] * 8 + [b";a=b", b' ; a="b"', b" "])
        form = lot.choice([b"%x", b"%x", b"%X", b"0%x"])
        parts.append(form % size + extension + b"\r\n" + data[place : place + size] + b"\r\n")
        place += size
    trailers = lot.choice([b""] * 5 + [b"X-Trailer: 1\r\n", b"Authorization: Bearer bob\r\n", b"broken\r\n"])
    sent = b"".join([*parts, b"0\r\n", trailers, b"\r\n"])
    if lot.random() < 0.1:  # a byte is wrong, or the end is missing
        place = lot.randrange(len(sent))
        return sent[:place] + lot.choice([b"", b"\n", b"g", b"\r\n", b" "]) + sent[place + 1 :]
    return sent
