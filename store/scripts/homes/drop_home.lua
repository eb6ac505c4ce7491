-- Lets go of a home: the next read builds it anew. KEYS home, home state, sources, newest, active
-- ARGV member, latest day of its last read for it to be let go of, or '' for any
local day = redis.call('ZSCORE', KEYS[5], ARGV[1])
if ARGV[2] ~= '' and day and tonumber(day) > tonumber(ARGV[2]) then
  return 0
end
redis.call('ZREM', KEYS[5], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[3], KEYS[4])
return redis.call('DEL', KEYS[2])
