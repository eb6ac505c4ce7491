#!lua flags=allow-oom
-- Exchanges a refresh token for its successor, which is derived from it. So a retry within the grace period gets the
-- same answer as the lost request. Any older token of the session is stolen, and ends the session.
-- A token that was never issued for the session changes nothing.
-- The new record is about as long as the old one, so sessions can be renewed even when memory is used up.
-- KEYS: sessions.
-- ARGV: session, presented (digest), successor (digest), now (ms), grace (ms), expires (ms since 1970), is_issued,
--       address (of the client).
-- `is_issued` is '1' when the presented token was issued for the session, else ''.
-- Returns 1, STALE, or ENDED when the refused token has ended a running session.
local text = redis.call('HGET', sessions, session)
if not text then
  return Refusal.STALE
end
local record = cjson.decode(text)
if record.expires <= tonumber(now) then
  redis.call('HDEL', sessions, session)
  return Refusal.STALE
end
if record.token == presented then
  record.previous, record.rotated = presented, tonumber(now)
  record.token, record.expires = successor, tonumber(expires)
  record.address = address
  redis.call('HSET', sessions, session, cjson.encode(record))
  return 1
end
local is_previous = record.previous == presented
if is_previous and record.token == successor and now - record.rotated <= tonumber(grace) then
  return 1
end
if not is_previous and is_issued == '' then
  return Refusal.STALE
end
redis.call('HDEL', sessions, session)
return Refusal.ENDED
