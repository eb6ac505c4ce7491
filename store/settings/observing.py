"""Settings of what operators observe: metrics, slow operations, and traces for a collector of OpenTelemetry."""

from dataclasses import dataclass

from store.settings.declaring import setting
from store.settings.pictures import PictureSettings


@dataclass(frozen=True, slots=True)
class ObservingSettings(PictureSettings):
    """The settings of what operators observe, after those of pictures: classes with slots form one line."""

    metrics_port: int = setting(0, "port of the metrics for Prometheus; 0 measures nothing", least=0, most=65535)
    metrics_host: str = setting("127.0.0.1", "address on which the metrics are served; keep strangers away from it")
    slow_operation_ms: int = setting(
        0,
        "queries and mutations that take at least so long are logged with their plan and round trips, ms; 0 logs none",
        least=0,
        most=3_600_000,
    )
    traces_url: str = setting(
        "",
        "where traces are sent as OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; unset: nothing is traced",
    )
    traces_percent: float = setting(
        1.0, "share of operations that are traced, unless a trusted proxy has decided, %", least=0, most=100
    )
    traces_headers: tuple[str, ...] = setting(
        (), "headers for the collector, such as `authorization=Basic …`, comma-separated", is_secret=True
    )
    traces_service: str = setting("perch", "the name under which the collector lists this site's traces")
