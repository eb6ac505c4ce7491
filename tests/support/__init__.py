"""Code that tests share. Nothing here is a test."""
