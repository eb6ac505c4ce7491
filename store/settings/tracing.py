"""Settings of traces, which are sent to a collector of OpenTelemetry."""

from __future__ import annotations

from dataclasses import dataclass

from store.settings.declaring import setting
from store.settings.observing import ObservingSettings


@dataclass(frozen=True, slots=True)
class TracingSettings(ObservingSettings):
    """The settings of traces, after those of all else that operators observe."""

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
