"""Pure functions: no I/O, no await."""
