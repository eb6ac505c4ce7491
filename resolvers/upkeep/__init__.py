"""What an operator runs: verify, repair, trim, import, demo, tail. Not what serves requests."""
