-- Counts uses of tags in an hour. KEYS uses; ARGV tags kept, life (s), then tag, how often, ...
-- The tags are trimmed only at twice the number kept: a new tag needs time to collect uses.
for i = 3, #ARGV, 2 do
  redis.call('ZINCRBY', KEYS[1], ARGV[i + 1], ARGV[i])
end
local size, kept = redis.call('ZCARD', KEYS[1]), tonumber(ARGV[1])
if size > 2 * kept then
  redis.call('ZREMRANGEBYRANK', KEYS[1], 0, size - kept - 1)
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
