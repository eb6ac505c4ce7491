"""Conversations: their messages, who takes part, and up to where each participant has read."""
