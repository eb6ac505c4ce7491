"""The events that subscriptions deliver. The transports are in `serving/streaming`."""
