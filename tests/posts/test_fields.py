"""A field of a post is declared once: it is written, read, exported, logged, and tells a retry from other input."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLInputObjectType, build_schema
from msgspec import structs

import server
from resolvers.archives.posts import _About, _post
from store import keys, kinds, posts
from store.client.database import Database
from store.keys.fields import StatusField
from store.records.lists import read_pairs
from store.records.posts import FIELDS, LOGGED, Location, PostContent, Repost, read_post, write_content
from store.refusals import accepted
from tests.support import groups
from tests.support.moderation.acts import LOG, appoint
from tests.support.people import Member
from tests.support.pictures import pictures
from tests.support.work import number

# Fields of a post's record that are not part of what the post is when it is made.
OTHER_FIELDS = {
    StatusField.AUTHOR: "an argument of its own, which decides about the rest",
    StatusField.HIDDEN: "its author sets it later",
    StatusField.UNANNOUNCED: "it follows from the author's account",
    StatusField.IMAGES: "it is made of the pictures that are attached",
}
FULL = PostContent(
    author=7,
    text="a text",
    mentions=(8, 9),
    hashtags=("tea", "two words"),
    original=10,
    original_author=11,
    of_quote=True,
    reply_to=12,
    reply_to_author=13,
    root=14,
    location=Location(1.5, -0.1),
    group=15,
    original_group=16,
)

Sample = Callable[[Database, Member], Awaitable[Any]]


async def _picture(db: Database, member: Member) -> Any:
    return await pictures(db, member, 1)


async def _group(_: Database, member: Member) -> Any:
    return await groups.create(member)


async def _post_id(_: Database, member: Member) -> Any:
    return await member.post("another")


async def _location(*_: object) -> Any:
    return {"latitude": 1.5, "longitude": 2}


async def _text(*_: object) -> Any:
    return "another text"


OTHER_INPUT: dict[str, dict[str, Sample]] = {
    "PostInput": {
        "text": _text,
        "images": _picture,
        "inReplyToId": _post_id,
        "groupId": _group,
        "location": _location,
    },
    "RepostInput": {"postId": _post_id, "text": _text},
}
INPUTS = [(name, field) for name, fields in OTHER_INPUT.items() for field in fields]


def test_every_field_is_declared() -> None:
    """Each field of a post's record is what the post is, a count of a list, or something else with a reason."""
    named = {value for name, value in vars(StatusField).items() if name.isupper()}
    assert named == {*FIELDS, *kinds.counted(kinds.STATUS), *OTHER_FIELDS}


def test_every_field_is_written_and_read() -> None:
    """A post with every field set is read back as it was written."""
    assert all(getattr(FULL, field.name) != field.default for field in structs.fields(PostContent))
    fields = {StatusField.AUTHOR: str(FULL.author), **dict(_written(FULL))}
    assert fields.keys() == {StatusField.AUTHOR, *FIELDS}
    post = read_post(20, fields)
    assert isinstance(post, Repost)
    of_record = {"mentions": "mentioned", "original": "original_id"}
    not_read = {
        "of_quote"
    }  # the global id of the original says it, and only an export asks for it without the original
    for field in structs.fields(PostContent):
        if field.name not in not_read:
            assert getattr(post, of_record.get(field.name, field.name)) == getattr(FULL, field.name), field.name


def _written(content: PostContent) -> dict[str, str]:
    return {name: text for name, text in json.loads(write_content(content)).items() if text}


async def test_create_and_restore(db: Database, alice: Member) -> None:
    """A script writes each field that is set, and no field that is empty."""
    draft = posts.PostDraft(**{**structs.asdict(FULL), "author": number(alice.id), "location": FULL.location})
    _, post, _ = accepted(await posts.create(db, draft))
    held = read_pairs(await db.one("HGETALL", keys.status(post)))
    assert held == {StatusField.AUTHOR: str(number(alice.id)), **_written(FULL)}
    _, post, _ = accepted(await posts.create(db, posts.PostDraft(number(alice.id), "plain")))
    assert (await db.one("HGETALL", keys.status(post))) == ["author", str(number(alice.id)), "text", "plain"]


def test_every_field_is_exported() -> None:
    """An export names each field of a post, under the name that its declaration gives."""
    fields = {StatusField.AUTHOR: "7", **_written(FULL)}
    post = read_post(20, fields)
    assert post
    about = _About({}, {8: {"login": "ann"}, 9: {"login": "ben"}}, {15: {"name": "tea"}})
    entry = _post(post, fields, about)
    assert not [field.exported for field in FIELDS.values() if field.exported and not entry.get(field.exported)]


async def test_fields_that_the_log_keeps(
    db: Database, anonymous: Member, alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moderation log keeps each field whose declaration says so, a line for each that the post has."""
    assert LOGGED == (StatusField.TEXT,)
    monkeypatch.setattr(posts, "LOGGED", (StatusField.TEXT, StatusField.REPLY_TO, StatusField.LATITUDE))
    moderator = await appoint(db, anonymous, "mod")
    await moderator.do("deletePost", postId=await alice.post("spam", location={"latitude": 1.5, "longitude": 2}))
    (act, *_) = (await moderator.ask(LOG, first=1))["nodes"]
    assert act["removedText"] == "spam\n1.5"


@pytest.mark.parametrize("name", OTHER_INPUT)
def test_every_field_of_the_input_has_a_sample(name: str) -> None:
    """Each field of an input that makes a post is tried below."""
    text = Path(server.__file__).with_name("schema.graphql").read_text("utf-8")
    found = build_schema(text).type_map[name]
    assert isinstance(found, GraphQLInputObjectType)
    assert found.fields.keys() - {"idempotencyKey"} == OTHER_INPUT[name].keys()


@pytest.mark.parametrize(("name", "field"), INPUTS)
async def test_other_input_with_the_same_key(db: Database, alice: Member, bob: Member, name: str, field: str) -> None:
    """An idempotency key that was used is refused with any other field of the input."""
    mutation = name.removesuffix("Input").lower()
    first = {"text": "a text"} | ({"postId": await bob.post("an original")} if mutation == "repost" else {})
    other = {**first, field: await OTHER_INPUT[name][field](db, alice)}
    assert (await alice.do(mutation, idempotencyKey="key", **first))["userErrors"] == []
    assert await alice.refused(mutation, idempotencyKey="key", **other) == ("CONFLICT", ["idempotencyKey"])
