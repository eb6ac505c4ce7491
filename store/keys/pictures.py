"""Keys of pictures, in the partition of the member who uploaded them."""

from store.ids import partition


def image(image: int) -> str:
    """hash: an upload and the picture that it becomes: its state, its stored forms, and what it is attached to"""
    return f"image:{{{partition(image)}}}:{image}"


def images(member: int) -> str:
    """zset: every upload and picture of a member → its own id"""
    return f"images:{{{partition(member)}}}:{member}"


def uploads(p: int) -> str:
    """zset: upload or picture of the partition that is attached to nothing → its own id; removed after a day"""
    return f"uploads:{{{p}}}"


def originals(p: int) -> str:
    """hash: upload of the partition whose bytes arrive or wait → its member, bytes, and when it expires; for a day"""
    return f"originals:{{{p}}}"


def uploaded(member: int, day: int) -> str:
    """string: how many uploads a member began on a day (since 1970); expires after it"""
    return f"uploaded:{{{partition(member)}}}:{member}:{day}"


def processing_time(member: int, hour: int) -> str:
    """string: processor time that a member's pictures have taken in an hour (since 1970), ms; expires after it"""
    return f"processing-time:{{{partition(member)}}}:{member}:{hour}"


def upload_channel(upload: int) -> str:
    """Return the Pub/Sub channel on which it is published that an upload's state has changed."""
    return f"upload:{{{partition(upload)}}}:{upload}"


def taken(conversation: int, reservation: int) -> str:
    """string: message that took the pictures of a reservation, or `ended`: they were given back; a day, once settled"""
    return f"taken:{{{partition(conversation)}}}:{reservation}"
