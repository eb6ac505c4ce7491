"""A network with the degrees of real ones: few are followed by very many, most follow some dozens."""

import itertools
import random

from resolvers.upkeep.importing.network import Network

MEDIAN_FOLLOWING, SPREAD = 35, 0.9  # of the log-normal number of members that one follows
POPULARITY = 0.75  # exponent of Zipf's law of popularity; the tail of followers falls with 1 + 1 / 0.75 = 2.3
WORDS = """
bird tree river morning coffee train letter window garden music summer winter city market bread book light
mountain sea story friend table road evening rain cloud island harbour bridge kitchen paper violin orange silver quiet
early never always maybe almost today nobody everything together über façade 東京 привет
"""
TAGS = ["#tea", "#trains", "#redis", "#birds", "#日本"]
TEXTS = 500


def generated(members: int, posts: int, seed: int, following_median: int = MEDIAN_FOLLOWING) -> Network:
    """Return a network of invented members; the median is that of the members that one follows."""
    dice = random.Random(seed)  # noqa: S311  chance that can be repeated, no secret
    logins = [f"member{i}" for i in range(members)]
    popularity = list(itertools.accumulate((i + 10) ** -POPULARITY for i in range(members)))
    following = {}
    for login in logins:
        wanted = min(int(dice.lognormvariate(0, SPREAD) * following_median) + 1, members // 4, 1_000)
        chosen = dice.choices(logins, cum_weights=popularity, k=wanted)
        following[login] = [other for other in dict.fromkeys(chosen) if other != login]
    return Network(
        f"generated {members} {posts} {seed} {following_median}", logins, following, texts(dice), posts, seed
    )


def texts(dice: random.Random) -> list[str]:
    """Return invented texts, of some words each, some with a tag."""
    return [
        " ".join([*dice.choices(WORDS.split(), k=dice.randint(4, 25)), *dice.sample(TAGS, dice.random() < 0.2)])
        for _ in range(TEXTS)
    ]
