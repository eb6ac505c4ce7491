"""Durable work after a commit: the worker, and the steps of its jobs by noun. Other rooms commit the jobs."""
