"""Data loaders of what the viewer sees of conversations, and of groups."""

from collections.abc import Callable
from typing import Any

from resolvers.loading.batcher import Batcher
from resolvers.loading.dataloader import DataLoader, sound
from resolvers.rules import conversations as rules
from store.conversations.entries import read_mark, read_marks_command
from store.conversations.messages import summary_command
from store.conversations.records import Conversation, Summary
from store.groups.reads import member_count_command, read_role, role_command
from store.groups.records import GroupRole
from store.records.members import Relationship


def read_marks(batcher: Batcher, viewer: int) -> DataLoader[int]:
    """Return the data loader of the viewer's read marks, by conversation."""
    return DataLoader(
        batcher,
        lambda ids: [read_marks_command(viewer, ids)],
        lambda _, replies: [read_mark(entry) for entry in sound(replies)[0]],
    )


def summaries(
    batcher: Batcher,
    viewer: int,
    conversations: DataLoader[Conversation | None],
    marks: DataLoader[int],
    relationships: DataLoader[Relationship],
    is_suspended: Callable[[], bool],
) -> DataLoader[Summary]:
    """Return the data loader of summaries of conversations that the viewer sees.

    The other data loaders have to have loaded the conversations, the viewer's read marks, and their relationships to
    all participants. `is_suspended` says whether the viewer is, once the session is checked.
    """

    def hidden(conversation: Conversation) -> list[int]:
        return rules.hidden_senders(conversation, viewer, relationships.found, is_suspended=is_suspended())

    def muted(conversation: Conversation) -> list[int]:
        return rules.muted_senders(conversation, viewer, relationships.found)

    def ask(ids: list[int]) -> list[Any]:
        return [
            summary_command(conversation, viewer, mark, hidden(conversation), muted(conversation))
            for conversation, mark in zip(conversations.loaded(ids), marks.loaded(ids), strict=True)
            if conversation
        ]

    return DataLoader(
        batcher,
        ask,
        lambda ids, replies: [Summary.read(one, reply) for one, reply in zip(ids, sound(replies), strict=True)],
    )


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
