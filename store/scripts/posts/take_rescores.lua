-- Leases posts whose scores are due.
-- KEYS: rescore.
-- ARGV: limit, lease_time (ms).
-- Returns post, lease, post, lease, ... A lease is the time (ms since 1970) when it expires. After a worker dies, its
-- posts can be leased again once the lease has expired.
local lease, taken = str(now_ms() + tonumber(lease_time)), {}
for _, post in ipairs(redis.call('ZRANGEBYSCORE', rescore, '-inf', str(now_ms()), 'LIMIT', 0, limit)) do
  redis.call('ZADD', rescore, lease, post)
  taken[#taken + 1] = post
  taken[#taken + 1] = lease
end
return taken
