-- Removes a dead job for good.
-- KEYS: jobs, dead_jobs, progress.
-- ARGV: job.
-- Returns 1, 0 when the job is not dead.
if redis.call('ZREM', dead_jobs, job) == 0 then
  return 0
end
redis.call('XDEL', jobs, job .. '-0')
redis.call('HDEL', progress, job)
return 1
