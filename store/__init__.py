"""The store remembers, in Redis and nothing else. No other code knows Redis."""
