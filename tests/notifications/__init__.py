"""Notifications, stored and live."""
