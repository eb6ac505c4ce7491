"""The service by hand: aiohttp, redis-py and orjson, no GraphQL."""

import os
from datetime import timedelta
from typing import Any

import orjson
import redis.asyncio as redis
from aiohttp import web

from benchmarks.rivals import layout
from benchmarks.rivals.layout import Entries, Hash, Viewer, check, hashes, read_entries, read_home
from store import keys
from store.ids import EPOCH
from store.keys.fields import UserField

DB = web.AppKey("db", redis.Redis)
Json = dict[str, Any]


async def home(request: web.Request) -> web.Response:
    """Answer the first page of the viewer's home."""
    db, first = request.app[DB], int(request.query["first"])
    viewer = _viewer(request)
    async with db.pipeline(transaction=False) as pipeline:
        pipeline.hget(keys.sessions(viewer.member), viewer.session)
        pipeline.get(keys.newest(viewer.member))
        pipeline.lrange(keys.home(viewer.member), -first - 1, -1)
        session, waiting, listed = await pipeline.execute()
    check(session)
    return _json({"homeTimeline": await _page(db, "home", first, read_home(waiting, listed, first))})


async def profile(request: web.Request) -> web.Response:
    """Answer a member and the first page of their posts."""
    db, first = request.app[DB], int(request.query["first"])
    viewer = _viewer(request)
    async with db.pipeline(transaction=False) as pipeline:
        pipeline.hget(keys.sessions(viewer.member), viewer.session)
        pipeline.get(keys.login(request.match_info["login"].lower()))
        session, holder = await pipeline.execute()
    check(session)
    if holder is None:
        return _json({"user": None})
    member = int(holder)
    async with db.pipeline(transaction=False) as pipeline:
        pipeline.hgetall(keys.user(member))
        pipeline.zrevrange(keys.profile(member), 0, first, withscores=True)
        user, scanned = await pipeline.execute()
    return _json(
        {
            "user": {
                **_author(member, user),
                "bio": user[UserField.BIO],
                "followerCount": int(user[UserField.FOLLOWERS]),
                "followingCount": int(user[UserField.FOLLOWING]),
                "postCount": int(user[UserField.POSTS]),
                "timeline": await _page(db, "profile", first, read_entries(scanned)),
            }
        }
    )


async def publish(request: web.Request) -> web.Response:
    """Write a post."""
    db, viewer = request.app[DB], _viewer(request)
    text = orjson.loads(await request.read())["text"]
    post = await layout.publish(db, viewer, text)
    (author,) = await hashes(db, [keys.user(viewer.member)])
    status = {
        "id": f"status_{post:014x}",
        "text": text,
        "createdAt": _instant(post),
        "author": _author(viewer.member, author),
    }
    return _json({"post": {"status": status, "userErrors": []}})


def _viewer(request: web.Request) -> Viewer:
    return layout.read_token(request.headers["Authorization"])


def _json(data: Json) -> web.Response:
    return web.Response(body=orjson.dumps({"data": data}), content_type="application/json")


async def _page(db: redis.Redis, kind: str, first: int, scanned: Entries) -> Json:
    entries = scanned[:first]
    posts = await hashes(db, [keys.status(int(post)) for post, _ in entries])
    shown = [
        (int(post), place, status)
        for (post, place), status in zip(entries, posts, strict=True)
        if status and "hidden" not in status
    ]
    members = list({status["author"] for _, _, status in shown})
    records = await hashes(db, [keys.user(int(member)) for member in members])
    authors = {member: _author(int(member), record) for member, record in zip(members, records, strict=True) if record}
    return {
        "edges": [
            {"cursor": f"{kind}.{place:014x}", "node": _post(post, status, authors[status["author"]])}
            for post, place, status in shown
            if status["author"] in authors
        ],
        "pageInfo": {
            "endCursor": f"{kind}.{entries[-1][1]:014x}" if entries else None,
            "hasNextPage": len(scanned) > first,
        },
    }


def _post(post: int, status: Hash, author: Json) -> Json:
    return {
        "id": f"{'repost' if 'original' in status else 'status'}_{post:014x}",
        "text": status["text"],
        "createdAt": _instant(post),
        "likeCount": int(status.get("likes", 0)),
        "repostCount": int(status.get("reposts", 0)),
        "commentCount": int(status.get("comments", 0)),
        "author": author,
    }


def _author(member: int, record: Hash) -> Json:
    return {"id": f"user_{member:014x}", "login": record[UserField.LOGIN], "name": record[UserField.NAME]}


def _instant(entity_id: int) -> str:
    return (EPOCH + timedelta(milliseconds=entity_id >> 12)).isoformat(timespec="milliseconds")[:-6] + "Z"


def main() -> None:
    """Serve until a signal stops the process."""
    app = web.Application()
    app[DB] = layout.connect()
    app.add_routes([web.get("/home", home), web.get("/users/{login}", profile), web.post("/posts", publish)])
    web.run_app(app, host="127.0.0.1", port=int(os.environ["PORT"]), access_log=None, print=None)


if __name__ == "__main__":
    main()
