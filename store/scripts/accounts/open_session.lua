-- Adds a session and remembers the address that opened it. The oldest sessions and addresses make room.
-- KEYS: user, sessions, credentials, known_addresses.
-- ARGV: session, record (JSON), max_sessions, checked_hash (or ''), address (digest, or ''), now (ms), address_ttl (s),
--       max_addresses.
-- `record` contains `created`. `checked_hash` is the stored hash with which the password was checked.
-- Returns the sessions that made room; false when the member is gone or the password has changed since the check.
if redis.call('EXISTS', user) == 0 then
  return false
end
if checked_hash ~= '' and redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return false
end
local ended = {}
redis.call('HSET', sessions, session, record)
while redis.call('HLEN', sessions) > tonumber(max_sessions) do
  local all = redis.call('HGETALL', sessions)
  local oldest, since = nil, math.huge
  for i = 1, #all, 2 do
    local created = cjson.decode(all[i + 1]).created
    if created < since and all[i] ~= session then
      oldest, since = all[i], created
    end
  end
  redis.call('HDEL', sessions, oldest)
  ended[#ended + 1] = oldest
end
if address ~= '' then
  redis.call('ZADD', known_addresses, now, address)
  redis.call('ZREMRANGEBYSCORE', known_addresses, '-inf', now - address_ttl * 1000)
  redis.call('ZREMRANGEBYRANK', known_addresses, 0, -max_addresses - 1)
  redis.call('EXPIRE', known_addresses, address_ttl)
end
return ended
