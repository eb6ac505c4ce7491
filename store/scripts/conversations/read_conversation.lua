-- Reads the state of a conversation in one step, so that participants' entries can be brought up to it.
-- KEYS: conversation, messages, deleted_messages.
-- ARGV: sent_prefix, window (messages, and as many deletions, that are read).
-- Returns false when the conversation has ended. Else its version and participants, the newest message of each
-- participant as `member:message`, the base, the newest messages, and the newest deletions as `message:sender`
-- WITHSCORES. Changes at or below the base may be missing from the last two.
local text, version, forgotten = unpack(redis.call('HMGET', conversation, ConversationField.PARTICIPANTS,
  ConversationField.VERSION, ConversationField.FORGOTTEN))
if not text then
  return false
end
local newest = {}
for i, one in ipairs(read_participants(text)) do
  newest[i] = one.member .. ':' .. (redis.call('ZRANGE', sent_prefix .. one.member, -1, -1)[1] or '0')
end
local base = tonumber(forgotten or '0')
local said = redis.call('ZRANGE', messages, -window - 1, -1)
if #said > tonumber(window) then
  base = math.max(base, tonumber(table.remove(said, 1)))
end
local deleted = redis.call('ZRANGE', deleted_messages, -window - 1, -1, 'WITHSCORES')
if #deleted > 2 * window then
  base = math.max(base, tonumber(deleted[2]))
  table.remove(deleted, 1)
  table.remove(deleted, 1)
end
return {version, text, table.concat(newest, ' '), str(base), said, deleted}
