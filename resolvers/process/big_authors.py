"""Big authors: members whose posts their followers' homes pull."""

from store import big_authors
from store.client.database import Database


class BigAuthors:
    """The big authors of the site, as this process last read them, and the version of that set."""

    def __init__(self) -> None:
        self.version = ""
        self.members: tuple[int, ...] = ()

    async def read(self, db: Database) -> None:
        """Read version and members again."""
        self.version, self.members = await big_authors.big_authors(db)
