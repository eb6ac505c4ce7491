"""Requests and responses over HTTP: bytes in, bytes out. What an operation answers is decided in `schema`."""
