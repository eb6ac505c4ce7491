"""Schemas and documents made for tests."""
