"""Pictures: records, the copies that posts, messages and profiles have, and lists agree."""

from collections.abc import Mapping, Sequence

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.keys.fields import EvidenceField, ImageField, MessageField, StatusField, UserField
from store.pictures.images import MESSAGE, RESERVED, STATUS, USER, subject_of
from store.pictures.uploads import Upload, read_command, read_uploads, remove_command
from store.records.pictures import Image, read_images, write_images
from store.upkeep.findings import Check, Finding, ask_each
from store.upkeep.scanning import partitions_of

_KEYS = {STATUS: keys.status, USER: keys.user, MESSAGE: keys.message}
FIELDS = {
    STATUS: (StatusField.IMAGES,),
    USER: (UserField.AVATAR, UserField.HEADER),
    MESSAGE: (MessageField.IMAGES,),
}


async def uploads(db: Database, ids: Sequence[int]) -> dict[int, Upload]:
    """Return the records of those of some pictures that exist. One round trip."""
    found = read_uploads(ids, await db.ask(*map(read_command, ids)))
    return {record.id: record for record in found if record}


async def records(db: Database, ids: Sequence[int]) -> list[Finding]:
    """Each picture is listed, is shown by what it is attached to, and waits if it is attached to nothing."""
    found = await uploads(db, ids)
    looks: dict[int, list[Command]] = {
        one.id: [
            ("EXISTS", keys.user(one.owner)),
            ("ZSCORE", keys.images(one.owner), one.id),
            ("ZSCORE", keys.uploads(partition(one.id)), one.id),
            *_shown_in(subject_of(one)),
        ]
        for one in found.values()
    }
    return [
        Finding(keys.image(image), message, repair)
        for image, (has_owner, listed, waiting, *shown) in await ask_each(db, looks)
        for message, repair in _wrong(db, found[image], has_owner, listed, waiting, shown)
    ]


def _wrong(
    db: Database, one: Upload, has_owner: int, listed: str | None, waiting: str | None, shown: Sequence[str | None]
) -> list[tuple[str, list[Command]]]:
    """Return what is wrong with a picture. `shown` are the copies of what it is attached to, or of open reports."""
    # A picture of a message, or reserved for one, may outlive its owner's account.
    lasts = one.subject.startswith((MESSAGE, RESERVED))
    if not has_owner and not lasts:
        return [(f"its owner {one.owner} does not exist", _remove(db, one))]
    if shown and not any(image.id == one.id for text in shown for image in read_images(text)):
        return [(f"belongs to {one.subject}, which does not show it", _remove(db, one))]
    found: list[tuple[str, list[Command]]] = []
    if has_owner and listed is None:
        found.append(("is not among its owner's pictures", [("ZADD", keys.images(one.owner), one.id, one.id)]))
    uploads = keys.uploads(partition(one.id))
    if one.subject and waiting is not None:
        found.append(("waits to be attached, and is", [("ZREM", uploads, one.id)]))
    if not one.subject and waiting is None:
        found.append(("is attached to nothing, and not removed", [("ZADD", uploads, one.id, one.id)]))
    return found


def _shown_in(subject: tuple[str, int] | None) -> list[Command]:
    """Return the commands that read the copies of pictures that a subject has, none for a reservation."""
    if subject is None or subject[0] == RESERVED:
        return []
    kind, number = subject
    kept: list[Command] = [("HGET", keys.evidence(number), EvidenceField.PICTURES)] if kind == MESSAGE else []
    return [*kept, *(("HGET", _KEYS[kind](number), field) for field in FIELDS[kind])]


def _remove(db: Database, one: Upload) -> list[Command]:
    """Return the commands that remove a picture that nothing shows. A job removes its objects."""
    owner = one.owner if partition(one.owner) == partition(one.id) else 0  # else no list of theirs can name it
    return [("HDEL", keys.image(one.id), ImageField.SUBJECT), remove_command(db, one.id, owner)]


def copies(kind: str) -> Check:
    """Return the check that what posts, messages or profiles show of pictures agrees with the pictures' records."""
    key = _KEYS[kind]

    async def check(db: Database, ids: Sequence[int]) -> list[Finding]:
        looks = {(number, field): [("HGET", key(number), field)] for number in ids for field in FIELDS[kind]}
        having = [(*at, read_images(text)) for at, (text,) in await ask_each(db, looks) if text]
        records = await uploads(db, list({image.id for _, _, images in having for image in images}))
        found = []
        for number, field, stored in having:
            right = [fresh for copy in stored if (fresh := _fresh(copy, records, (kind, number)))]
            mend = _attach(stored, records, f"{kind}:{number}")
            if right != list(stored) or mend:
                old, new = write_images(stored), write_images(right)
                replace = script("replace_field", record=key(number), field=field, old=old, new=new)
                found.append(Finding(key(number), f"its {field} differ from the pictures' records", [replace, *mend]))
        return found

    return check


def _fresh(copy: Image, records: Mapping[int, Upload], holder: tuple[str, int]) -> Image | None:
    """Return a copy as its picture's record makes it. None if the picture is not attached to the holder of the copy."""
    record = records.get(copy.id)
    if not record or not record.image:
        return None
    subject = subject_of(record)
    is_reserved = holder[0] == MESSAGE and subject is not None and subject[0] == RESERVED
    if subject not in {holder, None} and not is_reserved:
        return None
    fresh = record.image
    facts = fresh.id, fresh.object, fresh.version, fresh.width, fresh.height, fresh.blurhash
    return Image(*facts, copy.alt, copy.focus_x, copy.focus_y, copy.message)


def _attach(stored: Sequence[Image], records: Mapping[int, Upload], subject: str) -> list[Command]:
    """Return the commands that attach those of a subject's pictures whose records do not say that they are attached."""
    commands: list[Command] = []
    for image in dict.fromkeys(copy.id for copy in stored):
        if (record := records.get(image)) and record.image and not record.subject:
            commands.append(("HSET", keys.image(image), ImageField.SUBJECT, subject))
            commands.append(("ZREM", keys.uploads(partition(image)), image))
    return commands


async def waiting(db: Database, found: Sequence[str]) -> list[Finding]:
    """Each picture that waits to be attached has a record."""
    lists = await ask_each(db, {key: [("ZRANGE", key, 0, -1)] for key in map(keys.uploads, partitions_of(found))})
    looks = {(key, int(image)): [("EXISTS", keys.image(int(image)))] for key, (listed,) in lists for image in listed}
    return [
        Finding(key, f"lists {image}, which does not exist", [("ZREM", key, image)])
        for (key, image), (exists,) in await ask_each(db, looks)
        if not exists
    ]
