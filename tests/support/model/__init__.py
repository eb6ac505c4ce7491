"""A model of the API in plain memory, and the random steps that are compared with it."""
