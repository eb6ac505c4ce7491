"""Perch beside other ways to build it, on the same data, in the same store, taking turns.

Run it on Linux, from a checkout with Perch and its extra `bench` installed, and Node 20 or newer:

    pip install -e '.[bench]'
    python -m benchmarks.versus

That takes some fifty minutes; `--seconds 2 --rounds 1 home` gives a first idea in two minutes. With `--page
docs/benchmarks.md` each part puts its tables into that page.

It starts a store of its own in a folder that is removed at the end, and loads a network into it. The contenders answer
the same requests by many readers, each with a token of their own. They take turns, and are started anew for each. A
contender has a processor to itself; store and load generator share another. Tables give medians with the smallest and
the largest of all turns, and medians of the ratios of each round. Where other work on the machine takes part of the
server's processor, the output says so: then compare processor times. At the end comes a table of the figures that say
most.

The contenders, each configured as its makers advise for production, without logs:

- Perch: `server.py serve`, its limit of requests off, no log line per request.
- Perch, nothing kept: with `RECORDS_KEPT=0` it reads every record again for each request, as all rivals do. The rivals
  could cache records for some time. Caching them for as long as they are valid takes what `store/client/caching/` does.
- Node: Fastify and Mercurius, with compiled and cached queries, batched loaders, ioredis and cached verified tokens.
- Bun: its own server and Redis client, graphql-jit and cached verified tokens. It needs no loaders. Its resolver of a
  timeline reads everything ahead that the fields below may ask for, in three round trips.
- Redis in Action: for posts, the algorithm of its chapter 8, on homes of its own with the same content. They are sorted
  sets, which the store encodes as listpacks, by its settings, or as skip lists. Skip lists take less time and four
  times the memory. All homes are full, as on a busy site: with 100,000 followers that takes some 3 GB. It runs on the
  processor that Perch has in its turns, since a client beside the store costs the store less.

All read and write Perch's own keys and answer the same bytes, which is checked for every reader before anything is
measured. All verify the signed token, and check its session with the first read. They read the entries, the posts and
their authors, and leave out deleted and hidden posts. The rivals do no more than that.

Perch also decides what each viewer may see (blocks, mutes, private and suspended members), and merges big authors. It
continues below the stored home, removes the homes of idle members, adds promotions, and limits the cost of queries. A
post by a rival is delivered to the same homes. But it is not counted for hashtags, not published to subscribers, and
its mentions are ignored. A crash leaves it half delivered. None of that is charged to the rivals: the comparison is in
their favour.

No author counts as a big one here, since the rivals could not read their posts. Only `feed` has plain reposts and
quotes: it asks for the home page as front ends show it, with the viewer's flags, reposters and quoted posts. Half of
its homes have reposts, and likes are distributed among posts by Zipf's law. `many_members` asks for the same page on a
site whose readers fit no cache: 200,000 members, who read by Zipf's law. The commands of the store for one request show
what a cache has answered. The parts `alike_…` have a small site whose members are all alike, so that hardly a page is
asked for twice before it changes. `events` has Perch alone: posts that many websockets get live. `--beside` adds
another checkout of Perch to all parts.

The load generator is `generator.py`. Common ones were tried first. Those with a fixed rate send all requests of a
second at its beginning, so they measure a queue that they make themselves. One in Node cost as much processor time. But
its timers count whole milliseconds, and a second thread for the moments competed with it for the processor. The
generator's processor time and its lateness are part of the output.
"""
