-- Removes a dead job for good. KEYS jobs, dead jobs, progress; ARGV job
-- Returns 1, 0 when the job is not dead.
if redis.call('ZREM', KEYS[2], ARGV[1]) == 0 then
  return 0
end
redis.call('XDEL', KEYS[1], ARGV[1] .. '-0')
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
