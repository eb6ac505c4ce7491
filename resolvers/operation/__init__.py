"""The state of one operation: context, data loaders, batching, session check, caches. Not what a mutation does."""
