"""Limits against floods: how much one member writes. Not the rate of requests, and not the limits of one entity."""
