"""Links to exports, archives, and damages to what the store has of them."""
