"""Atomic steps: one Lua file each, one typed wrapper each."""
