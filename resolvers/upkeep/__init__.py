"""Operators' commands: verify, repair, trim, import, demo, tail. No request runs this code."""
