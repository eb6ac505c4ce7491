"""The embedded Valkey server, which comes as a wheel, and the opening of it or of the server of REDIS_URL."""
