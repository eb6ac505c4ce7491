-- Adds a session; the oldest ones make room.
-- KEYS user, sessions, credentials
-- ARGV session, record (JSON with created), most sessions, hash of the password that was proved or ''
-- Returns 1; 0 when there is no such member, or their password has changed since it was proved.
if redis.call('EXISTS', KEYS[1]) == 0 or ARGV[4] ~= '' and redis.call('HGET', KEYS[3], 'password') ~= ARGV[4] then
  return 0
end
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
end
return 1
