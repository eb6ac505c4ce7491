"""Spans as messages of OTLP, OpenTelemetry's protocol. No other module imports OpenTelemetry."""

import os
import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status

from store.client.tracing import Span, SpanKind

DESCRIPTIONS_KEPT = 1_000  # Encoded names and attributes of spans. Most spans have those of an earlier one.

_KINDS = {
    SpanKind.OPERATION: trace_pb2.Span.SPAN_KIND_SERVER,
    SpanKind.ROUND_TRIP: trace_pb2.Span.SPAN_KIND_CLIENT,
    SpanKind.SCRIPT: trace_pb2.Span.SPAN_KIND_INTERNAL,
    SpanKind.JOB: trace_pb2.Span.SPAN_KIND_CONSUMER,
}
_ATTRIBUTES: Mapping[str, str] = {  # names of OpenTelemetry's semantic conventions; others begin with `perch.`
    "name": "graphql.operation.name",
    "commands": "db.query.summary",
    "count": "db.operation.batch.size",
}
# The fields of a span that no other span has, as protobuf writes them: tag, and length where it is no number.
# trace_id (1), span_id (2), start_time_unix_nano (7) and end_time_unix_nano (8), then parent_span_id (4).
_OWN = struct.Struct("<2s16s2s8scQcQ")
_PARENT = b"\x22\x08"


def resource(service: str) -> Resource:
    """Return what all spans of this process have in common."""
    return Resource(attributes=[_fact("service.name", service), _fact("process.pid", os.getpid())])


def encoded(spans: Sequence[Span], of: Resource) -> bytes:
    """Return the body of a request that exports spans.

    Messages of protobuf may be joined as bytes. So what spans have in common is encoded once.
    """
    scope = ScopeSpans(scope=InstrumentationScope(name="perch")).SerializeToString()
    body = scope + b"".join([_field(b"\x12", _encoded(span)) for span in spans])  # ScopeSpans.spans (2)
    resource_spans = ResourceSpans(resource=of).SerializeToString() + _field(b"\x12", body)  # .scope_spans (2)
    return _field(b"\x0a", resource_spans)  # ExportTraceServiceRequest.resource_spans (1)


def _field(tag: bytes, value: bytes) -> bytes:
    return tag + _varint(len(value)) + value


def _varint(number: int) -> bytes:
    """Return a number as protobuf writes lengths: seven bits a byte, the lowest first, and 0x80 where more follow."""
    rest = number >> 7
    return bytes((number & 0x7F | 0x80,)) + _varint(rest) if rest else bytes((number,))


def _encoded(span: Span) -> bytes:
    own = _OWN.pack(
        b"\x0a\x10", span.trace.to_bytes(16), b"\x12\x08", span.id.to_bytes(8), b"\x39", span.began, b"\x41", span.ended
    )
    described = _description(span.kind, span.name, span.error, tuple(span.facts.items()))
    return own + _PARENT + span.parent.to_bytes(8) + described if span.parent else own + described


@lru_cache(DESCRIPTIONS_KEPT)
def _description(kind: SpanKind, name: str, error: str, facts: tuple[tuple[str, str | int], ...]) -> bytes:
    """Return the fields of a span that others may have, too."""
    described: bytes = trace_pb2.Span(
        name=name,
        kind=_KINDS[kind],
        attributes=[_fact(_ATTRIBUTES.get(fact) or f"perch.{fact}", value) for fact, value in facts],
        status=Status(code=Status.STATUS_CODE_ERROR, message=error) if error else None,
    ).SerializeToString()
    return described


def _fact(name: str, value: str | int) -> KeyValue:
    return KeyValue(
        key=name, value=AnyValue(int_value=value) if isinstance(value, int) else AnyValue(string_value=value)
    )
