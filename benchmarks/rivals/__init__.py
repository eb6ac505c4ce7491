"""Other ways to build the same service over the same keys, which the benchmarks compare Perch with."""
