"""Subscriptions: their events, and how they begin, resume and end."""
