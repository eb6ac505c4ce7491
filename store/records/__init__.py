"""Stored records and their parsers: frozen msgspec structs, made some twenty times as fast as frozen dataclasses."""
