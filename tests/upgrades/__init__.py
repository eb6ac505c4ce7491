"""Upgrades: stores of every older layout become one of the newest, while Perch serves."""
