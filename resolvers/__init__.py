"""Resolvers decide what should happen: mutations, queries and subscriptions, by noun."""
