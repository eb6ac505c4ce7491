-- Drops a home: the next read builds a new one.
-- KEYS: home, home_state, sources, candidates, newest, active.
-- ARGV: member, last_read (latest day of the last read at which to drop the home, or '' for any).
local day = redis.call('ZSCORE', active, member)
if last_read ~= '' and day and tonumber(day) > tonumber(last_read) then
  return 0
end
redis.call('ZREM', active, member)
redis.call('DEL', home, sources, candidates, newest)
return redis.call('DEL', home_state)
