"""Limits against floods."""
