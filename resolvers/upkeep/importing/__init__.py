"""Imports members, posts and follows from files, and an account from its export."""
