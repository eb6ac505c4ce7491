"""Requests and responses over HTTP: bytes in, bytes out. `schema` executes the operations."""
