"""Tests of how Perch is deployed: service units, proxies, and restarts that nobody notices."""
