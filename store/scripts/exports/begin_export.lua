-- Begins to send an export, or renews the lease of one that is being sent.
-- KEYS: sessions, exports, stream.
-- ARGV: session, digest (of the link), sender (a random id), now (ms), lease (ms).
-- The link of an export that is being sent may expire meanwhile. Its session may not end.
-- Returns 'ok', 'gone' without such a link, or 'busy' while another export is sent to the member.
if redis.call('HEXISTS', sessions, session) == 0 then
  return 'gone'
end
local other = redis.call('GET', stream)
if other ~= sender then
  local known, ends = string.match(redis.call('HGET', exports, session) or '', '^(%x+) (%d+)$')
  if known ~= digest or tonumber(ends) <= tonumber(now) then
    return 'gone'
  end
  if other then
    return 'busy'
  end
end
redis.call('SET', stream, sender, 'PX', lease)
return 'ok'
