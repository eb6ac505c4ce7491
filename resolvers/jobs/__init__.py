"""Durable work after a commit: the worker, and its steps by noun. Not what commits the work."""
