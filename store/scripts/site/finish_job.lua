-- Removes a job whose steps are all done.
-- KEYS: jobs, progress, dead_jobs.
-- ARGV: job.
-- Returns 1; 0 for a job that was marked as dead meanwhile, because its worker was slow. It stays for the operator.
if redis.call('ZSCORE', dead_jobs, job) then
  return 0
end
redis.call('XACK', jobs, 'workers', job .. '-0')
redis.call('XDEL', jobs, job .. '-0')
redis.call('HDEL', progress, job)
return 1
