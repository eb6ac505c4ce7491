"""Uploads, and pictures of posts, messages and profiles."""
