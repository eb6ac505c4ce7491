"""Settings of pictures: where they are stored, and limits on uploads."""

from dataclasses import dataclass

from store.settings.declaring import setting


@dataclass(frozen=True, slots=True)
class PictureSettings:
    """The settings of pictures, which `Settings` has among its own."""

    media_store: str = setting(
        "",
        "where pictures are stored: a folder that all processes share, or `s3://bucket/prefix`, whose endpoint and "
        "credentials are in `AWS_…`; unset: `DATA_DIR/media`",
    )
    media_url: str = setting(
        "", "what links to pictures begin with, such as the URL of a CDN that asks this server; unset: `PUBLIC_URL`"
    )
    max_alt: int = setting(5_000, "characters of a picture's alt text", least=1, most=100_000)
    require_alt: bool = setting(False, "whether pictures of posts and messages need an alt text")
    upload_link_seconds: int = setting(3_600, "how long the link of an upload works, s", least=10, most=86_400)
    upload_seconds: int = setting(300, "how long the bytes of an upload may take to arrive, s", least=1, most=3_600)
    unattached_hours: int = setting(24, "hours after which an upload that is attached to nothing is removed", least=1)
    image_seconds: int = setting(30, "processor time that a picture may take to be processed, s", least=1, most=600)
    image_seconds_per_hour: int = setting(
        120, "processor time that the pictures of one member may take in an hour, s; others wait until it ends", least=1
    )
    images_at_once: int = setting(1, "pictures that a worker processes at a time, each in a process", least=1, most=64)
    images_per_day: int = setting(200, "uploads that one member can begin in a day (UTC)", least=1, most=100_000)
    images_waiting_mib: int = setting(
        2_000,
        "uploaded files of all members that may arrive or wait to be processed, MiB; one may always",
        least=1,
        most=1 << 30,
    )
    images_waiting_mib_per_member: int = setting(50, "the same of one member, MiB", least=1, most=1 << 30)
    upload_mib_per_address: int = setting(
        1_000, "bytes of pictures that one address may send in an hour, MiB", least=1, most=1 << 30
    )
    max_image_bytes: int = setting(10_000_000, "bytes of an uploaded picture", least=1_000, most=1 << 30)
    max_image_pixels: int = setting(
        50_000_000, "pixels of an uploaded picture; 8 bytes each may be needed to decode it", least=1_000, most=1 << 30
    )
