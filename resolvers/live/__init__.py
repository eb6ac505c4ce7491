"""What subscriptions deliver. Not over which transport: see `serving/streaming`."""
