"""What tests of a noun ask for again and again: its fields, its lists, its refusals."""
