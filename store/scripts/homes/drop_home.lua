-- Drops a home: the next read builds a new one. KEYS home, home state, sources, newest, active
-- ARGV member, latest day of the last read at which to drop the home, or '' for any
local day = redis.call('ZSCORE', KEYS[5], ARGV[1])
if ARGV[2] ~= '' and day and tonumber(day) > tonumber(ARGV[2]) then
  return 0
end
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
return redis.call('DEL', KEYS[2])
