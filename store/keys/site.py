"""Keys of the whole site: the public timeline, hashtags, promotions, rankings, the event log."""

from collections.abc import Iterable

from store.keys.declaring import of_partition

DAY = 86_400  # s: lifetime of idempotency keys and tombstones
TAGS_KEPT = 10_000  # tags: the uses of an hour are trimmed to these once there are twice as many
TAG_USES_SECONDS = 8 * 3600  # s: how long the uses of an hour are kept


def hashtag(tag: str) -> str:
    """zset: posts that carry a tag → their own id; newest `HASHTAG_SIZE`"""
    return f"hashtag:{{{tag}}}"


def tag_uses(hour: int) -> str:
    """zset: tag → posts of an hour (since 1970) that carry it, or more; expires; 10,000 tags, or up to twice as many"""
    return f"tag-uses:{{{hour}}}"


def public() -> str:
    """zset: all statuses and quotes → their own id; newest `PUBLIC_SIZE`"""
    return "public"


def promotion(promotion: int) -> str:
    """hash: a promotion: its sponsor, what it shows, and when it ends; it stays when it has ended"""
    return promotion_prefix() + str(promotion)


def promotion_prefix() -> str:
    return "promotion:{promotions}:"


def promotions() -> str:
    """zset: running promotion → its end, ms since 1970; at most `MAX_PROMOTIONS`, those that ended make room"""
    return "promotions:{promotions}"


def important_hashtag(tag: str) -> str:
    """zset: posts of a hashtag's timeline → score (`rules/ranking`); best `IMPORTANT_SIZE`"""
    return f"important:{hashtag(tag)}"


def important_public() -> str:
    """zset: posts of the public timeline → score (`rules/ranking`); best `IMPORTANT_SIZE`; in the slot of `public`"""
    return "important:{public}"


def ranked_lists(hashtags: Iterable[str]) -> list[tuple[str, str]]:
    """Return the keys of the public timeline and of the timelines of some tags, each with the key of its ranking."""
    return [
        (public(), important_public()),
        *((hashtag(tag), important_hashtag(tag)) for tag in dict.fromkeys(hashtags)),
    ]


rescore = of_partition("rescore")
"""zset: post of the partition whose counts have changed → when its score is due, ms since 1970"""


def snapshot(digest: str, listing: str) -> str:
    """string: a listing in the order of its ranking, each id as 14 hexadecimal digits; expires in ten minutes"""
    return f"snapshot:{{{digest}}}:{listing}"


def events() -> str:
    """stream: what happened on the site, in one total order, without texts and places; newest `EVENTS_KEPT`"""
    return "events:{events}"


def event_ids() -> str:
    """zset: names of the events that the stream has, so that repeated work adds none twice; bounded like it"""
    return "event-ids:{events}"


def events_channel() -> str:
    """Return the Pub/Sub channel of the new events of the log."""
    return events()


def imported(p: int, source: str) -> str:
    """hash: author → posts that an import has made for them, so that it goes on where it was interrupted"""
    return f"imported:{{{p}}}:{source}"


def absent(tag: int | str) -> str:
    """string: never exists; in the slot of a tag. Commands name it to learn whether they would be executed there"""
    return f"absent:{{{tag}}}"


def given_up(digest: str) -> str:
    """string: keyed hash of a login or address that was given up → the member who had it; expires when it is free"""
    return f"given-up:{{{digest}}}"


def acknowledged(tag: str) -> str:
    """string: empty, for a second; in the slot of a tag. Written after changes that replicas have to acknowledge"""
    return f"acknowledged:{{{tag}}}"


def slot(tag: str) -> str:
    """string: always 1; in the slot of a tag. A process that caches values of the slot tracks it, to learn of a move"""
    return f"slot:{{{tag}}}"


def layout() -> str:
    """hash: layout that all keys have; each partition that a migration has finished → its layout; absent: the first"""
    return "layout:{layout}"


def processes() -> str:
    """zset: running process, as `LAYOUT:random` → when it counts as gone unless it says more, ms since 1970"""
    return "processes:{layout}"
