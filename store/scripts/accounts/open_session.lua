-- Adds a session and remembers the address that opened it. The oldest sessions and addresses make room.
-- KEYS: user, sessions, credentials, known_addresses.
-- ARGV: session, record (JSON), max_sessions, checked_hash (or ''), address (digest, or ''), now (ms), address_ttl (s),
--       max_addresses, code_salt, code_step, recovery_code.
-- `record` contains `created`. `checked_hash` is the stored hash with which the password was checked.
-- The last three arguments are those of `use_code`.
-- Returns the sessions that made room, GONE without the member, CHANGED, or CODE when the second factor is missing or may
-- not be used any more.
if redis.call('EXISTS', user) == 0 then
  return Refusal.GONE
end
if checked_hash ~= '' and redis.call('HGET', credentials, CredentialsField.PASSWORD) ~= checked_hash then
  return Refusal.CHANGED
end
if not use_code(credentials, code_salt, code_step, recovery_code) then
  return Refusal.CODE
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
