-- Removes a member from a conversation. When the last one leaves, the conversation ends, and its job removes the rest.
-- KEYS: conversation.
-- ARGV: prefixes, id (of the conversation), member, conversation_of_prefix.
-- Returns the job's id and body, false when the member is not in the conversation.
-- `ended` in the body are the members of a conversation that has ended.
local text, digest = unpack(
  redis.call('HMGET', conversation, ConversationField.PARTICIPANTS, ConversationField.DIGEST))
local participants, left, is_in, members = read_participants(text or ''), false, false, {}
for _, one in ipairs(participants) do
  members[#members + 1] = one.member
  if one.member == member then
    left = one.since ~= '0'
    one.since = '0'
  end
  is_in = is_in or one.since ~= '0'
end
if not left then
  return false
end
local keys = conversation_keys(prefixes)
local change, ended = str(mint(keys.minted, keys.partition)), nil
if is_in then
  redis.call('HSET', conversation, ConversationField.PARTICIPANTS, write_participants(participants),
    ConversationField.VERSION, change)
else
  redis.call('DEL', conversation, conversation_of_prefix .. digest)
  ended = table.concat(members, ' ')
end
local body = commit(keys.jobs, tonumber(change), 'leave', {conversation = id, member = member, ended = ended})
return {change, body}
