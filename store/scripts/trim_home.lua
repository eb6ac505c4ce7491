-- Bounds a home. KEYS home, home state, sources; ARGV home size, home slack, oldest id kept
-- Returns how many entries went.
if redis.call('HEXISTS', KEYS[2], 'floor') == 0 then
  return 0
end
local before = redis.call('ZCARD', KEYS[1])
trim({home = KEYS[1], state = KEYS[2], sources = KEYS[3]}, tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return before - redis.call('ZCARD', KEYS[1])
