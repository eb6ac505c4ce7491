-- Sets a counter to the size of the set it counts. KEYS hash, set; ARGV field
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[1], redis.call('ZCARD', KEYS[2]))
end
return 1
