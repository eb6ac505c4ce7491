"""Checks of verify that compute what should be stored. Those that only compare are in `store/upkeep`."""
