"""Invariants of every key in the store: each kind of key has its checks, and most findings have a repair."""
