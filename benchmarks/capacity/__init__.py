"""Computes the nodes, processes and memory of a site from what one member, post and operation costs on this machine.

Run it from a checkout with Perch and its extra `bench` installed, on Linux:

    pip install -e '.[bench]'
    python -m benchmarks.capacity

It takes four steps:

1. It measures bytes and processor time of each unit: a member, a post, a follow, a home entry, a live subscriber, and
   each operation. Server means the Perch process, and store means the Valkey server.
2. It computes the plan for each number of members. `shape` says how follows and reads are distributed.
3. It compares every limit that more nodes cannot raise, and names the one that binds first.
4. It loads sites of two other sizes, predicts their memory and processor time, and measures both.

Sign-ups, log-ins and pictures are not part of the plan: a log-in takes some 50 ms of any processor, for argon2id.
The cost of invalidations is not either: a change of a popular post makes each process read it once more.
"""
