"""The reference tables of the documentation, generated from the code."""

import inspect
from collections.abc import Iterator
from http import HTTPStatus

import schema  # noqa: F401  declares the descriptions of refusals
import serving.http.app  # noqa: F401  every class of error is loaded with it
from resolvers.process.errors import RequestError, UserErrorCode
from serving.metrics.catalogue import metrics_table
from serving.streaming.websocket import close_codes_table
from store.keys.table import layout_table
from store.settings import settings_table

_NOT_RAISED = (  # codes without an exception class, set by graphql-core or `schema.execution`
    ("GRAPHQL_PARSE_FAILED", "200 or 400", "The document has a syntax error. Correct the client."),
    ("GRAPHQL_VALIDATION_FAILED", "200 or 400", "The document does not fit the schema. Correct the client."),
    ("INTERNAL", "500", "The server has a defect. Report `extensions.requestId`, which the log names too."),
)


def tables() -> dict[str, str]:
    """Return every generated table in Markdown, by its subject."""
    return {
        "settings": settings_table(),
        "keys": layout_table(),
        "metrics": metrics_table(),
        "close codes": close_codes_table(),
        "error codes": error_codes_table(),
        "refusals": refusals_table(),
    }


def error_codes_table() -> str:
    """Return the table of error codes in the `extensions` of GraphQL errors."""
    raised = {(error.code, _shown(error.status), inspect.cleandoc(error.__doc__ or "")) for error in _request_errors()}
    rows = [f"| `{code}` | {status} | {meaning} |" for code, status, meaning in sorted({*raised, *_NOT_RAISED})]
    return "\n".join(["| code | HTTP status | meaning, and what the client does |", "|---|---|---|", *rows])


def refusals_table() -> str:
    """Return the table of error codes in `userErrors`."""
    codes = vars(UserErrorCode)["__strawberry_definition__"].values  # the schema declares their descriptions
    rows = [f"| `{code.name}` | {code.description} |" for code in codes]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


def _shown(status: int) -> str:
    return "200 or 400" if status == HTTPStatus.OK else str(int(status))


def _request_errors(parent: type[RequestError] = RequestError) -> Iterator[type[RequestError]]:
    """Yield the subclasses that set a code of their own."""
    for error in parent.__subclasses__():
        if "code" in vars(error):
            yield error
        yield from _request_errors(error)
