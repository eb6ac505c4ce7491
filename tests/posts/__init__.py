"""Posts and what hangs on them: replies, reposts, likes, comments, lists and pages of them."""
