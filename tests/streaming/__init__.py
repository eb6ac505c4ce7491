"""Websockets and event streams as transports."""
