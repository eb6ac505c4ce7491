-- Ends a job that is done everywhere. KEYS jobs, progress, dead jobs; ARGV job
-- Whoever was so slow that it has been set aside meanwhile leaves it to the person who looks at it.
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return 0
end
redis.call('XACK', KEYS[1], 'workers', ARGV[1] .. '-0')
redis.call('XDEL', KEYS[1], ARGV[1] .. '-0')
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
