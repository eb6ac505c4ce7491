"""Reads of one operation: the batcher, its data loaders, and the viewer's home."""
