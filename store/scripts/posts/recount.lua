-- Sets a counter to the size of the set it counts. KEYS hash, set, set of entries not counted (optional); ARGV field
-- Returns 1 when the counter was wrong, else 0.
local size = redis.call('ZCARD', KEYS[2]) - (KEYS[3] and redis.call('ZCARD', KEYS[3]) or 0)
if redis.call('EXISTS', KEYS[1]) == 0 or tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') == size then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], size)
return 1
