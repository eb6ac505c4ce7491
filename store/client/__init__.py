"""How commands reach Redis: database, connections, retries, script loading. It ignores what commands mean."""
