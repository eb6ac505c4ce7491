"""Mails: their links, their texts and the sender, and what the links are for: verified addresses and new passwords."""
