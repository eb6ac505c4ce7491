-- Sets a counter to the size of the set it counts.
-- KEYS: record (hash with the counter), counted (set), uncounted? (set of entries that do not count).
-- ARGV: counter (field of the record).
-- Returns 1 when the counter was wrong, else 0.
local size = redis.call('ZCARD', counted) - (uncounted and redis.call('ZCARD', uncounted) or 0)
if redis.call('EXISTS', record) == 0 or tonumber(redis.call('HGET', record, counter) or '0') == size then
  return 0
end
redis.call('HSET', record, counter, size)
return 1
