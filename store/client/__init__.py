"""How commands reach Redis: database, connections, cache, Pub/Sub, script loading. Not what the commands mean."""
