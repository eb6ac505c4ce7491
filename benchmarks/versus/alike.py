"""A site where everybody is alike and reads everybody, so that nearly no answer is found in a cache."""

import random

from benchmarks.versus import graph
from resolvers.upkeep.importing.network import Network

MEMBERS, FOLLOWING, POSTS = 300, 25, 6_000  # each has as many followers as they follow
REQUESTS = 40_000  # sent in turn: more than Perch answers in one


def network(seed: int) -> Network:
    """Return the network of the site."""
    dice = random.Random(seed)  # noqa: S311  chance that can be repeated, no secret
    logins = [f"member{i}" for i in range(MEMBERS)]
    steps = dice.sample(range(1, MEMBERS), FOLLOWING)
    following = {logins[i]: [logins[(i + step) % MEMBERS] for step in steps] for i in range(MEMBERS)}
    return Network(f"alike {seed}", logins, following, graph.texts(dice), POSTS, seed)
