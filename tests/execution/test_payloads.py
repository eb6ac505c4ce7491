"""Tests of mutation payloads: the schema's payloads show what resolvers return."""

import pytest
import strawberry

from resolvers.operation.context import Context
from resolvers.operation.payloads import PostIdPayload
from schema.mutations.declaring import mutation


@strawberry.input
class NamesAPost:
    post_id: str


@strawberry.type
class Misspelled:
    psot: str | None
    user_errors: list[str]


async def act(context: Context, *, post_id: str) -> PostIdPayload:
    """Do nothing."""
    raise NotImplementedError


def test_a_payload_that_shows_what_its_resolver_does_not_return_is_refused_at_import() -> None:
    with pytest.raises(TypeError, match="Misspelled and what act returns differ in post, psot"):
        mutation(act, NamesAPost, Misspelled, description="Does nothing.")
