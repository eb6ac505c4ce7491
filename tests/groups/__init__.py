"""Groups: who is in them, what is posted there, and who sees it."""
