-- Takes a turn that is due, or hands out a new one. Turns are spaced evenly, which limits the rate of all networks
-- together.
-- KEYS turns
-- ARGV network, now (ms), least wait (ms), distance of two turns (ms), how long a turn can be used (ms), most turns
-- Returns 0 when the network may try now, else the time to wait (ms).
local now, lasts = tonumber(ARGV[2]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
local own = redis.call('ZSCORE', KEYS[1], ARGV[1])
if own and tonumber(own) <= now then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return 0
end
if own then
  return tonumber(own) - now
end
local last = tonumber(redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2] or 0)
local turn = math.max(now + tonumber(ARGV[3]), last + tonumber(ARGV[4]))
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[6]) then
  redis.call('ZADD', KEYS[1], turn, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], turn + lasts - now)
end
return turn - now
