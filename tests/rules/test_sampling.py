"""The posts of a sample."""

import pytest

from resolvers.rules.sampling import in_sample
from store.ids import PARTITIONS

MANY = 20_000
IDS = {
    "one after the other": range(7 << 12, (7 << 12) + MANY),
    "one a millisecond in one partition": range(1 << 40, (1 << 40) + (MANY << 12), 1 << 12),
    "as sparse as the hundredths": range(0, MANY * 100, 100),
    "one a partition and second": range(5 << 45, (5 << 45) + MANY * ((1_000 << 12) + 16), (1_000 << 12) + 16),
}


@pytest.mark.parametrize("ids", IDS.values(), ids=IDS)
@pytest.mark.parametrize("percent", [1, 2, 10, 50, 99, 100])
def test_a_sample_has_its_share(ids: range, percent: int) -> None:
    """A sample has its share of posts with any spacing of ids, give or take five standard deviations."""
    share = percent / 100
    taken = sum(in_sample(post, percent) for post in ids)
    assert abs(taken - MANY * share) <= 5 * (MANY * share * (1 - share)) ** 0.5


def test_every_partition_is_sampled_alike() -> None:
    """No partition's members are in a sample much more or less often than its share."""
    for p in range(PARTITIONS):
        taken = sum(in_sample((moment << 12) + (p << 4), 50) for moment in range(1_000))
        assert 400 < taken < 600


def test_a_larger_sample_has_all_of_a_smaller_one() -> None:
    """A post enters at one percentage and stays at every greater one; none is in at nothing, all at a hundred."""
    for post in range(0, 1 << 53, 1 << 44):
        inside = [in_sample(post, percent) for percent in range(101)]
        assert inside == sorted(inside)
        assert (inside[0], inside[100]) == (False, True)


def test_a_sample_is_the_same_for_ever() -> None:
    """A post's id alone decides: processes, restarts and releases agree."""
    assert [post for post in range(1, 400) if in_sample(post, 1)] == [43, 372]
