"""Clients of every transport."""
