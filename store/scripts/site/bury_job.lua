-- Marks a job as dead. It stays in the stream, where a delete can still overtake it, but no worker receives it.
-- KEYS jobs, dead jobs; ARGV job
if redis.call('XACK', KEYS[1], 'workers', ARGV[1] .. '-0') == 0 then
  return 0
end
local time = redis.call('TIME')
return redis.call('ZADD', KEYS[2], time[1] .. string.sub(string.format('%06d', time[2]), 1, 3), ARGV[1])
