"""Visibility in every query, mutation and stream, stored and live."""
