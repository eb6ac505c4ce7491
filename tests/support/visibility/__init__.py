"""The cells of the visibility table, and the paths through the schema."""
