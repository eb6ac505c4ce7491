-- Raises a participant's read mark of a conversation.
-- KEYS: conversation_state, unread_conversations, message_log, minted.
-- ARGV: partition, conversation, until_message, log_kept, channel.
-- Returns 1; a refusal when the member has no entry of the conversation.
local written = redis.call('HGET', conversation_state, conversation)
if not written then
  return Refusal.GONE
end
local version, other, read, size = string.match(written, '^(%d+):(%d+):(%d+):(%d+)$')
if tonumber(until_message) > tonumber(read) then
  redis.call('HSET', conversation_state, conversation, table.concat({version, other, until_message, size}, ':'))
  if tonumber(other) <= tonumber(until_message) then
    redis.call('SREM', unread_conversations, conversation)
  end
  log_changes(message_log, minted, partition, log_kept, channel, {'read:' .. conversation})
end
return 1
