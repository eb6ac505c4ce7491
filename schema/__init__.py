"""The GraphQL schema that clients may query: declarations, no decisions."""

from datetime import datetime

from strawberry.schema.config import StrawberryConfig
from strawberry.schema.types.scalar import DEFAULT_SCALAR_REGISTRY

from schema.execution import inputs
from schema.execution.operations import Schema
from schema.root import Mutation, Query, Subscription
from schema.types.conversations import Conversation, Message
from schema.types.groups import Group
from schema.types.nodes import DATE_TIME
from schema.types.notifications import Notification
from schema.types.posts import Comment, Repost, Status
from schema.types.promotions import Promotion
from schema.types.users import User
from store.secret import Secret
from store.settings import Settings

_STRING = DEFAULT_SCALAR_REGISTRY[str]


def build(settings: Settings) -> Schema:
    """Build the schema with the limits of the settings."""
    schema = Schema(
        settings=settings,
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=[User, Status, Repost, Comment, Group, Promotion, Notification, Conversation, Message],
        config=StrawberryConfig(scalar_map={datetime: DATE_TIME, Secret: _STRING}),
    )
    core = schema._schema  # noqa: SLF001  strawberry has no public attribute for it
    inputs.wrap_secrets(core)
    inputs.drop_null_defaults(core)
    schema.documents.introspection.prepare()
    return schema
