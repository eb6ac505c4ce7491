"""A schema made to be expensive, and the costs of documents under it."""

from typing import Any

from graphql import build_schema

from schema.execution.documents import DocumentCache
from store.settings import Settings

SDL = """
type Query {
  user(login: String): User
  home(first: Int, last: Int): Items!
  popular(first: Int = 10): Items!
  nodes(ids: [ID!]!): [User]!
  tags(first: Int = 10): [String!]!
}
type Mutation { follow(input: UsersInput!): Payload }
input UsersInput { userIds: [ID!]! note: String }
type Payload { users: [User!]! }
type Items { nodes: [Item!]! edges: [Edge!]! total: Int! }
type Edge { cursor: String! node: Item! }
union Item = User | Note
type Note { id: ID! text: String! author: User! }
type User { id: ID! name: String! friends: [User!]! followers(first: Int = 20): Items! }
"""


def cache(**turned: Any) -> DocumentCache:
    return DocumentCache(build_schema(SDL), Settings(**turned))


def cost(query: str, variables: dict[str, Any] | None = None, **turned: Any) -> int:
    document = cache(**turned).get(query)
    assert not document.errors
    (only,) = document.costs.values()
    return only.total(variables or {})
