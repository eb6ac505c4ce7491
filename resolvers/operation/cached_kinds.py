"""What a process keeps of what operations have read, as long as the store does not say that it has changed."""

from __future__ import annotations

from store.client.cache import Mirror

READERS_KEPT = 5_000  # members whose sessions and homes are kept
PAGES_KEPT = 4  # first pages of one list; they differ in length


class Known:
    """Where it is kept."""

    def __init__(self, mirror: Mirror) -> None:
        self.users = mirror.records("user")
        self.posts = mirror.records("status")
        self.comments = mirror.records("comment")
        self.bonds = mirror.relations("following", "blocked", "blocked-by", "muted")
        self.sources = mirror.relations("sources")
        self.sessions = mirror.relations("sessions", "credentials", owners=READERS_KEPT)
        self.homes = mirror.relations("newest", "home", "homestate", owners=READERS_KEPT, most=PAGES_KEPT)
        self.days = mirror.relations("active", most=READERS_KEPT)
        self.big_followed = mirror.relations("following", most=1)
        self.profiles = mirror.relations("profile", most=PAGES_KEPT)
        self.logins = mirror.records("login")
        self.big_version = mirror.relations("big-version").of("big")
        self.promoted_until = mirror.relations("promotions").of("promotions")
