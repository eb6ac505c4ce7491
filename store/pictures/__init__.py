"""Uploads and pictures: what is remembered of them, and what they are attached to."""
