-- Appends a message to a conversation.
-- KEYS: conversation, taken, idempotency?
-- ARGV: prefixes, id (of the conversation), sender, willing, text, input_digest, ttl (s, of the idempotency key), refused,
--       packed.
-- `willing` is the other member of a conversation of two, if they allow the sender to write to them.
-- `refused` is '1' when the sender may send no new message now, else ''.
-- Returns {'new', message, body of the job}. A retry gets {'again', message}, other input {'conflict'}.
-- {'gone'} when the sender is not in it, {'alone'} when nobody else is.
-- `packed` are reserved pictures, '' without any, and `taken` says what became of the reservation.
-- {'unwilling', other} when the other does not allow it. {'refused'} where `refused` says so.
-- {'late'} when the pictures were given back meanwhile.
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
  return {'gone'}
elseif #others == 0 then
  return {'alone'}
elseif #participants == 2 and others[1] ~= willing then
  return {'unwilling', others[1]}
elseif refused ~= '' then
  return {'refused'}
end
if packed == '' then
  return append_message(conversation_keys(prefixes), id, sender, text, idempotency, input_digest, ttl)
elseif redis.call('EXISTS', taken) == 1 then
  return {'late'}
end
local sent = append_message(conversation_keys(prefixes), id, sender, text, idempotency, input_digest, ttl, packed)
redis.call('SET', taken, sent[2])
return sent
