"""What must hold of every key in the store: each kind of key has its checks, and each finding its repair."""
