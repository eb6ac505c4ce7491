"""Credentials: what a member proves who they are with, their role, and the second factor."""
