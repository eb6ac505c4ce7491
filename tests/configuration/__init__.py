"""Configuration: where settings are read from, and what is refused."""
