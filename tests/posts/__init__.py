"""Posts with their replies, reposts, likes and comments; lists of them and their pages."""
