"""Traces for OpenTelemetry, and the log of slow operations. Making spans of round trips and jobs is the store's."""
