-- Sets a counter to the size of the set it counts. KEYS hash, set, set of what does not count (optional); ARGV field
if redis.call('EXISTS', KEYS[1]) == 1 then
  local without = KEYS[3] and redis.call('ZCARD', KEYS[3]) or 0
  redis.call('HSET', KEYS[1], ARGV[1], redis.call('ZCARD', KEYS[2]) - without)
end
return 1
