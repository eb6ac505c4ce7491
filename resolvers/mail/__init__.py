"""Mails: their links, their texts, and the sender. Which change sends which mail is up to the resolver of its noun."""
