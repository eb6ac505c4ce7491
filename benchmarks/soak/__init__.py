"""Runs Perch under mixed load for an hour, while the store and the processes end again and again."""
