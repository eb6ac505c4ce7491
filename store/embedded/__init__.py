"""The embedded Valkey server, which is installed as a wheel. The first process starts it; it stops after the last."""
