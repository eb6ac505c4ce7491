-- Leases posts whose scores are due. KEYS rescore; ARGV most, lease (ms)
-- Returns post, lease, ... After a worker dies, its posts can be leased again once the lease has expired.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local lease = str(now + tonumber(ARGV[2]))
local taken = {}
for _, post in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', str(now), 'LIMIT', 0, ARGV[1])) do
  redis.call('ZADD', KEYS[1], lease, post)
  taken[#taken + 1] = post
  taken[#taken + 1] = lease
end
return taken
