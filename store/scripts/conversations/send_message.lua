-- Appends a message to a conversation.
-- KEYS: conversation, taken, idempotency?
-- ARGV: prefixes, id (of the conversation), sender, willing, text, input_digest, ttl (s, of the idempotency key), refused,
--       packed.
-- `willing` is the other member of a conversation of two, if they allow the sender to write to them.
-- `refused` is why the sender may send no new message now, else ''.
-- `packed` are reserved pictures, '' without any, and `taken` says what became of the reservation.
-- Returns {message, body of the job}, {message} for a retry, CONFLICT, `refused`, GONE when the sender is not in it, ALONE
-- when nobody else is, UNWILLING with the other who does not allow it, or LATE when the pictures were given back meanwhile.
local first = first_result(idempotency, input_digest)
if first then
  return first
end
local participants = read_participants(redis.call('HGET', conversation, ConversationField.PARTICIPANTS) or '')
local is_in, others = false, {}
for _, one in ipairs(participants) do
  if one.member == sender then
    is_in = one.since ~= '0'
  elseif one.since ~= '0' then
    others[#others + 1] = one.member
  end
end
if not is_in then
  return Refusal.GONE
elseif #others == 0 then
  return Refusal.ALONE
elseif #participants == 2 and others[1] ~= willing then
  return Refusal.UNWILLING .. ' ' .. others[1]
elseif refused ~= '' then
  return refused
end
if packed == '' then
  return append_message(conversation_keys(prefixes), id, sender, text, idempotency, input_digest, ttl)
elseif redis.call('EXISTS', taken) == 1 then
  return Refusal.LATE
end
local sent = append_message(conversation_keys(prefixes), id, sender, text, idempotency, input_digest, ttl, packed)
redis.call('SET', taken, sent[1])
return sent
