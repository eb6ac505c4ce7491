"""The errors of a document, and a limit on the work of finding them."""

from graphql import GraphQLError, Node, SourceLocation

MOST_FAULTS = 5  # reported of one document
MOST_STEPS = 10_000  # of comparing the definitions of one document and merging its fields; at most some 5 ms
CODE = "GRAPHQL_VALIDATION_FAILED"


class TooManyFaults(Exception):
    """The maximum number of reported errors has been reached."""


class TooMuchWork(Exception):
    """Fragments are spread so often within each other that it takes too long to validate the document."""


class Faults:
    """The errors of one document; they keep neither its nodes nor its text alive."""

    def __init__(self) -> None:
        self.errors: list[GraphQLError] = []

    def add(self, message: str, *nodes: Node) -> None:
        """Add an error; raises TooManyFaults when the maximum is reached."""
        error = GraphQLError(message, extensions={"code": CODE})
        starts = [node.loc.start_token for node in nodes if node.loc]
        error.locations = [SourceLocation(start.line, start.column) for start in starts] or None
        self.errors.append(error)
        if len(self.errors) == MOST_FAULTS:
            raise TooManyFaults


class ValidationWork:
    """Counts steps whose number can grow faster than the document."""

    def __init__(self) -> None:
        self.steps = 0

    def spend(self, steps: int) -> None:
        """Count steps; raises TooMuchWork above the limit."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise TooMuchWork
