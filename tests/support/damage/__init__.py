"""Damages done to a store by hand, which verify must find."""
