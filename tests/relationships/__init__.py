"""Follows, follow requests, blocks and mutes."""
