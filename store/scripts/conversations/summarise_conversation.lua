-- Reads what a participant sees of a conversation in one step.
-- KEYS: messages.
-- ARGV: message_prefix, sent_prefix, viewer, since (id above which the viewer sees messages), read (mark), hidden,
--       muted, shown.
-- `hidden` and `shown` are the participants whose messages the viewer does not see, and all others. `muted` are those
-- of the latter whose messages are never unread.
-- Returns the number of unread messages, the newest message at or below the mark ('0' without one), and the newest one
-- of all, with its sender, text and pictures.
local function newest(highest)
  local function last_of(list)
    return redis.call('ZRANGE', list, highest, '(' .. since, 'BYSCORE', 'REV', 'LIMIT', 0, 1)[1] or '0'
  end
  if hidden == '' then
    return last_of(messages)
  end
  local found = '0'
  for member in string.gmatch(shown, '%d+') do
    local last = last_of(sent_prefix .. member)
    found = tonumber(last) > tonumber(found) and last or found
  end
  return found
end
local above = '(' .. (tonumber(read) > tonumber(since) and read or since)
local unread = redis.call('ZCOUNT', messages, above, '+inf')
for member in string.gmatch(table.concat({viewer, hidden, muted}, ' '), '%d+') do
  unread = unread - redis.call('ZCOUNT', sent_prefix .. member, above, '+inf')
end
local last = newest('+inf')
local sender, text, packed = unpack(
  redis.call('HMGET', message_prefix .. last, MessageField.SENDER, MessageField.TEXT, MessageField.IMAGES))
return {unread, newest(read), last, sender, text, packed}
