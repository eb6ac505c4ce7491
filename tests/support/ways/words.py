"""Words that requests are drawn from: usual ones, odd ones, and many that are not valid HTTP."""

from collections.abc import Mapping


def _of(words: bytes, *more: bytes) -> list[bytes]:
    """Return words that a bar separates, and some more."""
    return [*words.split(b"|"), *more]


METHODS = _of(b"GET|HEAD|PUT|DELETE|OPTIONS|PATCH|PURGE|TRACE|CONNECT|post|Post|POSTS|P\x00ST||PO ST| POST|PRI|QUERY")
TARGETS = _of(
    b"/|/graphql/|//graphql|/GraphQL|/graph%71l|/graphql?|/graphql?x|/graphql#x|"
    b"/graphql?query={__typename}|/graphql?query=%FF|/graphql?variables={|*|graphql||"
    b"http://x/graphql|https://user@x:1/graphql?x=1|http://[::1/graphql|//x/graphql|x:443|/healthz|"
    b"/readyz|/readyz/writes|/nothing|/graphql/..|/./graphql|/gra phql|/graphql\xc3\xbc|"
    b"/graphql\xff|/graphql\x00|/graphql\t|/graphql;x|/exports/x|/a%00"
)
VERSIONS = _of(
    b"HTTP/1.0|HTTP/1.0|HTTP/1.0|HTTP/1.2|HTTP/2.0|HTTP/0.9|http/1.1|HTTP/1.1 ||HTTP/11|HTTP/1.|"
    b"HTTP/1.1\t|HTTQ/1.1|HTTP/1.10"
)
USUAL = {
    b"Host": b"x",
    b"Content-Type": b"application/json",
    b"Accept": b"*/*",
    b"User-Agent": b"Client/1.0 (a comment)",
    b"Accept-Encoding": b"gzip, deflate, br",
    b"Accept-Language": b"en",
    b"Connection": b"keep-alive",
}
ACCEPTS = _of(b"*/*|*/*|*/*|application/graphql-response+json|text/event-stream|text/event-stream, */*;q=0.5")
VALUES: Mapping[bytes, list[bytes]] = {
    b"Host": _of(b"|x|y:80|x, y|\xff|a b|[::1]:80|x/"),
    b"Connection": _of(
        b"close|close|Close|keep-alive|Keep-Alive, TE|close, keep-alive||x|keep-alive, close|"
        b"upgrade|clos|close\t| close "
    ),
    b"Content-Type": _of(
        b'application/json; charset=utf-8|Application/JSON;charset="UTF-8"|application/json;|'
        b"application/json; charset=latin-1|application/json ; x=y|text/plain|application/graphql||"
        b"application/json; charset=utf8; charset=latin-1|application/json, text/plain|"
        b"application/jsonp|multipart/form-data; boundary=x|nonsense|"
        b"application/graphql-response+json|\xff|;|a/b/c|application/json\t| application/json|"
        b"application/json; charset|application/json; charset=utf_8"
    ),
    b"Accept": _of(
        b"application/json|application/graphql-response+json|text/event-stream|text/html||"
        b"application/graphql-response+json; charset=utf-8, application/json; charset=utf-8; q=0.9|"
        b"*/*;q=0|a|text/event-stream, application/json;q=0.1|application/*|text/html, */*;q=0.1|"
        b"\xff|image/png|application/json; charset=latin-1|"
        b"application/graphql-response+json;q=0.5, */*;q=0.4|,,|*"
    ),
    b"Accept-Encoding": _of(b"identity||gzip;q=0|*"),
    b"X-Request-Id": _of(
        b"r-1|a.b_c-D9||a b|a\tb|\xc3\xbc|<script>|r-1,r-2|a\x00b|a\rX-Evil: 1|a\nX-Evil: 1|a\x0bb|"
        b"\xff| r-2 |%0d%0aX-Evil:1",
        b"x" * 64,
        b"x" * 65,
    ),
    b"Origin": _of(
        b"https://app.example|https://APP.example|https://app.example:443|https://evil.example|"
        b"null||*|https://app.example, https://evil.example|https://app.example/|\xff|app.example|"
        b"https://app.example\rX-Evil: 1"
    ),
    b"traceparent": _of(
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01|00-0-0-00||nonsense|\xff|"
        b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00|"
        b"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    ),
    b"tracestate": _of(b"a=b"),
    b"X-Forwarded-For": _of(
        b"192.0.2.1|192.0.2.1, 127.0.0.9|2001:db8::1|[2001:db8::1]:80|nonsense||"
        b"192.0.2.1:80, 192.0.2.2|\xff|,|::ffff:192.0.2.7"
    ),
    b"X-Forwarded-Proto": _of(b"https"),
    b"Forwarded": _of(b"for=192.0.2.1"),
    b"User-Agent": _of(b"|\xc3\xbc\xff|a  b|\ta\t", b"x" * 400),
    b"Expect": _of(b"100-continue|100-Continue|nothing||\xff"),
    b"Upgrade": _of(b"websocket|WebSocket|h2c||websocket, x|\xff"),
    b"Sec-WebSocket-Version": _of(b"13|8"),
    b"Sec-WebSocket-Key": _of(b"dGhlIHNhbXBsZSBub25jZQ==|x"),
    b"Sec-WebSocket-Protocol": _of(b"graphql-transport-ws|chat"),
    b"Sec-Fetch-Site": _of(b"same-origin|cross-site"),
    b"Cookie": _of(b"a=b; c=d|\xff", b"x" * 3_000),
    b"Trailer": _of(b"X-Trailer"),
    b"TE": _of(b"trailers"),
    b"Keep-Alive": _of(b"timeout=5"),
    b"Content-Encoding": _of(b"gzip|identity|br|"),
    b"Transfer-Encoding": _of(b"chunked|identity|"),
    b"Content-Length": _of(b"0|5|x||99999999|-1|184467440737095516160"),
    b"X-HTTP-Method-Override": _of(b"GET"),
    b"Range": _of(b"bytes=0-1"),
    b"If-None-Match": _of(b"*"),
    b"Access-Control-Request-Method": _of(b"POST"),
    b"X-Unknown": _of(b"|x|\x80\xff|\x01", b"x" * 8_000, b"x" * 8_180, b"x" * 8_190, b"x" * 9_000, b"x" * 70_000),
    b"x_unknown": _of(b"x"),
}
LINES = _of(
    b"no colon|: no name|Bad Name: x|X-Space : x|X-F\xc3\xbc: x|\tfolded| folded: x|X:y|"
    b"X-Bare: a\rb|X-Bare: a\nb|X-Null\x00: x|X@: x|Content-Length : 5|Transfer-Encoding : chunked|"
    b"Content-Length\x00: 5|X-Two: a\r\n b|X-Lone: a\nTransfer-Encoding: chunked|\rX-Early: 1|"
    b"X-End: \r|Content_Length: 5|Content-Type: application/json\r\n ; charset=latin-1|",
    b"X:" + b" " * 9_000 + b"y",
)
