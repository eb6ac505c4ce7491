-- Adds a session and remembers the address that opened it. The oldest sessions and addresses make room.
-- KEYS user, sessions, credentials, known addresses
-- ARGV session, record (JSON with created), most sessions, hash of the checked password or '',
-- digest of the address or '', now (ms), how long an address is remembered (s), most addresses
-- Returns the sessions that made room; false when the member is gone or the password has changed since the check.
if redis.call('EXISTS', KEYS[1]) == 0 or ARGV[4] ~= '' and redis.call('HGET', KEYS[3], 'password') ~= ARGV[4] then
  return false
end
local ended = {}
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
while redis.call('HLEN', KEYS[2]) > tonumber(ARGV[3]) do
  local all = redis.call('HGETALL', KEYS[2])
  local oldest, since = nil, math.huge
  for i = 1, #all, 2 do
    local created = cjson.decode(all[i + 1]).created
    if created < since and all[i] ~= ARGV[1] then
      oldest, since = all[i], created
    end
  end
  redis.call('HDEL', KEYS[2], oldest)
  ended[#ended + 1] = oldest
end
if ARGV[5] ~= '' then
  local now, seconds = tonumber(ARGV[6]), tonumber(ARGV[7])
  redis.call('ZADD', KEYS[4], now, ARGV[5])
  redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - seconds * 1000)
  redis.call('ZREMRANGEBYRANK', KEYS[4], 0, -tonumber(ARGV[8]) - 1)
  redis.call('EXPIRE', KEYS[4], seconds)
end
return ended
