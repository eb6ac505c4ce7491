"""How an export names members, posts, groups and times: with the ids of the API, and what the member sees of them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from resolvers.archives.viewing import ExportContext
from resolvers.reading import global_ids, hydrate
from resolvers.reading.named_members import See
from store.groups.records import Group
from store.ids import instant
from store.records.members import User
from store.records.posts import Post, Repost

Written = dict[str, Any]  # one entry of an export, ready to be written as JSON


def moment(when: datetime) -> str:
    """Return a time in ISO 8601, in UTC to the millisecond."""
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def made(entity: int) -> str:
    """Return the time at which an id was made."""
    return moment(instant(entity))


def person(user: User | None) -> Written | None:
    """Return a member as an entry names them, None for one whom the member does not see."""
    return {"id": global_ids.of(user), "login": user.login, "name": user.name} if user else None


async def people(view: ExportContext, members: Iterable[int], see: See = hydrate.users) -> dict[int, Written | None]:
    """Return how entries name some members; one round trip. `see` returns what the exported member sees of them."""
    wanted = list(dict.fromkeys(members))
    return dict(zip(wanted, map(person, await see(view, wanted)), strict=True))


def group_name(group: Group | None) -> Written | None:
    """Return a group as an entry names it. Everybody sees that a group exists, and its name."""
    return {"id": global_ids.of(group), "name": group.name} if group else None


async def seen_posts(view: ExportContext, ids: Iterable[int]) -> dict[int, Written]:
    """Return id, author and text of those of some posts that the member sees; three round trips."""
    wanted = list(dict.fromkeys(ids))
    posts = [post for post in await hydrate.posts(view, wanted) if post]
    authors = await people(view, [post.author for post in posts])
    return {post.id: _shown(post, authors) for post in posts}


def _shown(post: Post, authors: Mapping[int, Written | None]) -> Written:
    return {
        "id": global_ids.of(post),
        "authorId": global_ids.user_id(post.author),
        "author": authors[post.author],
        "text": post.text,
        "createdAt": moment(post.created_at),
    }


def reference(post: int | None, author: int | None, seen: Mapping[int, Written], *, is_repost: bool) -> Written | None:
    """Return a post that another entry names: ids alone, unless the member sees the post."""
    if not post:
        return None
    ids = {"id": global_ids.post_id(post, is_repost=is_repost), "authorId": global_ids.user_id(author or 0)}
    return seen.get(post, ids)


def kind_of(post: Post) -> str:
    """Return `status`, `quote` or `repost`."""
    if not isinstance(post, Repost):
        return "status"
    return "repost" if post.is_plain else "quote"


def kept(entries: Sequence[Written | None]) -> list[Written]:
    """Return the entries that are not None."""
    return [entry for entry in entries if entry is not None]
