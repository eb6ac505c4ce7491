"""Accounts: sign-up, log-in, sessions, profiles, names, deletion, suspension."""
