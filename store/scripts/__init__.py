"""Atomic steps: one Lua file each, one typed wrapper each in the file of its noun; and arguments that many share."""
