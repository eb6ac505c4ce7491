"""The embedded server, the connections and the cache."""
