"""The object stores on which tests of pictures run: a folder, and a real S3 server."""

from collections.abc import Iterator

import pytest

from store.media import objects
from tests.support.servers.s3 import S3Server, new_server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The S3 server of what runs on one core."""
    server = new_server(tmp_path_factory.mktemp("s3"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The S3 server, which clients in this process find."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture(params=["folder", "s3"])
def media_store(request: pytest.FixtureRequest) -> str:
    """A MEDIA_STORE: the default folder, and a bucket."""
    if request.param == "folder":
        return ""
    server: S3Server = request.getfixturevalue("s3")
    return server.store()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request to an S3 server is tried once."""
    monkeypatch.setattr(objects, "RETRIES", 0)
