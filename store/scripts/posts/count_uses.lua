-- Counts uses of tags in an hour.
-- KEYS: uses.
-- ARGV: tags_kept, ttl (s), counts... (tag, how often, tag, how often, ...).
-- The tags are trimmed only at twice the number kept: a new tag needs time to collect uses.
for i = 1, #counts, 2 do
  redis.call('ZINCRBY', uses, counts[i + 1], counts[i])
end
local size, kept = redis.call('ZCARD', uses), tonumber(tags_kept)
if size > 2 * kept then
  redis.call('ZREMRANGEBYRANK', uses, 0, size - kept - 1)
end
redis.call('EXPIRE', uses, ttl)
