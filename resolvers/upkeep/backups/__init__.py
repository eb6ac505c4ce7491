"""Backups: a consistent copy of a running store in one file, and stores that are made from it."""
