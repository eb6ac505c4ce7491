"""Measures the CPU that each field of each type takes, and compares it with the field's price.

Run it from a checkout with Perch installed: `python -m benchmarks.costs`. It starts a store of its own in a folder that
is removed at the end, fills it through GraphQL, and executes operations in this process. It asks for each field of a
hundred objects at once, with the records cached. It prints the fields by µs of CPU for each unit of their price.
`--write` writes what it has measured into the file that a test compares with the prices.
"""

import argparse
import asyncio
import json
import logging
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog
from graphql import GraphQLField, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, get_named_type, is_leaf_type

import schema
from resolvers.operation.context import Context
from resolvers.process.services import Services
from resolvers.process.tokens import Claims
from schema.execution.costs import Prices
from schema.execution.operations import Schema
from serving.http.app import spare_the_collector
from store.client.database import Database
from store.embedded import attach
from store.settings import Settings

MEASURED = Path(__file__).with_suffix(".json")  # µs of one field of one object, by "Type.field"
MEMBERS, POSTS, REACTIONS, GROUPS = 40, 100, 4, 20  # reactions are of each kind to each post
ALIASES = 6  # of a field in one operation
ROUNDS = 7
SHOWN = 25
UNLIMITED = (
    *("sign_ups_per_hour", "posts_per_hour", "comments_per_hour", "likes_per_hour", "follows_per_hour"),
    *("messages_per_hour", "conversations_per_hour", "max_cost", "same_text_targets"),
)
TOPICS = 20  # posts with hashtags
KINDS = ("User", "Status", "Comment", "Group", "Conversation", "Message")  # whose fields are measured
SIGN_UP = "mutation($i: SignUpInput!) { signUp(input: $i) { accessToken viewer { user { id } } } }"
POST = "mutation($i: PostInput!) { post(input: $i) { status { id } } }"
COMMENT = "mutation($i: CommentInput!) { comment(input: $i) { comment { id } } }"
GROUP = "mutation($i: CreateGroupInput!) { createGroup(input: $i) { group { id } } }"
TALK = "mutation($i: StartConversationInput!) { startConversation(input: $i) { message { id conversation { id } } } }"


@dataclass
class PricedSite:
    """A site in this process, its members, and the ids of its objects by type."""

    services: Services
    schema: Schema
    members: list[Claims] = field(default_factory=list)
    ids: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    async def ask(self, query: str, by: Claims | None = None, **fields: Any) -> Any:
        """Return the data of an operation; `fields` are those of its input."""
        context = Context(self.services, by, address="127.0.0.1", user_agent="", request_id="")
        result = await self.schema.execute(query, {"i": fields} if fields else None, context)
        if result.errors:
            raise SystemExit(f"{query[:200]}: {result.errors[0].message}")
        return result.data

    async def do(self, name: str, kind: str, by: Claims, **fields: Any) -> None:
        """Run a mutation of which nothing is needed."""
        await self.ask(f"mutation($i: {kind}!) {{ {name}(input: $i) {{ userErrors {{ message }} }} }}", by, **fields)

    async def fill(self) -> None:
        """Sign members up, who follow each other, post, and react to posts."""
        for n in range(MEMBERS):
            who: dict[str, Any] = {"login": f"m{n}", "name": f"Member {n}", "email": f"m{n}@example.org"}
            made = (await self.ask(SIGN_UP, **who, password="correct horse battery"))["signUp"]  # noqa: S106
            self.members.append(self.services.tokens.read(made["accessToken"]))
            self.ids["User"].append(made["viewer"]["user"]["id"])
        for n, member in enumerate(self.members):
            await self.do(
                "follow", "UsersInput", member, userIds=[one for one in self.ids["User"] if one != self.ids["User"][n]]
            )
        for n in range(POSTS):
            made = await self.ask(POST, self.members[n % MEMBERS], text=f"post {n} @m1 @m2 #tea{n % TOPICS}")
            self.ids["Status"].append(made["post"]["status"]["id"])
        for n, post in enumerate(self.ids["Status"]):
            for k in range(REACTIONS):
                await self._react(self.members[(n + k) % MEMBERS], post)
        for n in range(GROUPS):
            made = await self.ask(GROUP, self.members[0], name=f"Group {n}", description="", kind="PUBLIC")
            self.ids["Group"].append(made["createGroup"]["group"]["id"])
            made = await self.ask(TALK, self.members[0], userIds=[self.ids["User"][n + 1]], text="hello")
            message = made["startConversation"]["message"]
            self.ids["Message"].append(message["id"])
            self.ids["Conversation"].append(message["conversation"]["id"])

    async def _react(self, by: Claims, post: str) -> None:
        await self.do("like", "PostIdInput", by, postId=post)
        await self.do("repost", "RepostInput", by, postId=post)
        await self.do("repost", "RepostInput", by, postId=post, text="a quote")
        await self.ask(POST, by, text="an answer", inReplyToId=post)
        made = await self.ask(COMMENT, by, postId=post, text="a comment")
        self.ids["Comment"].append(made["comment"]["comment"]["id"])

    async def cpu(self, query: str) -> float:
        """Return the least CPU that an operation of the first member takes, µs. Its document is parsed beforehand."""
        await self.ask(query, self.members[0])
        taken = []
        for _ in range(ROUNDS):
            began = time.process_time()
            await self.ask(query, self.members[0])
            taken.append(time.process_time() - began)
        return min(taken) * 1e6


