-- Takes a turn that is due, or hands out a new one. Turns are spaced evenly, which limits the rate of all networks
-- together.
-- KEYS: turns.
-- ARGV: network, now (ms), least_wait (ms), interval (ms between two turns), lifetime (ms that a turn can be used),
--       max_turns.
-- Returns 0 when the network may try now, else the time to wait (ms).
redis.call('ZREMRANGEBYSCORE', turns, '-inf', now - lifetime)
local own = redis.call('ZSCORE', turns, network)
if own and tonumber(own) <= tonumber(now) then
  redis.call('ZREM', turns, network)
  return 0
end
if own then
  return own - now
end
local last = redis.call('ZRANGE', turns, -1, -1, 'WITHSCORES')[2] or 0
local turn = math.max(now + least_wait, last + interval)
if redis.call('ZCARD', turns) < tonumber(max_turns) then
  redis.call('ZADD', turns, turn, network)
  redis.call('PEXPIRE', turns, turn + lifetime - now)
end
return turn - now
