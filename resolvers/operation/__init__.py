"""What one operation owns: its context, its input, and the limits on what it writes. Not what a mutation does."""