@asynccontextmanager
async def site() -> AsyncIterator[PricedSite]:
    """Start an empty site without limits and without a cache of answers."""
    with tempfile.TemporaryDirectory() as folder:
        held = await attach.attach(Path(folder))
        limits: dict[str, Any] = dict.fromkeys(UNLIMITED, 1_000_000)
        settings = Settings(
            **limits,
            redis_url=held.url,
            secret_key="x" * 40,
            data_dir=Path(folder),
            answers_kept_mib=0,
            rate_limit=0,
            password_memory_kib=8,
            password_passes=1,
            new_member_hours=0,
        )
        services = Services(settings, Database(held.url, settings), settings.secret_key)
        await services.start()
        await services.pubsub.connected.wait()
        try:
            yield PricedSite(services, schema.build(settings))
        finally:
            await services.close()
            await services.db.close()
            await held.close()


def measurable(of: GraphQLSchema) -> Iterator[tuple[str, str, GraphQLField]]:
    """Yield the fields that are measured: type, name and declaration. They need no argument."""
    for kind in KINDS:
        declared = of.type_map[kind]
        assert isinstance(declared, GraphQLObjectType)
        for name, one in declared.fields.items():
            if not any(isinstance(taken.type, GraphQLNonNull) for taken in one.args.values()):
                yield kind, name, one


def asked(name: str, one: GraphQLField, place: int) -> str:
    """Return a field with an alias and the least selection. Pages differ, or data loaders would read only one."""
    size = f"(first: {place % 2 + 1})" if "first" in one.args else ""
    named = get_named_type(one.type)
    inner = (
        ""
        if is_leaf_type(named)
        else "{ pageInfo { hasNextPage } }"
        if "pageInfo" in getattr(named, "fields", ())
        else "{ __typename }"
    )
    return f"a{place}: {name}{size} {inner}"


async def measure(made: PricedSite) -> dict[str, float]:
    """Return the µs that each field takes for one object."""
    measured: dict[str, float] = {}
    for kind, name, one in measurable(made.schema._schema):  # noqa: SLF001  graphql-core's own
        ids = " ".join(f'"{each}"' for each in made.ids[kind][:POSTS])
        ask = f"{{ nodes(ids: [{ids}]) {{ __typename ... on {kind} {{ %s }} }} }}"
        aliases = 2 if "first" in one.args else ALIASES
        base = await made.cpu(ask % "__typename")
        more = await made.cpu(ask % " ".join(asked(name, one, place) for place in range(aliases)))
        measured[f"{kind}.{name}"] = round(max(more - base, 0) / aliases / len(made.ids[kind][:POSTS]), 2)
    return measured


def price(prices: Prices, name: str) -> int:
    """Return the price of a measured field, named "Type.field"."""
    kind, _, one = name.partition(".")
    declared = prices.schema.type_map[kind]
    assert isinstance(declared, GraphQLObjectType)
    return prices.price(declared.fields[one], one)


async def main(options: argparse.Namespace) -> None:
    """Measure, print a table, and write the file where that is asked for."""
    async with site() as made:
        await made.fill()
        spare_the_collector()
        measured = await measure(made)
        prices = Prices(made.schema._schema, 100, 100)  # noqa: SLF001  graphql-core's own
    rows: Sequence[tuple[float, str]] = sorted(
        ((us / price(prices, name), name) for name, us in measured.items()), reverse=True
    )
    print("| field | µs | price | µs a unit |\n|---|---|---|---|")
    for each, name in rows[:SHOWN]:
        print(f"| {name} | {measured[name]} | {price(prices, name)} | {each:.2f} |")
    if options.write:
        MEASURED.write_text(json.dumps(measured, indent=1) + "\n")


if __name__ == "__main__":
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write {MEASURED.name}")
    asyncio.run(main(parser.parse_args()))
