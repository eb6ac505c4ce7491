"""Perch and its store as processes, and what happens to them."""
