#!lua flags=allow-oom
-- Trades a refresh token for the next one. The next token is derived from the one presented, so a repeated request
-- within the grace gets the same answer as the lost one. Any older token of the session ends it: it has been stolen.
-- A token that was never issued for the session changes nothing.
-- The record it overwrites is as long, so members stay signed in also when memory is used up.
-- KEYS sessions
-- ARGV session, digest presented, digest of its successor, now (ms), grace (ms), new expiry (ms),
-- '1' when the token presented was issued for the session, else ''
-- Returns 'ok', or 'refused'; a refused token of a living session has ended it when the answer is 'ended'.
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
