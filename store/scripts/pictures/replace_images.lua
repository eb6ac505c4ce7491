-- Replaces the packed pictures of a post, message or profile, unless they have changed since they were read.
-- KEYS: holder.
-- ARGV: field, old, new ('' for none).
-- Returns 1 when they were replaced, else 0.
if redis.call('HGET', holder, field) ~= old then
  return 0
end
if new == '' then
  redis.call('HDEL', holder, field)
else
  redis.call('HSET', holder, field, new)
end
return 1
