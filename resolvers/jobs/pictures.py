"""The jobs of pictures: what was reserved for a message, and the stored objects of pictures that are gone."""

from collections.abc import AsyncIterator, Sequence

from resolvers.jobs.step import Budget, StepOutcome
from store.client.database import Database
from store.moderation import reports
from store.pictures import images
from store.records.job_bodies import ObjectRemoval, PictureReservation
from store.records.jobs import Job

UNATTACHED_BATCH = 100  # pictures of a deleted account looked at per step


async def remove_objects(db: Database, job: Job[ObjectRemoval], _: Budget) -> StepOutcome:
    """Remove the stored objects of pictures that are gone."""
    await remove(db, job.body.objects)
    return StepOutcome.DONE


async def remove(db: Database, objects: Sequence[str]) -> None:
    """Remove stored objects, those that are gone already excepted."""
    if objects:
        await db.media.delete(objects)


async def end_reservation(db: Database, job: Job[PictureReservation], _: Budget) -> StepOutcome:
    """Attach reserved pictures to the message that took them, or give them back.

    From then on, no message can take them. So a message that is under way is refused, and pictures never belong to two.
    """
    message = await images.settle(db, job.body.conversation, job.id)
    await remove(db, await images.end_reservation(db, job.body.owner, job.id, job.body.images, message))
    if message:
        await images.forget_taken(db, job.body.conversation, job.id)
    return StepOutcome.DONE


async def end_messaged(db: Database, message: int, packed: str) -> None:
    """Remove the pictures of a deleted message, unless moderators need them until they have decided on a report."""
    if packed and not await reports.keep_evidence(db, message, packed):
        await drop_messaged(db, packed)


async def drop_messaged(db: Database, packed: str) -> None:
    """Remove the pictures of a message that is gone, which lie in its sender's partition."""
    if packed:
        await remove(db, await images.drop_messaged(db, packed))


async def drop_unattached(db: Database, member: int) -> AsyncIterator[int]:
    """Remove the pictures of a deleted account that belong to nothing; yields how many each batch had.

    Pictures of messages stay with them.
    """
    last = 0
    while True:
        last, objects = await images.drop_unattached(db, member, last, UNATTACHED_BATCH)
        await remove(db, objects)
        if not last:
            return
        yield UNATTACHED_BATCH
