"""Spans that stay in memory."""

from collections.abc import Sequence

from store.client.tracing import Span, SpanKind

TRACE, CALLER = 0x4BF92F3577B34DA6A3CE929D0E0E4736, 0x00F067AA0BA902B7  # those of the standard's examples
SAMPLED = {"traceparent": f"00-{TRACE:032x}-{CALLER:016x}-01"}
NOT_SAMPLED = {"traceparent": f"00-{TRACE:032x}-{CALLER:016x}-00"}


class Spans:
    """The spans that have ended since the last look."""

    def __init__(self) -> None:
        self._ended: list[Span] = []

    def keep(self, span: Span) -> None:
        """Take a span that has ended."""
        self._ended.append(span)

    def take(self, kind: SpanKind | None = None) -> list[Span]:
        """Return the spans, or those of one kind, in the order of their ends, and forget all."""
        found, self._ended = self._ended, []
        return [span for span in found if kind in {None, span.kind}]


def tree(spans: Sequence[Span]) -> list[str]:
    """Return the path of each span by name, from the first span of its trace that is here, in order of their starts."""
    known = {span.id: span for span in spans}

    def path(span: Span) -> str:
        above = known.get(span.parent)
        return f"{path(above)} > {span.name}" if above else span.name

    return [path(span) for span in sorted(spans, key=lambda span: span.began)]
