"""How commands reach Redis: database, connections, cache, Pub/Sub, script loading. It ignores what commands mean."""
