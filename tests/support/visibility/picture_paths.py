"""Every path through the schema to another member's pictures: those of posts go along with every path to the post."""

from collections.abc import Iterable, Iterator

from tests.support.visibility import paths
from tests.support.visibility.paths import HEARD, MODERATORS, OWN, Path, on
from tests.support.visibility.sights import MEMBER, POSTS, PRIVATE_TALK, REPORTED, TIMELINE


def _pictures() -> Iterator[Path]:
    for field in ("avatar", "header"):
        yield Path(f"User.{field}", on("User", "$member", f"{field} {{ id }}"), f"{field}_image", MEMBER)
        author = on("Status", "$status", f"author {{ {field} {{ id }} }}")
        yield Path(f"User.{field}", author, f"{field}_image", POSTS)
        viewer = f"viewer {{ user {{ {field} {{ id }} }} }}"
        yield Path(f"User.{field}", viewer, f"{field}_image", MEMBER, OWN)
    yield Path("Status.images", on("Status", "$status", "images { id }"), "status_image", POSTS)
    quoted = on("Repost", "$pals_quote", "images { id } original { images { id } }")
    yield Path("Repost.images", quoted, "status_image", POSTS)
    yield Path("Message.images", on("Message", "$message", "images { id }"), "message_image", PRIVATE_TALK, HEARD)
    for part in ("lastMessage { images { id } }", "messages(first: 100) { nodes { images { id } } }"):
        yield Path("Message.images", on("Conversation", "$talk", part), "message_image", PRIVATE_TALK, HEARD)
    reported = "reports(first: 100) { nodes { messages { images { id } } } }"
    yield Path("Message.images", reported, "message_image", REPORTED, MODERATORS)
    for purpose, kind in (("status", POSTS), ("avatar", MEMBER), ("message", PRIVATE_TALK)):
        upload = on("Upload", f"${purpose}_upload", "image { id }")
        yield Path("Upload.image", upload, f"{purpose}_image", kind, OWN)
    upload = "upload(id: $status_upload) { image { id } }"
    yield Path("Query.upload", upload, "status_image", POSTS, OWN)


def _with_pictures(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield each path that leads to a status once more, through the pictures of the posts it leads to."""
    for path in paths:
        if "status" in path.entities.split() and path.kind in {POSTS, TIMELINE} and "on User { id }" not in path.query:
            query = path.query.replace("$it", "$status").replace(" id }", " ... on Status { images { id } } }")
            yield Path("Status.images", query, "status_image", path.kind, path.only)


PATHS = (*paths.PATHS, *_pictures(), *_with_pictures(paths.PATHS))
