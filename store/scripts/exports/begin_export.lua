-- Begins to send an export, or renews the lease of one that is being sent.
-- KEYS: sessions, exports, stream.
-- ARGV: session, digest (of the link), sender (a random id), now (ms), lease (ms).
-- The link of an export that is being sent may expire meanwhile. Its session may not end.
-- Returns 1, GONE without such a link, or BUSY while another export is sent to the member.
if redis.call('HEXISTS', sessions, session) == 0 then
  return Refusal.GONE
end
local other = redis.call('GET', stream)
if other ~= sender then
  local known, ends = string.match(redis.call('HGET', exports, session) or '', '^(%x+) (%d+)$')
  if known ~= digest or tonumber(ends) <= tonumber(now) then
    return Refusal.GONE
  end
  if other then
    return Refusal.BUSY
  end
end
redis.call('SET', stream, sender, 'PX', lease)
return 1
