"""Pictures as verify compares them: records, what has a copy of them, and lists; and the commands that mend them."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from store import keys
from store.client.database import Command, Database, script
from store.ids import partition
from store.keys.fields import EvidenceField, ImageField, MessageField, StatusField, UserField
from store.pictures.images import MESSAGE, RESERVED, STATUS, USER, subject_of
from store.pictures.uploads import Upload, read_command, read_uploads, remove_command
from store.records.pictures import Image, read_images, write_images

Holder = tuple[str, int, str]  # a kind of subject, its id, and the field that has the copies

_KEYS = {STATUS: keys.status, USER: keys.user, MESSAGE: keys.message}
FIELDS = {
    STATUS: (StatusField.IMAGES,),
    USER: (UserField.AVATAR, UserField.HEADER),
    MESSAGE: (MessageField.IMAGES,),
}


class Kept(Struct, frozen=True):
    """A stored picture, and what it should agree with."""

    upload: Upload
    subject: tuple[str, int] | None
    owner_exists: bool
    is_listed: bool  # among its owner's pictures
    is_waiting: bool  # among those that are attached to nothing
    is_shown: bool  # what it is attached to has a copy of it, or open reports have; true for a reservation

    @property
    def key(self) -> str:
        return keys.image(self.upload.id)

    @property
    def lasts(self) -> bool:
        """Whether it belongs to what may outlive its owner's account."""
        return self.subject is not None and self.subject[0] in {MESSAGE, RESERVED}


class Copies(Struct, frozen=True):
    """The copies of pictures that a post, message or profile has, and their records by id."""

    holder: Holder
    stored: tuple[Image, ...]
    records: dict[int, Upload | None]

    @property
    def key(self) -> str:
        return _KEYS[self.holder[0]](self.holder[1])

    @property
    def right(self) -> tuple[Image, ...]:
        """The copies as they should be: of pictures that are attached to it, as their records are now."""
        found: list[Image] = []
        for copy in self.stored:
            record = self.records[copy.id]
            if record and record.image and subject_of(record) in {self.holder[:2], None} | self._reserved(record):
                fresh = record.image
                said = (copy.alt, copy.focus_x, copy.focus_y, copy.message)
                found.append(Image(*_facts(fresh), *said))
        return tuple(found)

    @property
    def unlinked(self) -> list[int]:
        """The pictures whose records do not say that they are attached."""
        return [image for image, record in self.records.items() if record and record.image and not record.subject]

    def _reserved(self, record: Upload) -> set[tuple[str, int] | None]:
        subject = subject_of(record)
        return {subject} if subject and subject[0] == RESERVED and self.holder[0] == MESSAGE else set()


def _facts(image: Image) -> tuple[int, str, int, int, int, str]:
    return image.id, image.object, image.version, image.width, image.height, image.blurhash


async def kept(db: Database, ids: Sequence[int]) -> list[Kept]:
    """Return pictures with what they should agree with; two round trips."""
    uploads = [one for one in read_uploads(ids, await db.ask(*map(read_command, ids))) if one]
    about = [command for one in uploads for command in _about(one)]
    replies = iter(await db.ask(*about))
    found = []
    for one in uploads:
        subject = subject_of(one)
        owner_exists, listed, waiting = next(replies), next(replies), next(replies)
        shown = [next(replies) for _ in _shown_in(subject)]
        is_shown = not shown or any(image.id == one.id for text in shown for image in read_images(text))
        found.append(Kept(one, subject, bool(owner_exists), listed is not None, waiting is not None, is_shown))
    return found


def _about(one: Upload) -> Iterable[Command]:
    yield ("EXISTS", keys.user(one.owner))
    yield ("ZSCORE", keys.images(one.owner), one.id)
    yield ("ZSCORE", keys.uploads(partition(one.id)), one.id)
    yield from _shown_in(subject_of(one))


def _shown_in(subject: tuple[str, int] | None) -> list[Command]:
    """Return the commands that read the copies of pictures that a subject has."""
    if subject is None or subject[0] == RESERVED:
        return []
    kind, number = subject
    kept: list[Command] = [("HGET", keys.evidence(number), EvidenceField.PICTURES)] if kind == MESSAGE else []
    return [*kept, *(("HGET", _KEYS[kind](number), field) for field in FIELDS[kind])]


async def copies(db: Database, kind: str, ids: Sequence[int]) -> list[Copies]:
    """Return the copies of pictures that posts, messages or profiles have; two round trips where there are any."""
    holders = [(kind, number, field) for number in ids for field in FIELDS[kind]]
    texts = await db.ask(*(("HGET", _KEYS[kind](number), field) for _, number, field in holders))
    having = [(one, read_images(text)) for one, text in zip(holders, texts, strict=True) if text]
    wanted = list({image.id for _, images in having for image in images})
    records = dict(zip(wanted, read_uploads(wanted, await db.ask(*map(read_command, wanted))), strict=True))
    return [Copies(one, images, {image.id: records[image.id] for image in images}) for one, images in having]


def mend_copies(found: Copies) -> list[Command]:
    """Return the commands that make copies right."""
    kind, number, field = found.holder
    right = write_images(found.right)
    commands: list[Command] = [
        script("replace_field", record=found.key, field=field, old=write_images(found.stored), new=right)
    ]
    for image in found.unlinked:
        commands += [
            ("HSET", keys.image(image), ImageField.SUBJECT, f"{kind}:{number}"),
            ("ZREM", keys.uploads(partition(image)), image),
        ]
    return commands


def list_command(one: Upload) -> Command:
    """Return the command that lists a picture among its owner's."""
    return ("ZADD", keys.images(one.owner), one.id, one.id)


def wait_command(one: Upload, *, waits: bool) -> Command:
    """Return the command that lists a picture as attached to nothing, or does so no longer."""
    uploads = keys.uploads(partition(one.id))
    return ("ZADD", uploads, one.id, one.id) if waits else ("ZREM", uploads, one.id)


def remove_commands(db: Database, one: Upload) -> list[Command]:
    """Return the commands that remove a picture that nothing shows. A job removes its objects."""
    owner = one.owner if partition(one.owner) == partition(one.id) else 0  # else no list of theirs can name it
    return [("HDEL", keys.image(one.id), ImageField.SUBJECT), remove_command(db, one.id, owner)]


class Unattached(Struct, frozen=True):
    """An entry of a list of unattached pictures that should not be there."""

    key: str
    image: int

    @property
    def removal(self) -> Command:
        return ("ZREM", self.key, self.image)


async def waiting_without_record(db: Database, partitions: Sequence[int]) -> list[Unattached]:
    """Return the entries of partitions' lists of unattached pictures that have no record; two round trips."""
    lists = list(map(keys.uploads, partitions))
    replies = await db.ask(*(("ZRANGE", key, 0, -1) for key in lists))
    entries = [Unattached(key, int(image)) for key, reply in zip(lists, replies, strict=True) for image in reply]
    exist = await db.ask(*(("EXISTS", keys.image(entry.image)) for entry in entries))
    return [entry for entry, exists in zip(entries, exist, strict=True) if not exists]
