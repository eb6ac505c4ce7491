-- Removes a job whose steps are all done. KEYS jobs, progress, dead jobs; ARGV job
-- A job that was marked as dead meanwhile, because its worker was slow, stays for the operator.
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then
  return 0
end
redis.call('XACK', KEYS[1], 'workers', ARGV[1] .. '-0')
redis.call('XDEL', KEYS[1], ARGV[1] .. '-0')
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
