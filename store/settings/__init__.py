"""Settings that operators may change, read from environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from store.settings import checking
from store.settings.checking import SECRET_LENGTH
from store.settings.declaring import read, setting

__all__ = ["SECRET_LENGTH", "Settings", "settings_table"]


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. The environment variable of each is its field's name in capitals."""

    host: str = setting("127.0.0.1", "address to listen on")
    port: int = setting(8000, "port to listen on; 0 takes a free one", least=0, most=65535)
    processes: int = setting(1, "server processes on the port; 0 as many as processors", least=0, most=256)
    data_dir: Path = setting(Path("data"), "folder of the embedded store")
    store_nodes: int = setting(
        1, "nodes of a new embedded store: 1, 3, 4, 5, or 6 and more with half of them replicas", most=32
    )
    redis_url: str = setting("", "a Redis or Valkey server to use instead of the embedded one", is_secret=True)
    secret_key: str = setting(
        "", "signs access tokens, 32 characters or more; embedded: made once, kept in `DATA_DIR`", is_secret=True
    )
    appendfsync: str = setting(
        "everysec", "how often the embedded store forces its log to disk", choices=("everysec", "always")
    )
    damaged_end_mib: int = setting(
        64,
        "most that is cut off a damaged end of the embedded store's log, and kept, MiB; with more, it does not start",
        least=0,
        most=1 << 20,
    )
    min_free_disk: int = setting(
        256,
        "free disk space below which the embedded store accepts no writes, MiB; uploads need twice as much; 0: 64 KiB",
        least=0,
        most=1 << 30,
    )
    cors_origins: tuple[str, ...] = setting((), "origins whose pages may call the API, comma-separated; `*` is any")
    trusted_proxies: tuple[str, ...] = setting((), "networks whose `X-Forwarded-For` is believed, comma-separated CIDR")
    log_level: str = setting("INFO", "how much is logged", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    run_worker: bool = setting(True, "whether the server also does the deferred work")
    fast_execution: bool = setting(True, "whether queries run by plan; off: graphql-core alone")
    records_kept: int = setting(
        20_000, "records of each kind kept per process until they change; 0 keeps nothing", least=0
    )
    documents_kept_mib: int = setting(
        32, "memory for query texts that were read and for their plans, per process, MiB", most=100_000
    )
    answers_kept_mib: int = setting(
        64,
        "memory for whole answers that are kept per process until they change, MiB; 0 keeps none",
        least=None,
        most=100_000,
    )
    rows_kept_mib: int = setting(
        32,
        "memory for the parts of records that answers share until they change, per process, MiB; 0 keeps none",
        least=None,
        most=100_000,
    )
    trusted_documents: str = setting("", "file of the only documents that clients may execute; unset: any")
    redis_connections: int = setting(2, "connections to Redis per process, shared by all that runs", most=100)

    replicas_acknowledge: int = setting(
        0,
        "replicas that must have a change before it is answered; with fewer, writes are unavailable",
        least=0,
        most=10,
    )

    # Sessions
    access_token_seconds: int = setting(900, "life of an access token, s")
    session_days: int = setting(30, "life of a session that is never refreshed, days", most=3650)
    sessions_per_member: int = setting(50, "sessions of one member; the oldest makes room", most=1000)
    refresh_grace_seconds: int = setting(30, "how long a rotated refresh token works on, s", least=0)
    reservation_seconds: int = setting(60, "how long an unfinished sign-up keeps its login and e-mail, s", least=5)
    login_release_days: int = setting(30, "how long a login or address given up stays reserved, days", least=0)
    former_logins: int = setting(20, "logins given up that stay reserved for one member at a time")
    password_memory_kib: int = setting(65_536, "memory of one argon2id hash, KiB", least=8)
    password_passes: int = setting(3, "passes of one argon2id hash")

    # Mail
    smtp_url: str = setting(
        "",
        "the server that takes mails: `smtp://user:password@host:port`, or `smtps://`; unset: mails are files in "
        "`DATA_DIR/mail`",
        is_secret=True,
    )
    mail_files_kept: int = setting(1_000, "newest mails kept in `DATA_DIR/mail` without `SMTP_URL`")
    mail_from: str = setting("Perch <perch@localhost>", "the sender of mails, a name and an address or an address")
    public_url: str = setting(
        "", "what links in mails begin with, such as https://example.org; unset: `HOST` and `PORT`"
    )
    require_verified_email: bool = setting(
        False, "whether members whose address is not verified may only read and manage their account"
    )
    verification_hours: int = setting(
        24, "life of a link that verifies an address, and of the wait for a new address, h", most=720
    )
    reset_minutes: int = setting(60, "life of a link that resets a password, min", least=5, most=1440)
    verification_mails_per_hour: int = setting(5, "links to verify an address sent per hour and member")
    reset_requests_per_hour: int = setting(30, "requests to reset a password per hour and client address")
    recipient_mails_per_hour: int = setting(
        5, "mails to one e-mail address in an hour, its sub-addresses included; more wait, resets apart"
    )
    recipient_mails_per_day: int = setting(20, "the same in a day (UTC)")
    mail_connections: int = setting(4, "mails that a process sends at a time", most=100)
    smtp_seconds: int = setting(
        60, "how long an SMTP server may take to answer a command, s; ten times as long after a mail's end"
    )
    mail_retry_days: int = setting(4, "how long a mail that was put off is tried again, days", most=30)

    # Limits on what one member can do
    rate_limit: int = setting(600, "requests per minute per member or address; 0 turns every such limit off", least=0)
    sign_ups_per_hour: int = setting(30, "sign-ups per hour and address")
    log_in_attempts: int = setting(
        10, "log-in attempts per quarter of an hour and identifier, and again per known address or device"
    )
    log_in_attempts_per_address: int = setting(100, "log-in attempts per quarter of an hour and address")
    log_in_wait_seconds: int = setting(
        30, "how long a network waits before it tries an identifier whose attempts are used up, s"
    )
    log_in_turns_per_minute: int = setting(
        20, "how often all networks together try such an identifier, per minute", most=60_000
    )
    code_attempts: int = setting(10, "wrong codes of a second factor per hour and member, and again per known device")
    moderators_need_two_factor: bool = setting(
        False, "whether moderators and administrators without a second factor may only do what members may"
    )
    known_addresses: int = setting(20, "addresses of last log-ins that are known per member", most=1000)
    known_address_days: int = setting(90, "how long an address is known after a log-in, days", most=3650)
    posts_per_hour: int = setting(300, "posts, quotes and reposts of one member in an hour")
    comments_per_hour: int = setting(300, "comments of one member in an hour")
    likes_per_hour: int = setting(2_000, "likes of one member in an hour")
    follows_per_hour: int = setting(500, "follows and requests to follow of one member in an hour")
    messages_per_hour: int = setting(1_000, "messages of one member in an hour")
    new_member_hours: int = setting(
        24, "hours after sign-up in which these limits, and those on pictures, are stricter", least=0
    )
    new_member_percent: int = setting(20, "share of these limits that a new member has, %", most=100)
    same_text_targets: int = setting(
        10, "conversations, posts and groups to which one member may send the same text in a day", most=1000
    )
    max_following: int = setting(5_000, "members that one member can follow")
    max_blocked: int = setting(5_000, "members that one member can block, and again mute, and that one group can ban")
    max_text: int = setting(500, "characters of a post or comment", most=100_000)
    max_name: int = setting(50, "characters of a display name", most=1000)
    max_bio: int = setting(200, "characters of a bio", most=10_000)
    max_ids: int = setting(100, "ids in one call", most=1000)
    max_favourites: int = setting(10_000, "posts that one member can favourite")
    max_groups: int = setting(500, "groups that one member can be in or ask to join, their own included")
    group_name: int = setting(50, "characters of a group's name", most=1000)
    group_description: int = setting(500, "characters of a group's description", least=0, most=10_000)
    max_promotions: int = setting(1_000, "promotions that can run at one time", most=100_000)
    max_participants: int = setting(50, "members of one conversation", least=2, most=1000)
    max_message: int = setting(5_000, "characters of a message", most=100_000)
    conversations_per_hour: int = setting(20, "conversations with strangers that one member can begin in an hour")
    exports_per_day: int = setting(5, "exports that one member can prepare in a day (UTC)", most=1000)
    export_link_seconds: int = setting(3_600, "how long the link to an export works, s", least=10, most=86_400)
    max_note: int = setting(1_000, "characters of the note of a report or of a moderator", most=100_000)
    reports_per_hour: int = setting(20, "reports that one member can file in an hour")
    max_page: int = setting(100, "entries of one page", most=1000)

    # Limits on connections
    max_connections: int = setting(
        5_000, "open connections per process; fewer where it may not open that many files", least=10, most=1_000_000
    )
    connections_per_address: int = setting(
        200,
        "open connections per process and address, or IPv6 /64; 0 is no limit, proxies of `TRUSTED_PROXIES` have none",
        least=0,
    )
    request_head_seconds: int = setting(10, "how long a client may take to send the head of a request, s", most=3600)
    keep_alive_seconds: int = setting(75, "how long a connection may be idle between two requests, s", most=3600)

    # Overload
    overload_delay_ms: int = setting(
        24,
        "delay of the event loop that lasts, from which requests are refused, anonymous ones first, ms; 0 refuses none",
        least=0,
        most=10_000,
    )
    max_requests: int = setting(
        256, "requests that a process answers at a time; more are refused", least=8, most=100_000
    )
    store_patience_ms: int = setting(
        500,
        "how long the database may leave a command unanswered before anonymous requests are refused, ms; others later",
        least=50,
        most=10_000,
    )

    # Live
    sockets_per_member: int = setting(
        20, "open websockets and event streams of one member, or of one anonymous address"
    )
    max_live_cost: int = setting(
        1_500, "cost per event of all subscriptions of one member, or of one anonymous address; 1 is some 10 µs of CPU"
    )
    subscriptions_per_socket: int = setting(50, "operations running on one websocket")
    socket_frames_per_second: int = setting(
        100, "frames that a client may send over one websocket, pings and fragments included", least=10
    )
    socket_init_seconds: int = setting(10, "how long a websocket may wait with `connection_init`, s")
    heartbeat_seconds: int = setting(20, "between two pings of a websocket, or comments in an event stream, s")
    subscriber_queue: int = setting(1_000, "events waiting for one slow subscriber before it gets a gap")
    events_kept: int = setting(100_000, "events kept to resume from", least=100)
    message_events_kept: int = setting(
        1_000, "events of a member's conversations kept to resume from, while somebody is subscribed"
    )
    message_events_seconds: int = setting(
        3_600, "how long these events are kept after the member's last subscription has ended, s", least=3
    )
    shutdown_seconds: int = setting(10, "how long requests may finish when the server stops, s", least=0)
    drain_seconds: int = setting(
        5, "how long a server that stops waits for one more request on each idle connection, s", least=0
    )

    # Timelines
    home_size: int = setting(800, "newest entries that every home keeps", least=10, most=10_000)
    home_slack: int = setting(50, "entries a home may hold above its size before it is trimmed", most=10_000)
    home_max_age: int = setting(0, "days after which an entry leaves the home; 0 never", least=0, most=10_000)
    repost_lift_hours: float = setting(12.0, "hours after which a repost lifts a post; 0 never", least=0, most=10_000)
    home_idle_days: int = setting(14, "days without a read after which a member's home is let go of")
    big_author: int = setting(
        10_000, "followers from which an author's posts are pulled by readers; pushed again below nine tenths"
    )
    home_shows_all_replies: bool = setting(
        False, "whether homes also show replies to members whom their owner does not follow"
    )
    public_size: int = setting(100_000, "newest posts kept in the public timeline", least=10)
    hashtag_size: int = setting(10_000, "newest posts kept per hashtag", least=10)
    important_size: int = setting(500, "posts ranked by importance, in public and per hashtag", most=10_000)
    important_home: int = setting(200, "newest entries of a home that are ranked by importance", most=10_000)
    group_changes_kept: int = setting(1_000, "newest changes of a group's timeline kept to resume from", most=100_000)
    notifications_kept: int = setting(
        1_000, "newest notifications kept per member, and as many that were withdrawn", most=10_000
    )
    mentions_kept: int = setting(1_000, "newest posts and comments kept that name a member", most=10_000)
    fanout_inline: int = setting(
        200, "followers reached before a post is answered; the worker reaches the rest", least=0
    )
    fanout_batch: int = setting(1_000, "followers reached per step of the worker, per node", most=10_000)
    moderation_log_days: int = setting(
        180, "how long texts that moderators deleted, and resolved reports, are kept, days", most=3650
    )
    job_lease_seconds: int = setting(10, "silence after which unfinished work is taken over, s")
    job_attempts: int = setting(8, "failures after which work is set aside as dead")

    # Pictures
    media_store: str = setting(
        "",
        "where pictures are stored: a folder that all processes share, or `s3://bucket/prefix`, whose endpoint and "
        "credentials are in `AWS_…`; unset: `DATA_DIR/media`",
    )
    media_url: str = setting(
        "", "what links to pictures begin with, such as the URL of a CDN that asks this server; unset: `PUBLIC_URL`"
    )
    max_alt: int = setting(5_000, "characters of a picture's alt text", most=100_000)
    require_alt: bool = setting(False, "whether pictures of posts and messages need an alt text")
    upload_link_seconds: int = setting(3_600, "how long the link of an upload works, s", least=10, most=86_400)
    upload_seconds: int = setting(300, "how long the bytes of an upload may take to arrive, s", most=3_600)
    unattached_hours: int = setting(24, "hours after which an upload that is attached to nothing is removed")
    image_seconds: int = setting(30, "processor time that a picture may take to be processed, s", most=600)
    image_seconds_per_hour: int = setting(
        120, "processor time that the pictures of one member may take in an hour, s; others wait until it ends"
    )
    images_at_once: int = setting(1, "pictures that a worker processes at a time, each in a process", most=64)
    images_per_day: int = setting(200, "uploads that one member can begin in a day (UTC)", most=100_000)
    images_waiting_mib: int = setting(
        2_000,
        "uploaded files of all members that may arrive or wait to be processed, MiB; one may always",
        most=1 << 30,
    )
    images_waiting_mib_per_member: int = setting(50, "the same of one member, MiB", most=1 << 30)
    upload_mib_per_address: int = setting(
        1_000, "bytes of pictures that one address may send in an hour, MiB", most=1 << 30
    )
    max_image_bytes: int = setting(10_000_000, "bytes of an uploaded picture", least=1_000, most=1 << 30)
    max_image_pixels: int = setting(
        50_000_000, "pixels of an uploaded picture; 8 bytes each may be needed to decode it", least=1_000, most=1 << 30
    )

    # What operators observe
    metrics_port: int = setting(0, "port of the metrics for Prometheus; 0 measures nothing", least=0, most=65535)
    metrics_host: str = setting("127.0.0.1", "address on which the metrics are served; keep strangers away from it")
    slow_operation_ms: int = setting(
        0,
        "queries and mutations that take at least so long are logged with their plan and round trips, ms; 0 logs none",
        least=0,
        most=3_600_000,
    )
    traces_url: str = setting(
        "", "where traces are sent as OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; unset: nothing is traced"
    )
    traces_percent: float = setting(
        1.0, "share of operations that are traced, unless a trusted proxy has decided, %", least=0, most=100
    )
    traces_headers: tuple[str, ...] = setting(
        (), "headers for the collector, such as `authorization=Basic …`, comma-separated", is_secret=True
    )
    traces_service: str = setting("perch", "the name under which the collector lists this site's traces")

    # Queries
    max_depth: int = setting(15, "depth of a query")
    max_query: int = setting(16_384, "characters of a query text")
    max_tokens: int = setting(1_000, "tokens of a query, and comments likewise")
    max_operations: int = setting(50, "operations of one query text")
    max_aliases: int = setting(30, "aliases in a query", least=0)
    max_fields: int = setting(2_000, "fields of a query, those of a fragment counted wherever it is spread")
    max_cost: int = setting(
        40_000, "cost of a query: fields and pages, times the entries asked of the lists above; 1 is some µs of CPU"
    )
    max_anonymous_cost: int = setting(20_000, "the same for an anonymous request, if `MAX_COST` is more")
    max_values: int = setting(6_000, "values in the variables of a request, those in lists and objects counted")
    max_body: int = setting(262_144, "bytes of a request body or websocket message", least=1024)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Return the settings of the environment; raises SettingError, which names the variable and the rule."""
        values = {
            f.name: read(f, environment[f.name.upper()]) for f in fields(cls) if environment.get(f.name.upper(), "")
        }
        settings = cls(**values)
        settings.check()
        return settings

    def check(self) -> None:
        """Raise SettingError if a value is invalid or values contradict each other."""
        checking.check(self)

    @property
    def link_base(self) -> str:
        """The URL that links in mails begin with, without a slash at its end."""
        return self.public_url.rstrip("/") or f"http://{self.host or 'localhost'}:{self.port}"


def settings_table() -> str:
    """Return the documentation's table of all settings, in Markdown."""
    rows = ["| variable | default | meaning |", "|---|---|---|"]
    for f in fields(Settings):
        value: Any = f.default
        default = str(value).lower() if isinstance(value, bool) else "" if value == () else str(value)
        rows.append(f"| `{f.name.upper()}` | {f'`{default}`' if default else 'unset'} | {f.metadata['meaning']} |")
    return "\n".join(rows)
