"""The types of the schema, one file for each noun. Their resolvers are in `resolvers`."""
