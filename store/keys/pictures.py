"""Keys of pictures, in the partition of the member who uploaded them."""

from store.ids import partition
from store.keys.declaring import of_partition, owned_by

_image = owned_by("image")
_member = owned_by("member")
_upload = owned_by("upload")

image = _image("image")
"""hash: an upload and the picture that it becomes: its state, its stored forms, and what it is attached to"""
images = _member("images")
"""zset: every upload and picture of a member → its own id"""
uploads = of_partition("uploads")
"""zset: upload or picture of the partition that is attached to nothing → its own id; removed after a day"""
originals = of_partition("originals")
"""hash: upload of the partition whose bytes arrive or wait → its member, bytes, and when it expires; for a day"""


def uploaded(member: int, day: int) -> str:
    """string: how many uploads a member began on a day (since 1970); expires after it"""
    return f"uploaded:{{{partition(member)}}}:{member}:{day}"


def processing_time(member: int, hour: int) -> str:
    """string: processor time that a member's pictures have taken in an hour (since 1970), ms; expires after it"""
    return f"processing-time:{{{partition(member)}}}:{member}:{hour}"


upload_channel = _upload("upload_channel", stem="upload")
"""The Pub/Sub channel on which it is published that an upload's state has changed."""


def taken(conversation: int, reservation: int) -> str:
    """string: message that took the pictures of a reservation, or `ended`: they were given back; a day, once settled"""
    return f"taken:{{{partition(conversation)}}}:{reservation}"
