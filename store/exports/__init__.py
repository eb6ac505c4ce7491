"""Exports: the links to them, and the lists that only exports read page by page."""
