"""Metrics for Prometheus: what is measured, and the page that shows it. Counting itself is the store's."""
