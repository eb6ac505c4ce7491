-- Brings a participant's entry of a conversation up to a version, unless a newer one has been applied.
-- The version that was applied last is applied again, because blocks and mutes may have changed since.
-- KEYS: user, conversations, conversation_state, unread_conversations, left_conversation, blocked, blocked_by, muted,
--       message_log, minted.
-- ARGV: partition, member, conversation, version, since ('0' once the member has left), last, other, senders,
--       base, changes, log_kept, channel, ttl (s, of what remembers a departure).
-- `last` is the newest message, and `other` the newest one by another participant, '0' without one.
-- `senders` has each participant with their newest message, as `member:message`. Only blocks and mutes make it necessary.
-- Messages of a muted participant arrive, and are never unread: the entry's `other` leaves them out.
-- `changes` are the newest ones, newest first: `message`, or `deletion:message:sender`. Those at or below `base` may be
-- missing.
-- Returns false when the member's account is gone but still in the conversation.
local written = redis.call('HGET', conversation_state, conversation)
local known, _, read = string.match(written or '0:0:0', '^(%d+):(%d+):(%d+)')
known, read = tonumber(known), tonumber(read)
if tonumber(version) < math.max(known, tonumber(redis.call('GET', left_conversation) or '0')) then
  return 1
end
if since == '0' or redis.call('EXISTS', user) == 0 then
  redis.call('ZREM', conversations, conversation)
  redis.call('HDEL', conversation_state, conversation)
  redis.call('SREM', unread_conversations, conversation)
  redis.call('SET', left_conversation, version, 'EX', ttl)
  return since == '0'
end
local floor, is_apart, size = tonumber(since), false, select(2, string.gsub(senders, ':', ''))
if redis.call('EXISTS', blocked, blocked_by, muted) > 0 then
  last, other = 0, 0
  for sender, message in string.gmatch(senders, '(%d+):(%d+)') do
    local is_hidden = sender ~= member and redis.call('ZSCORE', blocked, sender)
    if size == 2 and sender ~= member then
      is_apart = is_hidden or redis.call('ZSCORE', blocked_by, sender)
    end
    if not is_hidden then
      last = math.max(last, tonumber(message))
      local counts = sender ~= member and not redis.call('ZSCORE', muted, sender)
      other = counts and math.max(other, tonumber(message)) or other
    end
  end
end
last, other = tonumber(last), tonumber(other)
last, other = last > floor and last or floor, other > floor and other or 0
redis.call('HSET', conversation_state, conversation, table.concat({version, str(other), str(read), size}, ':'))
if is_apart then
  redis.call('ZREM', conversations, conversation)
  redis.call('SREM', unread_conversations, conversation)
  return 1
end
redis.call('ZADD', conversations, str(last), conversation)
redis.call(other > read and 'SADD' or 'SREM', unread_conversations, conversation)
known = math.max(known, floor)
if redis.call('EXISTS', message_log) == 0 then
  return 1
elseif known < tonumber(base) then
  lose_log(message_log, minted, partition, channel)
  return 1
end
local new = {}
for text in string.gmatch(changes, '%S+') do
  local change, message, sender = string.match(text, '^(%d+):?(%d*):?(%d*)$')
  if tonumber(change) <= known then
    break
  elseif message == '' then
    table.insert(new, 1, 'received:' .. change)
  elseif tonumber(message) <= known and tonumber(message) > floor then
    -- A message that was deleted before it was applied has not been received.
    table.insert(new, 1, table.concat({'deleted', message, conversation, sender}, ':'))
  end
end
log_changes(message_log, minted, partition, log_kept, channel, new)
return 1
