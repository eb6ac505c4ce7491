"""Backups: what a copy of a running store has, and the stores that are made from it."""
