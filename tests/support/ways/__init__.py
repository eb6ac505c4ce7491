"""Draws HTTP requests of all kinds, sends them to two servers, and compares all that can be observed."""
