"""Perch beside other ways to build it, on the same data, in the same store, taking turns.

Run it from a checkout with Perch and its extra `bench` installed, and Node 20 or newer:

    pip install -e '.[bench]'
    python -m benchmarks.versus

By default that takes about twenty minutes; `--seconds 2 --rounds 1 home` gives a first idea in one. `all` takes some
three hours, and with `--markdown benchmarks/RESULTS.md --charts docs/charts` leaves the tables and charts there.

It starts a store of its own in a folder that is removed at the end, loads one network into it, and lets the contenders
answer the same requests by many readers, each with a token of their own. They are processes with one processor for
whichever is measured, the others paused; store and load generator have another. Tables give medians with the smallest
and the largest of all turns, ratios are those of medians. Where other work on the machine takes part of the server's
processor, the output says so: then compare processor times.

The contenders, each configured as its makers advise for production, without logs:

- Perch: `server.py serve`, its limit of requests off, no log line per request.
- Perch, nothing kept: with `RECORDS_KEPT=0` it reads every record anew for each request, as all rivals do. These could
  keep records, too, for some time; to keep them as long as they are right takes what `store/client/cache.py` does.
- plain Strawberry: types, resolvers and data loaders as in its documentation, with its parser and validator caches.
- by hand: an aiohttp handler for each page, with pipelines of redis-py and orjson; no GraphQL.
- Node: Fastify and Mercurius, queries compiled and kept, loaders batched, ioredis, tokens that were verified kept.
- Redis in Action: for posts, the algorithm of its chapter 8, on homes of its own, filled alike: sorted sets, which the
  store keeps as listpacks, as its settings say, or as skip lists, which take it less time and four times the memory.
  All homes are full, as on a busy site: with 100,000 followers that takes some 3 GB.

All read and write Perch's own keys and answer the same bytes, which is checked for every reader before anything is
measured. All verify the signed token, and that its session still stands with the first look-up; read the entries, the
posts, their authors; and leave out what is gone or hidden. That is all the rivals do. Perch also decides what each
viewer may see (blocks, mutes, private and suspended members), merges big authors, goes on below the stored home, keeps
idle members' homes away, places promotions, and limits what a query may cost. A post by a rival is delivered to the
same homes; it is neither counted among tags nor told to subscribers, no mention is noticed, and a crash leaves it half
delivered. None of that is charged to the rivals: the comparison is in their favour.

No author counts as a big one here, since the rivals could not read their posts, and the network has no plain reposts.

`processes` is the exception: nothing is pinned, and servers, store and load generator share all processors. `limit`
asks what the store could do alone; `steps` and `budget` measure Perch with parts taken out, or answering from memory
(`benchmarks.rivals.altered`).

The load generator is `load.mjs`. Common ones were tried first: those that send at a fixed rate send the requests of
each second at its beginning, which measures a queue of their own making. Its processor time is part of the output.
"""
