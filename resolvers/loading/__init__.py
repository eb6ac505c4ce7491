"""Reads of one operation: the batcher and its data loaders."""
