"""The object store, which has the bytes of pictures."""
