"""What is wrong with a document, and how much work it may take to find out."""

from __future__ import annotations

from graphql import GraphQLError, Node, SourceLocation

MOST_FAULTS = 5  # reported of one document
MOST_STEPS = 10_000  # of comparing one document's definitions and merging its fields: at most some 5 ms
CODE = "GRAPHQL_VALIDATION_FAILED"


class TooManyFaults(Exception):
    """As many errors were found as are reported."""


class TooMuchWork(Exception):
    """Fragments are spread so often within each other that it takes too long to validate the document."""


class Faults:
    """The errors of one document; they keep neither its nodes nor its text alive."""

    def __init__(self) -> None:
        self.errors: list[GraphQLError] = []

    def add(self, message: str, *nodes: Node) -> None:
        """Note an error; raises TooManyFaults where no more are reported."""
        error = GraphQLError(message, extensions={"code": CODE})
        starts = [node.loc.start_token for node in nodes if node.loc]
        error.locations = [SourceLocation(start.line, start.column) for start in starts] or None
        self.errors.append(error)
        if len(self.errors) == MOST_FAULTS:
            raise TooManyFaults


class Work:
    """Counts steps whose number can grow faster than the document."""

    def __init__(self) -> None:
        self.steps = 0

    def spend(self, steps: int) -> None:
        """Count steps; raises TooMuchWork."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise TooMuchWork
