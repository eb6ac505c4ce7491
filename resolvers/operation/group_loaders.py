"""Data loaders of the viewer's roles in groups, and of how many members these have."""

from __future__ import annotations

from resolvers.loading.batcher import Batcher
from resolvers.loading.dataloader import DataLoader, sound
from store.groups.reads import member_count_command, read_role, role_command
from store.groups.records import GroupRole


def roles(batcher: Batcher, viewer: int) -> DataLoader[GroupRole]:
    """Return the data loader of the viewer's roles in groups that they are in."""
    return DataLoader(
        batcher,
        lambda ids: [role_command(group, viewer) for group in ids],
        lambda _, replies: list(map(read_role, sound(replies))),
    )


def sizes(batcher: Batcher) -> DataLoader[int]:
    """Return the data loader of the numbers of members of groups."""
    return DataLoader(batcher, lambda ids: list(map(member_count_command, ids)), lambda _, replies: sound(replies))
