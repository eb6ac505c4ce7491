-- Adds a session; the oldest ones make room.
-- KEYS user, sessions; ARGV session, record (JSON with created), most sessions
-- Returns 1; 0 when there is no such member.
if redis.call('EXISTS', KEYS[1]) == 0 then
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
