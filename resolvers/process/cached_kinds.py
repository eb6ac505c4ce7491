"""The kinds of data that a process caches for its operations, until the server invalidates them; and big authors."""

from collections import deque

from store import big_authors
from store.client.caching.cache import Cache
from store.client.database import Database

READERS_KEPT = 5_000  # members whose sessions and homes are cached
NEW_KEPT = 64  # posts that a process has made and nobody has read yet
PAGES_KEPT = 4  # cached first pages of one list; they differ in length


class CachedKinds:
    """The caches, one attribute for each kind of data."""

    def __init__(self, cache: Cache) -> None:
        self.users = cache.records("user")
        self.posts = cache.records("status")
        self.comments = cache.records("comment")
        self.messages = cache.records("message")
        self.groups = cache.records("group")
        self.relationships = cache.relations("following", "blocked", "blocked-by", "muted")
        self.likes = cache.views("likes")
        self.newest_likes = cache.relations("liked", most=1)
        self.reposts = cache.views("reposts")
        self.reposted = cache.relations("reposted")
        self.favourites = cache.relations("favourites")
        self.sources = cache.relations("sources")
        self.sessions = cache.relations("sessions", "credentials", owners=READERS_KEPT)
        self.homes = cache.relations("newest", "home", "homestate", owners=READERS_KEPT, most=PAGES_KEPT)
        self.days = cache.relations("active", most=READERS_KEPT)
        self.big_followed = cache.relations("following", most=1)
        self.profiles = cache.relations("profile", most=PAGES_KEPT)
        self.logins = cache.records("login")
        self.big_version = cache.relations("big-version").of("big")
        self.promoted_until = cache.relations("promotions").of("promotions")
        self.new: deque[tuple[int, int]] = deque(maxlen=NEW_KEPT)  # posts made here and not read since, with the author


class BigAuthors:
    """The big authors of the site, as this process last read them, and the version of that set."""

    def __init__(self) -> None:
        self.version = ""
        self.members: tuple[int, ...] = ()

    async def read(self, db: Database) -> None:
        """Read version and members again."""
        self.version, self.members = await big_authors.big_authors(db)
