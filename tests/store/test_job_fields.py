"""Jobs: the scripts that commit them and the structs that read them name the same kinds and fields."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest

from resolvers.jobs.dispatch import JobUnread, perform
from resolvers.jobs.step import STEPS, Budget
from store.client.database import Database
from store.client.lua import FOLDER
from store.records.job_bodies import Body, PostDelivery, PostUnhiding
from store.records.jobs import KINDS, read_any_job, read_job

Committed = tuple[str, frozenset[str]]  # a kind of job, and the fields that one place commits with it

_COMMIT = re.compile(r"(?<!function )\bcommit(?:_job)?\([^,]+, [^{]*?, ([^,{\n]+), \{")
_QUOTED = re.compile(r"'([a-z_]+)'")
_FIELD = re.compile(r"(\w+) = ")


def committed(text: str) -> Iterator[Committed]:
    """Yield what each commit in a script names. A kind in a variable is quoted in a line about it."""
    for call in _COMMIT.finditer(text):
        kind = call[1]
        near = text[max(0, text.rfind("\nlocal function ", 0, call.start())) :]
        lines = [kind] if "'" in kind else [line for line in near.splitlines() if re.search(rf"\b{kind}\b", line)]
        fields = frozenset(_FIELD.findall(_top_level(text[call.end() :])))
        for quoted in {name for line in lines for name in _QUOTED.findall(line)}:
            yield quoted, fields


def _top_level(text: str) -> str:
    """Return a table's own text up to its end, without what brackets inside it enclose."""
    depth, kept = 0, ""
    for sign in text:
        depth += (sign in "({[") - (sign in ")}]")
        if depth < 0:
            break
        kept += sign if not depth else ""
    return kept


def differences(commits: Iterable[Committed]) -> list[str]:
    """Return where scripts and structs differ."""
    named: dict[str, set[str]] = defaultdict(set)
    wrong: list[str] = []
    for kind, fields in commits:
        named[kind] |= fields
        if kind in KINDS and (left_out := _required(KINDS[kind]) - fields):
            wrong.append(f"a script leaves out of {kind}: {', '.join(sorted(left_out))}")
    for kind in sorted(named.keys() | KINDS):
        if kind not in KINDS or kind not in named:
            wrong.append(f"{kind} has no {'struct' if kind in named else 'script'}")
        elif differing := (named[kind] ^ set(KINDS[kind].__struct_fields__)) - {"act"}:
            wrong.append(f"{kind} differs in {', '.join(sorted(differing))}")
    return wrong


def _required(body: type[Body]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(body) if field.required}


def _of_all_scripts() -> list[Committed]:
    return [one for path in sorted(FOLDER.rglob("*.lua")) for one in committed(path.read_text("utf-8"))]


def test_scripts_and_structs_agree() -> None:
    """Each kind has a script that commits it, with all fields of its struct and no others, and each has steps."""
    assert differences(_of_all_scripts()) == []
    assert STEPS.keys() == set(KINDS.values())


@pytest.mark.parametrize(
    ("was", "now", "complaint"),
    [
        ("mentions = ", "mentoins = ", "differs in mentions, mentoins"),
        ("author = ", "writer = ", "a script leaves out of mentions: author"),
        ("'mentions'", "'mention'", "mention has no struct"),
    ],
)
def test_a_misspelled_name(was: str, now: str, complaint: str) -> None:
    """A misspelled field or kind in a script is named."""
    text = (FOLDER / "posts" / "create_comment.lua").read_text("utf-8")
    commit = text.index("commit(")
    changed = text[:commit] + text[commit:].replace(was, now)
    wrong = differences([*(one for one in _of_all_scripts() if one[0] != "mentions"), *committed(changed)])
    assert any(complaint in line for line in wrong)


def test_a_kind_in_a_variable() -> None:
    """A script that commits one of two kinds is read for both."""
    text = (FOLDER / "posts" / "hide_post.lua").read_text("utf-8")
    assert {kind for kind, _ in committed(text)} == {"hide", "unhide"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"author":"7","original":"","mentions":"","plain":false}', PostDelivery(author=7)),
        ('{"author":"7","of_quote":"1","mentions":"8 9"}', PostDelivery(author=7, of_quote=True, mentions=(8, 9))),  # type: ignore[arg-type]
        ('{"author":"7","is_public":false,"new":"field"}', PostDelivery(author=7, is_public=False)),
    ],
)
def test_bodies(text: str, expected: Body) -> None:
    """Numbers, flags and ids are read from text. Missing fields have their defaults, and unknown ones are ignored."""
    assert read_job(PostDelivery, "1", text).body == expected


def test_edges() -> None:
    """An empty list of edges, which Lua writes as an object, is a list."""
    body: Any = read_any_job("block", "1", '{"member":"7","blocks":[["8","9"]],"following":{}}').body
    assert (body.blocks, body.following) == ([(8, 9)], [])


def test_kinds_that_share_fields() -> None:
    """A job keeps its own kind, also where another kind has the same fields."""
    assert read_job(PostUnhiding, "1", '{"post":"8","author":"7"}').kind == "unhide"


@pytest.mark.parametrize(("kind", "text"), [("of a newer version", "{}"), ("post", '{"author":"me"}'), ("post", "[")])
async def test_a_job_that_cannot_be_read(db: Database, kind: str, text: str) -> None:
    """A job that cannot be read has its kind and does not hold others up: it fails when it is performed."""
    job = read_any_job(kind, "1", text)
    assert job.kind == kind
    with pytest.raises(JobUnread):
        await perform(db, job, Budget(1))
