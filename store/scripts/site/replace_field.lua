-- Replaces a field of a record, unless it has changed since it was read.
-- KEYS: record.
-- ARGV: field, old, new ('' for none, both).
-- Returns 1 when it was replaced, else 0.
if redis.call('EXISTS', record) == 0 or (redis.call('HGET', record, field) or '') ~= old then
  return 0
end
if new == '' then
  redis.call('HDEL', record, field)
else
  redis.call('HSET', record, field, new)
end
return 1
