"""Homes as they are stored, and the deliveries that change them."""
