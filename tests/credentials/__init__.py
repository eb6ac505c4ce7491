"""Proofs, beside the password, that a member is who they say."""
