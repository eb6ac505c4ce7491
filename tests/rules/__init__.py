"""The pure rules, without a store."""
