"""Conversations and their messages: sending and deleting, lists, what the viewer sees, read marks, and leaving."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Unpack

from resolvers.jobs import conversations as steps
from resolvers.jobs import dispatch
from resolvers.jobs.step import Budget
from resolvers.operation import attempts, write_limits
from resolvers.operation.context import Context
from resolvers.operation.inputs import checked_key, checked_text, input_digest, key_conflict
from resolvers.operation.payloads import ConversationPayload, DeleteMessagePayload, MessagePayload
from resolvers.process.errors import Refused, UserErrorCode, no_such, not_allowed, over_limit, refuse
from resolvers.process.tokens import Claims
from resolvers.reading import global_ids, hydrate, messaging, named_members, paging, pictures
from resolvers.reading.paging import NodeEdge, Page, PageArguments
from resolvers.reading.pictures import Picture
from store import idempotency, kinds
from store.conversations import entries
from store.conversations import messages as conversations
from store.conversations.messages import MessageDraft, Sent, Unsent
from store.conversations.records import Conversation, Message
from store.idempotency import Claim
from store.limits.writes import WriteKind
from store.pictures import images
from store.pictures.images import WantedImage
from store.records.jobs import Created, Job
from store.records.lists import Entry
from store.records.members import User
from store.refusals import PartRefused, Refusal, Surplus
from store.timelines import Slice

BEGUN = "conversations"  # the kind under which begun conversations are counted


async def start_conversation(
    context: Context, *, user_ids: Sequence[str], text: str, idempotency_key: str | None = None
) -> MessagePayload:
    """Send a message to the conversation of a set of members, which begins with it if there is none."""
    viewer = await context.member()
    key = checked_key(idempotency_key)
    words = checked_text(text, context.settings.max_message)
    others = named_members.places_of(context.settings, user_ids, viewer)
    members = {viewer, *others}
    named = await named_members.addressees(context, others, conversations.of_members_command(members))
    if named.has_strangers and not named.reply:
        await _limit_begun(context, viewer)
    limit = await write_limits.limit(context, WriteKind.MESSAGES, words, conversations.digest_of(members))
    draft = MessageDraft(viewer, words, named.willing, key, input_digest(words, sorted(others)), limit)

    def unwilling(member: int) -> Refused:
        message = "userIds: this member does not take messages from you"
        return refuse(UserErrorCode.NOT_ALLOWED, message, "userIds", others[member])

    return await _commit(
        context, "startConversation", draft, lambda: conversations.start(context.db, members, draft), unwilling
    )


async def _limit_begun(context: Context, viewer: int) -> None:
    most = context.settings.conversations_per_hour
    if await attempts.hourly_wait(context, BEGUN, str(viewer), most):
        message = f"a member begins at most {most} conversations with strangers in an hour"
        raise over_limit("conversations_per_hour", message)


async def send_message(
    context: Context,
    *,
    conversation_id: str,
    text: str,
    images: Sequence[Picture] | None = None,
    idempotency_key: str | None = None,
) -> MessagePayload:
    """Send a message to a conversation that the viewer is in."""
    viewer = await context.member()
    key = checked_key(idempotency_key)
    pictured = pictures.named(context, images)
    words = checked_text(text, context.settings.max_message, may_be_empty=bool(pictured))
    conversation = await messaging.named(context, conversation_id)
    willing = [one for one in conversation.members if one != viewer] if conversation.is_pair else []
    willing = await named_members.willing(context, willing)
    limit = await write_limits.limit(context, WriteKind.MESSAGES, words, conversations.digest_of(conversation.members))
    digest = input_digest(words, conversation.id, *pictures.digest_of(pictured))
    draft = MessageDraft(viewer, words, willing, key, digest, limit)
    unwilling = not_allowed("the other member does not take messages from you", "conversationId")
    return await _commit(
        context, "sendMessage", draft, lambda: _send(context, conversation.id, draft, pictured), lambda _: unwilling
    )


async def _send(context: Context, conversation: int, draft: MessageDraft, pictured: Sequence[WantedImage]) -> Sent:
    """Send a message with its pictures, which are reserved for it first: they lie in the sender's partition."""
    if not pictured:
        return await conversations.send(context.db, conversation, draft)
    reservation = await images.reserve(context.db, draft.sender, conversation, pictured)
    if isinstance(reservation, PartRefused):
        return await _sent_before(context, conversation, draft, pictures.refusal(*reservation))
    sent = await conversations.send(context.db, conversation, replace(draft, reservation=reservation))
    await dispatch.finish(context.db, reservation.job)
    return sent


