"""The types of the schema, one file for each noun. What they decide stands in `resolvers`."""
