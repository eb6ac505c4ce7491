"""What one operation owns: context, data loaders, batching, session check, caches. Not what a mutation does."""
