"""Perch beside other ways to build it, on the same data, in the same store, one after the other.

Run it from a checkout with Perch and its extra `bench` installed, and Node 20 or newer:

    pip install -e '.[bench]'
    python -m benchmarks.versus
"""
