"""Limits against floods: how often clients ask and try to log in, and how much one member writes."""
