-- Finds or creates the conversation of a set of members, and appends a message to it. Members who had left return.
-- KEYS: conversation_of, idempotency?
-- ARGV: prefixes, members, digest (of these members), sender, willing, text, input_digest, ttl (s), refused.
-- `members` and `willing` are separated by spaces. `willing` are those who allow the sender to write to them.
-- `ttl` is that of the idempotency key. `refused` is why the sender may send no new message now, else ''.
-- Returns {message, body of the job}, {message} for a retry, CONFLICT, `refused`, or UNWILLING with a member who would be
-- added without allowing it.
local first = first_result(idempotency, input_digest)
if first then
  return first
end
local keys, allows = conversation_keys(prefixes), members_of(willing)
local conversation, participants = redis.call('GET', conversation_of), {}
if conversation then
  local written = redis.call('HGET', keys.conversation .. conversation, ConversationField.PARTICIPANTS)
  participants = read_participants(written)
else
  for member in string.gmatch(members, '%d+') do
    participants[#participants + 1] = {member = member, since = '0'}
  end
end
for _, one in ipairs(participants) do
  if one.member ~= sender and (one.since == '0' or #participants == 2) and not allows[one.member] then
    return Refusal.UNWILLING .. ' ' .. one.member
  end
end
if refused ~= '' then
  return refused
end
local since = str(mint(keys.minted, keys.partition))
for _, one in ipairs(participants) do
  if one.since == '0' then
    one.since = since
  end
end
if not conversation then
  conversation = since
  redis.call('SET', conversation_of, conversation)
end
redis.call('HSET', keys.conversation .. conversation, ConversationField.PARTICIPANTS, write_participants(participants),
  ConversationField.DIGEST, digest)
return append_message(keys, conversation, sender, text, idempotency, input_digest, ttl)
