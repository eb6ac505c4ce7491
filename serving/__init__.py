"""Serves the API: in one process, or in several on one port."""
