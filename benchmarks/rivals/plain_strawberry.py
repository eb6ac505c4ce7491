"""The service with Strawberry as its documentation shows: types, resolvers, data loaders, the aiohttp view.

No longer plain, but shown there too: parser and validator caches. Its JSON is written by orjson.
"""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, TypeAlias

import orjson
import redis.asyncio as redis
import strawberry
from aiohttp import web
from strawberry.aiohttp.views import GraphQLView
from strawberry.dataloader import DataLoader
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.config import StrawberryConfig

from benchmarks.rivals import layout
from benchmarks.rivals.layout import Entries, Hash, Viewer, check, hashes, read_entries, read_home
from store import keys
from store.ids import instant
from store.keys.fields import UserField


class Context:
    """The context of one operation: the viewer, and the data loaders that batch reads."""

    def __init__(self, db: redis.Redis, viewer: Viewer) -> None:
        self.db = db
        self.viewer = viewer
        self.posts: DataLoader[int, Post | None] = DataLoader(load_fn=self._load_posts)
        self.users: DataLoader[int, User | None] = DataLoader(load_fn=self._load_users)

    async def _load_posts(self, numbers: list[int]) -> "Sequence[Post | None]":
        posts = await hashes(self.db, [keys.status(number) for number in numbers])
        return [read_post(number, fields) for number, fields in zip(numbers, posts, strict=True)]

    async def _load_users(self, numbers: list[int]) -> "Sequence[User | None]":
        users = await hashes(self.db, [keys.user(number) for number in numbers])
        return [read_user(number, fields) for number, fields in zip(numbers, users, strict=True)]


Info: TypeAlias = strawberry.Info[Context, None]


@strawberry.type
class User:
    number: strawberry.Private[int]
    login: str
    name: str
    bio: str
    follower_count: int
    following_count: int
    post_count: int

    @strawberry.field
    def id(self) -> strawberry.ID:
        return strawberry.ID(f"user_{self.number:014x}")

    @strawberry.field
    async def timeline(self, info: Info, first: int) -> "Timeline":
        scanned = await info.context.db.zrevrange(keys.profile(self.number), 0, first, withscores=True)
        return await read_page(info.context, "profile", first, read_entries(scanned))


@strawberry.interface
class Post:
    number: strawberry.Private[int]
    author_number: strawberry.Private[int]
    text: str
    like_count: int
    repost_count: int
    quote_count: int
    comment_count: int
    reply_count: int

    @strawberry.field
    def id(self) -> strawberry.ID:
        return strawberry.ID(f"{type(self).__name__.lower()}_{self.number:014x}")

    @strawberry.field
    def created_at(self) -> datetime:
        return instant(self.number)

    @strawberry.field
    async def author(self, info: Info) -> User | None:
        return await info.context.users.load(self.author_number)


@strawberry.type
class Status(Post):
    pass


@strawberry.type
class Repost(Post):
    pass


TimelineItem = Annotated[Status | Repost, strawberry.union("TimelineItem")]


@strawberry.type
class TimelineEdge:
    cursor: str
    node: TimelineItem


@strawberry.type
class PageInfo:
    end_cursor: str | None
    has_next_page: bool


@strawberry.type
class Timeline:
    edges: list[TimelineEdge]
    page_info: PageInfo


def read_user(number: int, fields: Hash) -> User | None:
    """Return a member from its hash."""
    if not fields:
        return None
    return User(
        number=number,
        login=fields[UserField.LOGIN],
        name=fields[UserField.NAME],
        bio=fields[UserField.BIO],
        follower_count=int(fields[UserField.FOLLOWERS]),
        following_count=int(fields[UserField.FOLLOWING]),
        post_count=int(fields[UserField.POSTS]),
    )


def read_post(number: int, fields: Hash) -> Status | Repost | None:
    """Return a post from its hash, None for one that is gone or hidden."""
    if not fields or "hidden" in fields:
        return None
    return (Repost if "original" in fields else Status)(
        number=number,
        author_number=int(fields["author"]),
        text=fields["text"],
        like_count=int(fields.get("likes", 0)),
        repost_count=int(fields.get("reposts", 0)),
        quote_count=int(fields.get("quotes", 0)),
        comment_count=int(fields.get("comments", 0)),
        reply_count=int(fields.get("replies", 0)),
    )


async def read_page(context: Context, kind: str, first: int, scanned: Entries) -> Timeline:
    """Return the posts that some entries name."""
    entries = scanned[:first]
    posts = await context.posts.load_many([int(post) for post, _ in entries])
    return Timeline(
        edges=[
            TimelineEdge(cursor=f"{kind}.{place:014x}", node=post)
            for (_, place), post in zip(entries, posts, strict=True)
            if isinstance(post, Status | Repost)
        ],
        page_info=PageInfo(
            end_cursor=f"{kind}.{entries[-1][1]:014x}" if entries else None, has_next_page=len(scanned) > first
        ),
    )


@strawberry.type
class Query:
    @strawberry.field
    async def home_timeline(self, info: Info, first: int) -> Timeline | None:
        viewer = info.context.viewer
        async with info.context.db.pipeline(transaction=False) as pipeline:
            pipeline.hget(keys.sessions(viewer.member), viewer.session)
            pipeline.get(keys.newest(viewer.member))
            pipeline.lrange(keys.home(viewer.member), -first - 1, -1)
            session, waiting, listed = await pipeline.execute()
        check(session)
        return await read_page(info.context, "home", first, read_home(waiting, listed, first))

    @strawberry.field
    async def user(self, info: Info, login: str) -> User | None:
        viewer = info.context.viewer
        async with info.context.db.pipeline(transaction=False) as pipeline:
            pipeline.hget(keys.sessions(viewer.member), viewer.session)
            pipeline.get(keys.login(login.lower()))
            session, holder = await pipeline.execute()
        check(session)
        return await info.context.users.load(int(holder)) if holder else None


@strawberry.input
class PostInput:
    text: str


@strawberry.type
class UserError:
    message: str


@strawberry.type
class PostPayload:
    status: Status | None
    user_errors: list[UserError]


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def post(self, info: Info, input: PostInput) -> PostPayload:  # noqa: A002  the name in the schema
        post = await layout.publish(info.context.db, info.context.viewer, input.text)
        made = read_post(post, {"author": str(info.context.viewer.member), "text": input.text})
        return PostPayload(status=made if isinstance(made, Status) else None, user_errors=[])


def write_instant(moment: datetime) -> str:
    """Return an instant as Perch writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


SCHEMA = strawberry.Schema(
    query=Query,
    mutation=Mutation,
    types=[Status, Repost],
    extensions=[ParserCache, ValidationCache],
    config=StrawberryConfig(
        scalar_map={
            datetime: strawberry.scalar(name="DateTime", serialize=write_instant, parse_value=datetime.fromisoformat)
        }
    ),
)


class View(GraphQLView[Context, None]):
    """The view of the documentation, with a context and an encoder of its own."""

    def __init__(self, db: redis.Redis) -> None:
        super().__init__(SCHEMA, graphql_ide=None)
        self._db = db

    async def get_context(self, request: web.Request, response: object) -> Context:  # noqa: ARG002
        return Context(self._db, layout.read_token(request.headers["Authorization"]))

    def encode_json(self, data: object) -> bytes:
        return orjson.dumps(data)


def main() -> None:
    """Serve until a signal stops the process."""
    app = web.Application()
    app.router.add_route("*", "/graphql", View(layout.connect()))
    web.run_app(app, host="127.0.0.1", port=int(os.environ["PORT"]), access_log=None, print=None)


if __name__ == "__main__":
    main()
