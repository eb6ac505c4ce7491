"""Reads the archive of an export, which its owner may have changed: every value is checked."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from email_validator import validate_email
from msgspec import Struct

from resolvers.archives import archive
from resolvers.archives.sections import POSTS, PROFILE
from resolvers.reading import global_ids
from resolvers.rules import places
from resolvers.rules.text import hashtags, is_login, normalise
from resolvers.upkeep.importing.network import ImportRefused
from store.ids import made_at, partition
from store.records.members import MessageAudience
from store.records.posts import Location
from store.settings import Settings
from store.upkeep.copying.restoring import RestoredPost

FILE_MOST = 1 << 26  # bytes of one file of JSON: 500 posts of the longest text that can be set

Value = TypeVar("Value")


class Profile(Struct, rename="camel", frozen=True):
    """The profile in an export. The role in it is not restored."""

    id: str
    login: str
    name: str
    bio: str
    email: str
    is_private: bool
    is_suspended: bool
    messages_from: MessageAudience
    pinned_post_id: str | None
    is_email_verified: bool = False  # also for a file that does not say it

    @property
    def member(self) -> int:
        """The member's id."""
        return _number(self.id, ("user",))

    @property
    def pinned(self) -> int:
        """The pinned post, 0 without one."""
        return _number(self.pinned_post_id, global_ids.POSTS)


class _Reference(Struct, rename="camel", frozen=True):
    """Another post that a post names."""

    id: str
    author_id: str


class _Post(Struct, rename="camel", frozen=True):
    """A post in an export."""

    id: str
    text: str
    location: Location | None
    is_hidden: bool
    in_reply_to: _Reference | None
    conversation_id: str | None
    group: dict[str, str] | None
    original: _Reference | None = None
    images: list[dict[str, str]] = []  # not read back


class _Files(Struct, frozen=True):
    files: int
    entries: int


class _Manifest(Struct, frozen=True):
    format: str
    version: int
    sections: dict[str, _Files]


class WrongValue(ValueError):
    """A value in an export breaks a rule. The message is one line that says which."""


def _number(text: str | None, kinds: tuple[str, ...]) -> int:
    """Return the number of a global id, 0 for None; raises WrongValue."""
    if text is None:
        return 0
    found = global_ids.read(text)
    if found is None or found[0] not in kinds:
        raise WrongValue(f"{text[:40]!r} is no id of a {kinds[0]}")
    return found[1]


class AccountArchive:
    """The archive of an export, opened. Each method raises ImportRefused, which names the file and the rule."""

    def __init__(self, path: Path, settings: Settings, newest: int) -> None:
        self._path = path
        self._settings = settings
        self._newest = newest  # an id that the store has just made
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise ImportRefused(f"{path}: {error}") from error
        self._manifest = self._decoded(archive.MANIFEST, _Manifest)
        if (self._manifest.format, self._manifest.version) != (archive.FORMAT, archive.VERSION):
            raise ImportRefused(f"{path}: {archive.MANIFEST} is not of an export that this version of Perch reads")
        self.profile = self._profile()

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    @property
    def post_count(self) -> int:
        """The number of posts that the manifest names."""
        found = self._manifest.sections.get(POSTS)
        return found.entries if found else 0

    def posts(self) -> Iterator[list[RestoredPost]]:
        """Yield the posts in batches, oldest first, without those in groups and those that are pictures alone."""
        before = 0
        for number in range(1, self._manifest.sections[POSTS].files + 1):
            name = archive.data_file(POSTS, number)
            batch = []
            for entry in self._decoded(name, list[_Post]):
                try:
                    post = self._post(entry, before)
                except ValueError as error:
                    raise ImportRefused(f"{self._path}, {name}, {entry.id[:40]!r}: {error}") from error
                before = post.id
                if entry.group is None and (post.text or post.original):
                    batch.append(post)
            yield batch

    def _post(self, entry: _Post, before: int) -> RestoredPost:
        post, member = _number(entry.id, global_ids.POSTS), self.profile.member
        if partition(post) != partition(member):
            raise WrongValue("this is not a post of the member")
        if post <= before:
            raise WrongValue("posts must be oldest first")
        self._check_age(post)
        original, reply = entry.original, entry.in_reply_to
        if any(named and _number(named.id, global_ids.POSTS) >= post for named in (original, reply)):
            raise WrongValue("a post names only older ones")
        if entry.location is not None:
            _check_location(entry.location)
        text = normalise(entry.text, limit=self._settings.max_text, may_be_empty=bool(original or entry.images))
        return RestoredPost(
            id=post,
            author=member,
            text=text,
            hashtags=hashtags(text),
            original=_number(original.id, global_ids.POSTS) if original else 0,
            original_author=_number(original.author_id, ("user",)) if original else 0,
            of_quote=original is not None and original.id.startswith("repost"),
            reply_to=_number(reply.id, global_ids.POSTS) if reply else 0,
            reply_to_author=_number(reply.author_id, ("user",)) if reply else 0,
            root=_number(entry.conversation_id or reply.id, global_ids.POSTS) if reply else 0,
            location=entry.location,
            is_hidden=entry.is_hidden and bool(text),
        )

    def _check_age(self, number: int) -> None:
        # The store makes newer ids alone, so what it makes later never meets an id that was restored.
        if made_at(number) >= made_at(self._newest):
            raise WrongValue("it is newer than the clock of this store")

    def _profile(self) -> Profile:
        name = archive.data_file(PROFILE, 1)
        found = self._decoded(name, list[Profile])
        try:
            (profile,) = found
            if not is_login(profile.login):
                raise WrongValue("login: only a-z, A-Z, 0-9 and _ are allowed")
            self._check_age(profile.member)
            _number(profile.pinned_post_id, global_ids.POSTS)
            clean = msgspec.structs.replace(
                profile,
                name=normalise(profile.name, limit=self._settings.max_name, multiline=False),
                bio=normalise(profile.bio, limit=self._settings.max_bio, may_be_empty=True),
                email=_address(profile.email),
            )
        except ValueError as error:
            raise ImportRefused(f"{self._path}, {name}: {error}") from error
        return clean

    def _decoded(self, name: str, kind: type[Value]) -> Value:
        try:
            with self._zip.open(name) as file:
                data = file.read(FILE_MOST + 1)
            if len(data) > FILE_MOST:
                raise ImportRefused(f"{self._path}, {name}: at most {FILE_MOST:,} bytes are read")
            return msgspec.json.decode(data, type=kind)
        except KeyError:
            raise ImportRefused(f"{self._path}: {name} is missing, so this is no whole export") from None
        # Encrypted and unknown forms of compression are a RuntimeError and a NotImplementedError.
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, msgspec.MsgspecError) as error:
            raise ImportRefused(f"{self._path}, {name}: {error}") from error


def _address(text: str) -> str:
    """Return an address in normal form, "" for a member who has none; raises ValueError."""
    # The address of a test or of an import was valid where the export was made.
    return validate_email(text, check_deliverability=False, globally_deliverable=False).normalized if text else ""


def _check_location(location: Location) -> None:
    found = {
        "latitude": places.flaw(location.latitude, places.LATITUDE_MOST),
        "longitude": places.flaw(location.longitude, places.LONGITUDE_MOST),
    }
    for name, flaw in found.items():
        if flaw:
            raise WrongValue(f"{name}: {flaw}")
