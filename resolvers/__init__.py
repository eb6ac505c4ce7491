"""What should happen: decisions."""
