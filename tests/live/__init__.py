"""What subscriptions deliver, how they begin, go on and end."""