async def _sent_before(context: Context, conversation: int, draft: MessageDraft, refusal: Refused) -> Sent:
    """Return what the first attempt of a retried message made; raises the refusal if there was none.

    A message has taken its pictures, so a retry cannot reserve them again.
    """
    first = await conversations.sent_before(context.db, conversation, draft)
    if first is None:
        raise refusal
    return first


async def _commit(
    context: Context,
    mutation: str,
    draft: MessageDraft,
    send: Callable[[], Awaitable[Sent]],
    unwilling: Callable[[int], Refused],
) -> MessagePayload:
    """Commit a message, run its job and return it. Raises Refused, for a member who is unwilling the one given."""
    key = draft.idempotency_key
    claim = Claim(draft.sender, mutation, key, draft.input_digest) if key else None
    if claim and await idempotency.claim(context.db, claim):
        raise key_conflict()
    sent = await send()
    is_new = isinstance(sent, Created) and sent.is_new
    uncounted = None if is_new else write_limits.uncount(context, draft.limit)
    if isinstance(sent, Created):
        await dispatch.finish(context.db, sent.job, context.batcher)
        return await _payload(context, sent.id)
    if isinstance(sent, Surplus):
        await _take_back(context, sent.made)
    if uncounted:
        await uncounted
    if claim and sent is not Refusal.CONFLICT:
        await idempotency.release(context.db, claim)
    raise _refusal(draft, sent, unwilling)


def _refusal(draft: MessageDraft, sent: Surplus[Created] | Unsent, unwilling: Callable[[int], Refused]) -> Exception:
    match sent:
        case Refusal.CONFLICT:
            return key_conflict()
        case Surplus(exceeded=exceeded) | (Refusal.HOUR | Refusal.TEXT as exceeded):
            return write_limits.refusal(draft.limit, exceeded)
        case PartRefused():
            return unwilling(int(sent.part))
        case Refusal.GONE:
            return no_such("conversation", "conversationId")
        case Refusal.ALONE:
            return not_allowed("nobody else is in this conversation", "conversationId")
        case Refusal.LATE:
            return refuse(UserErrorCode.CONFLICT, "images: sending them took too long: try again", "images")


async def _take_back(context: Context, sent: Created) -> None:
    """Delete a message that was sent at the same moment as others, and is one too many."""
    for job in (sent.job, await conversations.delete(context.db, sent.id)):
        await dispatch.finish(context.db, job if isinstance(job, Job) else None, context.batcher)


async def _payload(context: Context, message: int) -> MessagePayload:
    context.forget()
    (sent,) = await messaging.messages(context, [message])
    if sent is None:
        raise refuse(UserErrorCode.NOT_FOUND, "the message has been deleted since")
    return MessagePayload(message=sent, conversation=await messaging.conversation(context, sent.conversation_id))


async def delete_message(context: Context, *, message_id: str) -> DeleteMessagePayload:
    """Delete a message of the viewer's own, for everybody."""
    viewer = await context.member()
    number = global_ids.expect(message_id, ("message",), "messageId")
    (named,) = await messaging.messages(context, [number])
    if named is None:
        raise no_such("message", "messageId")
    if named.sender_id != viewer:
        raise not_allowed("only its sender can delete a message", "messageId")
    job = await conversations.delete(context.db, number)
    if job is Refusal.GONE:
        raise no_such("message", "messageId")
    await dispatch.finish(context.db, job, context.batcher)
    context.forget()
    conversation = await messaging.conversation(context, named.conversation_id)
    return DeleteMessagePayload(deleted_message_id=message_id, conversation=conversation)


async def messages(
    context: Context, conversation: Conversation, **arguments: Unpack[PageArguments]
) -> Page[NodeEdge[Message]]:
    """Return the messages of a conversation since the viewer takes part, newest first."""
    asked = paging.window(context.settings, "messages", **arguments)
    if messaging.is_outside(conversation):
        return paging.empty(context.settings, "messages")
    key, since = kinds.MESSAGES.key(conversation.id), conversation.since(context.viewer or 0)
    read = paging.fetch_from(context, key)

    async def fetch(part: Slice) -> Sequence[Entry]:
        return await read(
            Slice(max(part.above or 0, since), part.below, newest_first=part.newest_first, count=part.count)
        )

    present = paging.presenting(context, asked, messaging.messages)
    return await paging.page(asked, fetch, present, goes_on=paging.beyond(context, key, asked))


