"""Messages that servers pass on: channels, and the subscriptions to them."""
