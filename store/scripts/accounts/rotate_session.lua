#!lua flags=allow-oom
-- Exchanges a refresh token for its successor, which is derived from it. So a retry within the grace period gets the
-- same answer as the lost request. Any older token of the session is stolen, and ends the session.
-- A token that was never issued for the session changes nothing.
-- The new record is as long as the old one, so sessions can be renewed even when memory is used up.
-- KEYS sessions
-- ARGV session, digest presented, digest of its successor, now (ms), grace (ms), new expiry (ms),
-- '1' when the token presented was issued for the session, else ''
-- Returns 'ok'; 'refused'; or 'ended' when the refused token has ended a running session.
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then
  return 'refused'
end
local session, now = cjson.decode(text), tonumber(ARGV[4])
if session.expires <= now then
  redis.call('HDEL', KEYS[1], ARGV[1])
  return 'refused'
end
if session.token == ARGV[2] then
  session.previous, session.rotated = session.token, now
  session.token, session.expires = ARGV[3], tonumber(ARGV[6])
  redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(session))
  return 'ok'
end
local is_previous = session.previous == ARGV[2]
if is_previous and session.token == ARGV[3] and now - session.rotated <= tonumber(ARGV[5]) then
  return 'ok'
end
if not is_previous and ARGV[7] == '' then
  return 'refused'
end
redis.call('HDEL', KEYS[1], ARGV[1])
return 'ended'
