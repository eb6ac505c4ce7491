-- Deletes a message, for everybody.
-- KEYS: message.
-- ARGV: prefixes, id (of the message), kept (deletions remembered for live subscribers).
-- Returns the job's id and body; a refusal when the message or its conversation is gone.
local keys = conversation_keys(prefixes)
local conversation, sender, packed = unpack(
  redis.call('HMGET', message, MessageField.CONVERSATION, MessageField.SENDER, MessageField.IMAGES))
if not conversation or redis.call('EXISTS', keys.conversation .. conversation) == 0 then
  return Refusal.GONE
end
redis.call('DEL', message)
redis.call('ZREM', keys.messages .. conversation, id)
redis.call('ZREM', keys.sent .. conversation .. ':' .. sender, id)
local deletion, deleted = str(mint(keys.minted, keys.partition)), keys.deleted .. conversation
redis.call('ZADD', deleted, deletion, id .. ':' .. sender)
local surplus = redis.call('ZCARD', deleted) - kept
if surplus > 0 then
  local last = redis.call('ZRANGE', deleted, surplus - 1, surplus - 1, 'WITHSCORES')[2]
  redis.call('HSET', keys.conversation .. conversation, ConversationField.FORGOTTEN, last)
  redis.call('ZREMRANGEBYRANK', deleted, 0, surplus - 1)
end
return {deletion, commit_change(keys, deletion, conversation, id, packed or nil)}
