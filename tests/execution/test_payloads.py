"""Tests of mutation payloads: the schema describes what resolvers return."""

import pytest
import strawberry

from resolvers.operation.context import Context
from resolvers.operation.payloads import Payload
from schema.mutations.declaring import mutation
from schema.types.payloads import payload


@strawberry.input
class NamesAPost:
    post_id: str


class Undescribed(Payload, frozen=True, kw_only=True):
    post: str | None = None


async def act(context: Context, *, post_id: str) -> Undescribed:
    """Do nothing."""
    raise NotImplementedError


def test_a_payload_without_a_description_is_refused_at_import() -> None:
    """A mutation whose payload nothing describes cannot be declared."""
    with pytest.raises(TypeError, match="Undescribed, which act returns, has no description"):
        mutation(act, NamesAPost, description="Does nothing.")


def test_a_description_of_other_fields_is_refused_at_import() -> None:
    """A payload whose description misspells a field cannot be declared."""
    with pytest.raises(TypeError, match="Undescribed and its description differ in post, psot"):
        payload(Undescribed, "What was done.", psot="The post.")
