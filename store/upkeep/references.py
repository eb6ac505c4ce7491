"""References: posts and comments name what exists."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from store import kinds, likes_and_comments, posts
from store.client.database import Command, Database
from store.keys.fields import CommentField, StatusField
from store.kinds import Record
from store.upkeep.findings import Check, Finding, ask_each, existing

Fields = Mapping[str, str | None]


class Reference(Struct, frozen=True):
    """A field of a record that names another record, and the command that removes what names one that is gone."""

    of: Record
    field: str
    to: Record
    removal: Callable[[Database, int, Fields], Command]


def _id(fields: Fields, field: str) -> int:
    return int(fields[field] or 0)


def _delete_post(db: Database, post: int, fields: Fields) -> Command:
    """Return the command that deletes a post. A worker runs the job of that."""
    return posts.delete_command(db, post, _id(fields, StatusField.AUTHOR))


def _delete_comment(db: Database, comment: int, fields: Fields) -> Command:
    return likes_and_comments.delete_command(db, comment, _id(fields, CommentField.POST))


def _drop_comment(_: Database, comment: int, _fields: Fields) -> Command:
    return ("DEL", kinds.COMMENT.key(comment))


# The first reference of each kind is in every record: without it, the record is malformed.
REFERENCES = (
    Reference(kinds.STATUS, StatusField.AUTHOR, kinds.USER, _delete_post),
    Reference(kinds.STATUS, StatusField.GROUP, kinds.GROUP, _delete_post),
    Reference(kinds.COMMENT, CommentField.POST, kinds.STATUS, _drop_comment),
    Reference(kinds.COMMENT, CommentField.AUTHOR, kinds.USER, _delete_comment),
)


def existent(record: Record) -> Check:
    """Return the check that what the records of a kind name exists."""
    references = [one for one in REFERENCES if one.of is record]
    fields = [one.field for one in references]

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        replies = await ask_each(db, {one: [("HMGET", record.key(one), *fields)] for one in ids})
        read = [(one, dict(zip(fields, reply, strict=True))) for one, (reply,) in replies if reply[0]]
        found: list[Finding] = []
        for reference in references:
            field = reference.field
            exists = await existing(db, reference.to, {_id(names, field) for _, names in read if names[field]})
            found += [
                Finding(
                    record.key(one), f"its {field} {names[field]} does not exist", [reference.removal(db, one, names)]
                )
                for one, names in read
                if names[field] and _id(names, field) not in exists
            ]
        return found

    return check
