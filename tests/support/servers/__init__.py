"""Perch and its store as processes, and their failures."""
