-- Sets a new password, ends every other session and gives this session a new refresh token, all or nothing.
-- KEYS credentials, sessions
-- ARGV hash of the checked password, new hash, session, digest of its refresh token, expiry (ms)
-- Returns the sessions ended; false when the password has changed since the check, or the session has ended.
local text = redis.call('HGET', KEYS[2], ARGV[3])
if not text or redis.call('HGET', KEYS[1], 'password') ~= ARGV[1] then
  return false
end
redis.call('HSET', KEYS[1], 'password', ARGV[2])
local ended = {}
for _, session in ipairs(redis.call('HKEYS', KEYS[2])) do
  if session ~= ARGV[3] then
    redis.call('HDEL', KEYS[2], session)
    ended[#ended + 1] = session
  end
end
local session = cjson.decode(text)
session.token, session.expires, session.previous, session.rotated = ARGV[4], tonumber(ARGV[5]), '', 0
redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(session))
return ended
