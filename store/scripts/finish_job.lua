-- Ends a job that is done everywhere. KEYS jobs, progress; ARGV job
redis.call('XACK', KEYS[1], 'workers', ARGV[1] .. '-0')
redis.call('XDEL', KEYS[1], ARGV[1] .. '-0')
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
