"""The layout of the store's keys: its version, its older forms, how far a migration has come, and who writes which."""
