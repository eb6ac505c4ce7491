"""The moderation log: acts of moderators and administrators, to which nothing but `append` ever writes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from store import keys
from store.client.database import Command, Database, script
from store.keys.fields import ModerationActField as Field
from store.keys.moderation import PARTITION
from store.moderation.records import Act, ModerationAct
from store.records.job_bodies import IntendedAct
from store.records.jobs import Job, read_job
from store.records.lists import read_pairs


def log_parameters(db: Database) -> dict[str, Any]:
    """Return what every script takes that writes to the log, and for how long that keeps removed texts."""
    return {
        "partition": PARTITION,
        "log": keys.moderation_log(),
        "head": keys.log_head(),
        "text_seconds": kept_seconds(db),
    }


def kept_seconds(db: Database) -> int:
    """Return for how long removed texts and resolved reports are kept, in seconds."""
    return db.settings.moderation_log_days * keys.DAY


async def append(db: Database, *acts: Act) -> None:
    """Append acts to the log, each once under its name. One round trip."""
    await db.ask(*(_append_command(db, act.fields()) for act in acts))


async def append_carried(db: Database, job: int, act: Mapping[str, str]) -> None:
    """Append an act that a job carries, under the job's id unless it has a name. Repeating it appends nothing."""
    await append_fields(db, {**act, "name": act.get("name") or str(job)})


async def append_fields(db: Database, act: Mapping[str, str]) -> None:
    """Append an act that a job has as `Act.fields`. Repeating it appends nothing."""
    await db.ask(_append_command(db, act))


def _append_command(db: Database, fields: Mapping[str, str]) -> Command:
    return script("append_act", **log_parameters(db), **fields)


async def intend(db: Database, act: Act, promotion: int, *, is_end: bool = False) -> Job:
    """Commit the job that logs the begin or end of a promotion if it happens, before doing that in another slot."""
    reply = await db.call(
        "intend",
        partition=PARTITION,
        promotion=promotion,
        is_end="1" if is_end else "",
        act=act.written(),
    )
    return read_job(IntendedAct, *reply)


def log_list() -> str:
    """Return the key of all acts, sorted by id; its members are their names."""
    return keys.moderation_log()


def act_commands(acts: Sequence[int]) -> list[Command]:
    """Return the commands that read acts with their removed texts, two for each."""
    return [
        command for act in acts for command in (("HGETALL", keys.moderation_act(act)), ("GET", keys.removed_text(act)))
    ]


def read_acts(acts: Sequence[int], replies: Sequence[Any]) -> list[ModerationAct | None]:
    """Return acts from the replies to `act_commands`."""
    pairs = zip(acts, replies[::2], replies[1::2], strict=True)
    return [
        ModerationAct.read(act, fields if isinstance(fields, dict) else read_pairs(fields), text)
        for act, fields, text in pairs
    ]


def digest(text: str) -> str:
    """Return a digest as scripts make it."""
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def chained(act: int, name: str, fields: Mapping[str, str]) -> str:
    """Return the digest that an act must have, given its fields and the name under which it was logged."""
    parts = (Field.ACTOR, Field.KIND, Field.SUBJECT, Field.REPORT)
    words = (fields[Field.PREVIOUS], str(act), name, *(fields[part] for part in parts))
    return digest("\n".join((*words, digest(fields[Field.NOTE]), fields[Field.TEXT_DIGEST])))
