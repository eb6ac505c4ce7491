"""The embedded cluster: Valkey servers on this machine that are joined into a cluster, in `nodes` of a data directory.

Each node is an embedded store of its own, with its own supervisor and locks: `attach` says how these work. Nodes listen
on TCP on 127.0.0.1, where every user of the machine can reach them. So they ask for a password. It is in the file
`nodes/passwords`, which only the owner can read. The cluster bus has no password: it trusts the machine's users.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import redis.asyncio as redis

from store.embedded.append_only_file import FOLDER
from store.embedded.attach import Attachment, attach, prepared
from store.embedded.joining import JoinError, join
from store.embedded.launch import (
    HOST,
    USUAL,
    EmbeddedStoreError,
    NodeOptions,
    StartOptions,
    Waits,
    nobody_waits,
    opened,
)
from store.settings.checking import MOST_WITHOUT_REPLICAS

if sys.platform != "win32":
    import fcntl

    from store.embedded import supervisor

# Time without a reply after which the other nodes consider a node dead, ms. A replica takes over 1 to 2 s later.
# With a shorter time, a slow disk would look like a dead node. Each failover may lose writes that no replica has yet.
NODE_TIMEOUT_MS = 2000

_NODES = "nodes"
_PASSWORDS = "passwords"
_JOIN_LOCK = "join.lock"
_PASSWORD_BYTES = 32
_POLL_SECONDS = 0.02  # time between two tries of the lock


@dataclass
class ClusterAttachment:
    """A hold on each node of a cluster. The nodes run as long as there is any hold."""

    nodes: list[Attachment]
    url: str  # the addresses of all nodes, as REDIS_URL has them

    def release(self) -> None:
        """Give up the hold without waiting; if it was the last one, the nodes stop soon after."""
        for node in self.nodes:
            node.release()

    async def close(self) -> None:
        """Give up the hold and, if it was the last one, wait until all nodes have stopped, about 60 s at most."""
        self.release()  # all at once: a primary waits for its replicas before it stops
        await asyncio.gather(*(node.close() for node in self.nodes))


def size(data_dir: Path, wanted: int) -> int:
    """Return the number of nodes of the store in a data directory, or the wanted number if there is none yet.

    Raises EmbeddedStoreError if the store has another number than wanted. 1 is the default, and fits every store.
    """
    is_single = (data_dir / FOLDER).exists()
    nodes = len(_node_folders(data_dir / _NODES)) or (1 if is_single else wanted)
    if wanted not in {1, nodes}:
        raise EmbeddedStoreError(
            f"{data_dir}: STORE_NODES is {wanted}, but the store here was made with {nodes}; take another DATA_DIR"
        )
    return nodes


def primaries_of(nodes: int) -> int:
    """Return how many of some nodes are primaries; the others are their replicas."""
    return nodes if nodes <= MOST_WITHOUT_REPLICAS else nodes // 2


async def attach_cluster(
    data_dir: Path,
    nodes: int,
    options: StartOptions = USUAL,
    *,
    node_timeout_ms: int = NODE_TIMEOUT_MS,
    waits: Waits = nobody_waits,
) -> ClusterAttachment:
    """Attach to the nodes of a data directory, starting those that do not run, and join them.

    `nodes` is their number if there are none yet. The options take effect only on nodes that this attachment starts.
    Raises EmbeddedStoreError when the directory cannot be used, or a node does not start, answer or join.
    """
    try:
        folder = _prepared(data_dir, nodes)
    except OSError as error:
        raise EmbeddedStoreError(f"{data_dir}: cannot keep nodes here: {error.strerror or error}") from error
    attached: dict[int, Attachment] = {}

    async def add(number: int, path: Path) -> None:
        own = options._replace(node=NodeOptions(number, node_timeout_ms))
        attached[number] = await attach(path, own, passwords=folder / _PASSWORDS, waits=waits)

    try:
        async with asyncio.TaskGroup() as group:
            for number, path in enumerate(_node_folders(folder)):
                group.create_task(add(number, path))
        held = [attached[number] for number in sorted(attached)]
        return ClusterAttachment(held, await _joined(folder, held))
    except BaseException as error:
        for node in attached.values():
            node.release()
        if isinstance(error, BaseExceptionGroup):  # one node is reason enough
            raise error.exceptions[0] from None
        raise


def _node_folders(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*"), key=lambda path: int(path.name))


def _prepared(data_dir: Path, nodes: int) -> Path:
    """Return the folder of the nodes. If there is none yet, it is made complete under another name and then renamed."""
    data_dir = prepared(data_dir)
    folder = data_dir / _NODES
    if not folder.exists():
        draft = data_dir / f"{_NODES}.{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)  # of a process that had the same id and was killed
        draft.mkdir(mode=0o700)
        for number in range(nodes):
            (draft / str(number)).mkdir(mode=0o700)
        password = secrets.token_urlsafe(_PASSWORD_BYTES)
        path = draft / _PASSWORDS
        path.touch(0o600)
        path.write_text(f"requirepass {password}\nmasterauth {password}\n")  # masterauth: a replica's log-in
        try:
            draft.rename(folder)
        except OSError:  # another process has been faster
            shutil.rmtree(draft)
            if not folder.exists():
                raise
    return folder


async def _joined(folder: Path, nodes: Sequence[Attachment]) -> str:
    """Join the nodes unless they are; returns their addresses."""
    password = supervisor.password_in(str(folder / _PASSWORDS))
    with opened(folder / _JOIN_LOCK) as lock:
        # Of processes that start at the same time, one joins the nodes. The others find them joined.
        while not supervisor.try_lock(lock, fcntl.LOCK_EX):  # noqa: ASYNC110  a lock's release sets no event
            await asyncio.sleep(_POLL_SECONDS)
        async with contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(_client(node)) for node in nodes]
            try:
                await join(clients, primaries_of(len(nodes)))
                ports = [(await client.config_get("port"))["port"] for client in clients]
            except JoinError as error:
                raise EmbeddedStoreError(f"{folder}: {error}") from error
    return f"redis://:{password}@{','.join(f'{HOST}:{port}' for port in ports)}"


@contextlib.asynccontextmanager
async def _client(node: Attachment) -> AsyncIterator[redis.Redis]:
    async with redis.Redis.from_url(node.url, decode_responses=True) as client:
        yield client
