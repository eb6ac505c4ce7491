-- Marks a job as dead. It stays in the stream, where a delete can still overtake it, but no worker receives it.
-- KEYS: jobs, dead_jobs.
-- ARGV: job.
-- Returns 1; 0 when the job is finished or dead already.
if redis.call('XACK', jobs, 'workers', job .. '-0') == 0 then
  return 0
end
return redis.call('ZADD', dead_jobs, str(now_ms()), job)
