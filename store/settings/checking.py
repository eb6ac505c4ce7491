"""What values settings may have together."""

import ipaddress
import re
from email.utils import getaddresses
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from store.settings import urls
from store.settings.declaring import SettingError

if TYPE_CHECKING:
    from store.settings import Settings

MOST_WITHOUT_REPLICAS = 5  # nodes of an embedded cluster; of more, half are replicas
SECRET_LENGTH = 32  # characters: 256 bits if each carries eight, RFC 7518 §3.2 for HS256
S3 = "s3"  # the scheme of MEDIA_STORE


def check(settings: "Settings") -> None:
    """Raise SettingError if a value is invalid or values contradict each other."""
    if settings.secret_key and len(settings.secret_key) < SECRET_LENGTH:
        raise SettingError(f"SECRET_KEY must have at least {SECRET_LENGTH} characters")
    if settings.store_nodes == 2 or (settings.store_nodes > MOST_WITHOUT_REPLICAS and settings.store_nodes % 2):  # noqa: PLR2004
        raise SettingError(f"STORE_NODES must be 1, 3, 4, 5 or an even number up to 32, not {settings.store_nodes}")
    if settings.redis_url:
        try:
            urls.check(settings.redis_url)
        except urls.UrlRefused as rule:
            raise SettingError(f"REDIS_URL {rule}") from None
    _check_mail(settings)
    _check_media(settings)
    _check_traces(settings)
    if settings.redis_url and not settings.secret_key:
        raise SettingError("SECRET_KEY must be set when REDIS_URL is, the same for every process")
    for network in settings.trusted_proxies:
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise SettingError(f"TRUSTED_PROXIES: {error}") from None
    for origin in settings.cors_origins:
        parts = urlsplit(origin)
        whole = f"{parts.scheme}://{parts.netloc}"
        if origin != "*" and (parts.scheme not in {"http", "https"} or not parts.netloc or origin != whole):
            raise SettingError(f"CORS_ORIGINS: {origin!r} is no origin such as https://example.org")


def _check_mail(settings: "Settings") -> None:
    if settings.smtp_url:
        try:
            urls.smtp_server(settings.smtp_url)
        except urls.UrlRefused as rule:
            raise SettingError(f"SMTP_URL {rule}") from None
    (_, sender), *others = getaddresses([settings.mail_from])
    if others or "@" not in sender.strip("@") or not settings.mail_from.isprintable():
        raise SettingError("MAIL_FROM must be one address, such as Perch <perch@example.org>")
    for name, url in (("PUBLIC_URL", settings.public_url), ("MEDIA_URL", settings.media_url)):
        parts = urlsplit(url)
        if url and (parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment):
            raise SettingError(f"{name} must be a URL such as https://example.org, without ? and #")


def _check_media(settings: "Settings") -> None:
    parts = urlsplit(settings.media_store)
    if "://" in settings.media_store and (parts.scheme != S3 or not parts.netloc or parts.query or parts.fragment):
        raise SettingError("MEDIA_STORE must be a folder, or a bucket such as s3://pictures")


def _check_traces(settings: "Settings") -> None:
    parts = urlsplit(settings.traces_url)
    if settings.traces_url and (parts.scheme not in {"http", "https"} or not parts.netloc or not parts.path.strip("/")):
        raise SettingError("TRACES_URL must be a URL with a path, such as http://127.0.0.1:4318/v1/traces")
    if not all(re.fullmatch(r"[\w-]+=[\x20-\x7e]+", header) for header in settings.traces_headers):
        raise SettingError("TRACES_HEADERS must be headers such as authorization=Basic dXNlcg==, comma-separated")
