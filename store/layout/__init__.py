"""The layout of the store's keys: its version, how far a migration has come, and which processes write which layout."""
