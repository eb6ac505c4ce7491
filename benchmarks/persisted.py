"""What a request costs that sends its document, and one that sends a hash in its place: bytes, and CPU time.

Run it from a checkout with Perch installed, on Linux: `python -m benchmarks.persisted`. The server is a process of its
own on an embedded store in a folder that is removed at the end. The ways take turns, so that a busy machine slows all.
"""

from __future__ import annotations

import argparse
import json
import socket
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.streams import table
from benchmarks.versus import queries
from benchmarks.wire import Poster, Server, serving, sign_up

POSTS = 30
ROUNDS = 7  # of each way; the median counts
REQUESTS = 1_000  # in a round
_CHUNK = 1 << 18  # bytes read at a time
_FIELDS = "id text createdAt likeCount repostCount quoteCount commentCount replyCount viewerHasLiked viewerHasReposted"
_PARTS = " ".join(f"fragment Part{part} on Post {{ {_FIELDS} author {{ id login name bio }} }}" for part in range(12))
_SPREADS = " ".join(f"...Part{part}" for part in range(12))
DOCUMENTS: Mapping[str, str] = {
    "viewer": "query Me { viewer { id } }",
    "home": queries.HOME,
    "home, from components": "query Home($first: Int!) { homeTimeline(first: $first) { pageInfo { endCursor } "
    f"edges {{ cursor repostedByCount node {{ __typename ... on Node {{ id }} {_SPREADS} }} }} }} }} {_PARTS}",
}
Head = tuple[str, str]  # method and path, and the body


def _ways(document: str, variables: Mapping[str, object]) -> dict[str, Head]:
    """Return the requests that ask for the same in different ways."""
    name = {"version": 1, "sha256Hash": sha256(document.encode()).hexdigest()}
    extensions = {"persistedQuery": name}
    address = urlencode({"variables": json.dumps(variables), "extensions": json.dumps(extensions)})
    return {
        "the text": ("POST /graphql", json.dumps({"query": document, "variables": variables})),
        "its hash": ("POST /graphql", json.dumps({"variables": variables, "extensions": extensions})),
        "its hash, by GET": (f"GET /graphql?{address}", ""),
    }


def _request(way: Head, token: str) -> bytes:
    head, body = way
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
    return f"{head} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{kind}\r\n{body}".encode()


def _cost(server: Server, connection: socket.socket, request: bytes, count: int) -> float:
    """Return the CPU time of a request, µs."""
    before = server.cpu
    for _ in range(count):
        connection.sendall(request)
        answer = connection.recv(_CHUNK)
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(_CHUNK)
        assert body.startswith(b'{"data":'), body[:200]
    return (server.cpu - before) / count * 1e6


def _measure(server: Server, token: str, rounds: int) -> list[Sequence[object]]:
    rows: list[Sequence[object]] = []
    poster = Poster(server.port, token)
    connection = socket.create_connection(("127.0.0.1", server.port))
    for name, document in DOCUMENTS.items():
        variables = {"first": POSTS} if "$first" in document else {}
        extensions = {"persistedQuery": {"version": 1, "sha256Hash": sha256(document.encode()).hexdigest()}}
        body = json.dumps({"query": document, "variables": variables, "extensions": extensions})
        requests = {way: _request(head, token) for way, head in _ways(document, variables).items()}
        _cost(server, connection, _request(("POST /graphql", body), token), REQUESTS // 10)  # it registers the hash
        costs: dict[str, list[float]] = {way: [] for way in requests}
        for _ in range(rounds):
            for way, request in requests.items():
                costs[way].append(_cost(server, connection, request, REQUESTS))
        rows += [
            (name, way, f"{len(requests[way]):,}", f"{sorted(found)[rounds // 2]:,.0f}") for way, found in costs.items()
        ]
    connection.close()
    poster.socket.close()
    return rows


def main() -> None:
    """Print the bytes and the CPU time of a request, for each document and way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=ROUNDS, metavar="N", help=f"of each way (default {ROUNDS})")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as server:
        (token,), _ = sign_up(server.port, 1)
        author = Poster(server.port, token)
        for number in range(POSTS):
            query = "mutation($input: PostInput!) { post(input: $input) { status { id } userErrors { message } } }"
            author.ask(query, input={"text": f"a post as long as most are, number {number}, about tea"})
        rows = _measure(server, token, asked.rounds)
    table(("document", "sent", "bytes", "CPU, µs"), rows)


if __name__ == "__main__":
    main()
