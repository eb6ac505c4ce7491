-- Returns the packed pictures of a message, '' when the message or its conversation is gone.
-- KEYS: message.
-- ARGV: conversation_prefix.
local conversation, packed = unpack(redis.call('HMGET', message, MessageField.CONVERSATION, MessageField.IMAGES))
if not packed or redis.call('EXISTS', conversation_prefix .. conversation) == 0 then
  return ''
end
return packed
