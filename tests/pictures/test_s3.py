"""What only an S3 server does: it is silent, or refuses credentials."""

import io

import pytest

from store.media import objects
from store.media.objects import Media, MediaUnavailable, PictureForm
from store.settings import Settings
from tests.support.people import shrunk
from tests.support.servers.s3 import S3Server

NAME = "0" * 46


async def test_silence(settings: Settings, s3: S3Server, impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer counts as away after its time, and takes objects again when it answers."""
    bucket = shrunk(settings, media_store=s3.store())
    with monkeypatch.context() as changed, s3.silent():
        changed.setattr(objects, "REQUEST_SECONDS", 0.5)
        with pytest.raises(MediaUnavailable):
            await Media(bucket).put(NAME, PictureForm.LARGE, io.BytesIO(b"x"))
    store = Media(bucket)
    await store.put(NAME, PictureForm.LARGE, io.BytesIO(b"x"))
    assert await store.size(NAME, PictureForm.LARGE) == 1


async def test_wrong_credentials(
    settings: Settings, s3: S3Server, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials that the server refuses are an outage, and the message for operators does not contain them."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    store = Media(shrunk(settings, media_store=s3.store()))
    with pytest.raises(MediaUnavailable) as raised:
        await store.put(NAME, PictureForm.LARGE, io.BytesIO(b"x"))
    assert "wrong" not in str(raised.value)


async def test_presigned_links(settings: Settings, s3: S3Server, tmp_path: object) -> None:
    """A bucket has links that work for a time without credentials, and a folder has none."""
    store, folder = Media(shrunk(settings, media_store=s3.store())), Media(settings)
    for each in (store, folder):
        await each.put(NAME, PictureForm.LARGE, io.BytesIO(b"x"))
    assert await folder.presigned(NAME, PictureForm.LARGE, 60) is None
    link = await store.presigned(NAME, PictureForm.LARGE, 60) or ""
    assert link.startswith(s3.environment["AWS_ENDPOINT_URL"])
    assert "X-Amz-Expires=60" in link
