"""What operators load into a store and copy out of one: imports, accounts read back, whole stores moved."""
