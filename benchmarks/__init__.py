"""Benchmarks of Perch, alone and beside other implementations."""