async def senders(context: Context, found: Sequence[Message]) -> list[User | None]:
    """Return the sender of each message, None where the account is gone or the viewer may not see them."""
    return await hydrate.users(context, [message.sender_id for message in found])


async def conversations_of(context: Context, found: Sequence[Message]) -> list[Conversation | None]:
    """Return the conversation of each message. No round trip: it decided whether the viewer sees the message.

    Of a message that a moderator reads in a report, they see the conversation only as far as they are in it.
    """
    seen = await context.load.conversation.load_many([message.conversation_id for message in found])
    viewer = context.viewer or 0
    return [
        one if one and one.since(viewer) else messaging.outside(message.conversation_id)
        for one, message in zip(seen, found, strict=True)
    ]


async def viewer_conversations(
    context: Context, who: Claims, first: int | None, after: str | None
) -> Page[NodeEdge[Conversation]]:
    """Return the viewer's conversations, newest message first."""
    key = kinds.CONVERSATIONS.key(who.member)
    return await paging.read_list(context, "conversations", key, messaging.conversations, first, after)


async def unread_count(context: Context, who: Claims) -> int:
    """Return the number of conversations in which the viewer has unread messages. A suspended member sees none."""
    (count,) = await context.batcher.run([entries.unread_command(who.member)])
    return 0 if context.is_suspended else int(count)


async def participants(context: Context, found: Sequence[Conversation]) -> list[list[User]]:
    """Return the participants of each conversation who have not left, as far as the viewer sees them."""
    users = iter(await hydrate.users(context, [member for one in found for member in one.present]))
    return [[user for user in islice(users, len(one.present)) if user] for one in found]


async def unread_messages(context: Context, found: Sequence[Conversation]) -> list[int]:
    """Return the number of messages in each conversation that the viewer has not read."""
    return [summary.unread for summary in await messaging.summaries(context, found)]


async def last_messages(context: Context, found: Sequence[Conversation]) -> list[Message | None]:
    """Return the newest message of each conversation that the viewer sees."""
    return [summary.last for summary in await messaging.summaries(context, found)]


async def last_read(context: Context, found: Sequence[Conversation]) -> list[Message | None]:
    """Return the newest message of each conversation that the viewer sees and has marked read."""
    ids = [summary.last_read for summary in await messaging.summaries(context, found)]
    messages = iter(await context.load.message.load_many([message for message in ids if message]))
    return [next(messages) if message else None for message in ids]


async def mark_conversation_read(
    context: Context, *, conversation_id: str, up_to_id: str | None = None
) -> ConversationPayload:
    """Mark all messages of a conversation, or all up to one, as read. Read messages stay read."""
    viewer = await context.member()
    until = None if up_to_id is None else global_ids.expect(up_to_id, ("message",), "upToId")
    conversation = await messaging.named(context, conversation_id)
    if until is None:
        (last,) = await last_messages(context, [conversation])
        until = last.id if last else 0
    else:
        (message,) = await messaging.messages(context, [until])
        if message is None or message.conversation_id != conversation.id:
            raise no_such("message in this conversation", "upToId")
    if await entries.mark_read(context.db, viewer, conversation.id, until):
        # Race: the job of the message that has just begun the conversation has not reached the viewer yet.
        await steps.update(context.db, conversation.id, Budget(0))
        await entries.mark_read(context.db, viewer, conversation.id, until)
    return await _after(context, conversation.id)


async def leave_conversation(context: Context, *, conversation_id: str) -> ConversationPayload:
    """Leave a conversation. When the last participant leaves, it is deleted."""
    viewer = await context.member()
    conversation = await messaging.named(context, conversation_id)
    job = await conversations.leave(context.db, conversation.id, viewer)
    if job is None:
        raise no_such("conversation", "conversationId")
    await dispatch.finish(context.db, job, context.batcher)
    return await _after(context, conversation.id)


async def _after(context: Context, conversation: int) -> ConversationPayload:
    context.forget()
    return ConversationPayload(conversation=await messaging.conversation(context, conversation))
